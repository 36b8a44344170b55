// Floating-point facts and error-free transformations: what bounds and oracles are made of.
// Header of templates, because oracles call these in their innermost loops. Must not be compiled with fast-math.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#ifdef __FAST_MATH__
#error "oracles must not be compiled with -ffast-math: it removes the error terms of compensated sums"
#endif

namespace plumb {

/// Unit roundoff: half the distance from 1 to the next number. 2^-24 for float, 2^-53 for double.
template <class T>
inline constexpr double kUnit = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;

/// Smallest positive subnormal: the absolute error one operation may add where it underflows.
template <class T>
inline constexpr double kEta = static_cast<double>(std::numeric_limits<T>::denorm_min());

/// a + b = sum + error exactly. Knuth; Ogita, Rump and Oishi (2005), algorithm 3.1.
template <class T>
struct Exact {
  T value, error;
};
template <class T>
[[nodiscard]] inline Exact<T> two_sum(T a, T b) {
  const T s = a + b;
  const T z = s - a;
  return {s, (a - (s - z)) + (b - z)};
}

/// a * b = product + error exactly, by FMA. Ogita, Rump and Oishi (2005), algorithm 3.5.
template <class T>
[[nodiscard]] inline Exact<T> two_product(T a, T b) {
  const T p = a * b;
  return {p, std::fma(a, b, -p)};
}

/// Kahan's compensated sum, as users expect it. Loses [1, 1e20, 1, -1e20]: it yields 0, the sum is 2.
template <class T>
class KahanSum {
 public:
  void add(T x) {
    const T y = x - compensation_;
    const T t = sum_ + y;
    compensation_ = (t - sum_) - y;
    sum_ = t;
  }
  [[nodiscard]] T value() const { return sum_; }

 private:
  T sum_ = 0, compensation_ = 0;
};

/// Neumaier's improvement: correct also where a term is larger than the running sum. Z. angew. Math. Mech. 54 (1974).
template <class T>
class NeumaierSum {
 public:
  void add(T x) {
    const auto [sum, error] = two_sum(sum_, x);
    sum_ = sum;
    if (std::isfinite(error)) compensation_ += error;  // an infinity stays one, and is not turned into NaN
  }
  [[nodiscard]] T value() const { return std::isfinite(sum_) ? sum_ + compensation_ : sum_; }

 private:
  T sum_ = 0, compensation_ = 0;
};

/// Dot product in twice the working precision, rounded once. Ogita, Rump and Oishi (2005), Dot2, algorithm 5.3.
/// |value() - exact| <= u |exact| + gamma(n)^2 sum |a b|. NaN and Inf come out as a plain sum would give them.
template <class T>
class Dot2 {
 public:
  void add_product(T a, T b) {
    const auto [product, product_error] = two_product(a, b);
    const auto [sum, sum_error] = two_sum(sum_, product);
    sum_ = sum;
    compensation_ += product_error + sum_error;
  }
  void add(T x) {
    const auto [sum, error] = two_sum(sum_, x);
    sum_ = sum;
    compensation_ += error;
  }
  [[nodiscard]] T value() const { return std::isfinite(sum_) ? sum_ + compensation_ : sum_; }

 private:
  T sum_ = 0, compensation_ = 0;
};

/// The oracle's accumulator for operands of type T: plain fp64 for fp32 (products are exact in 48 of 53 bits), Dot2 for fp64.
template <class T>
class OracleDot {
 public:
  void add_product(T a, T b) {
    const double p = static_cast<double>(a) * static_cast<double>(b);
    sum_ += p;
    magnitude_ += std::fabs(p);
    ++terms_;
  }
  void add(double x) { sum_ += x, magnitude_ += std::fabs(x), ++terms_; }
  [[nodiscard]] double value() const { return sum_; }
  [[nodiscard]] double magnitude() const { return magnitude_; }
  [[nodiscard]] std::int64_t terms() const { return terms_; }

 private:
  double sum_ = 0, magnitude_ = 0;
  std::int64_t terms_ = 0;
};
template <>
class OracleDot<double> {
 public:
  void add_product(double a, double b) { sum_.add_product(a, b), magnitude_ += std::fabs(a * b), ++terms_; }
  void add(double x) { sum_.add(x), magnitude_ += std::fabs(x), ++terms_; }
  [[nodiscard]] double value() const { return sum_.value(); }
  [[nodiscard]] double magnitude() const { return magnitude_; }
  [[nodiscard]] std::int64_t terms() const { return terms_; }

 private:
  Dot2<double> sum_;
  double magnitude_ = 0;
  std::int64_t terms_ = 0;
};

/// Distance in units in the last place of T between two finite numbers, saturating; 0 when equal, also for +0 and -0.
template <class T>
[[nodiscard]] inline double ulp_distance(T a, T b) {
  const double spacing =
      static_cast<double>(std::nextafter(std::fabs(b), std::numeric_limits<T>::infinity()) - std::fabs(b));
  return std::fabs(static_cast<double>(a) - static_cast<double>(b)) / (spacing > 0 ? spacing : kEta<T>);
}

/// True when this build's arithmetic keeps the promises above: Neumaier gives [1, 1e20, 1, -1e20] == 2, NaN compares as
/// NaN, subnormals survive. A harness that fails this must refuse to judge.
[[nodiscard]] bool arithmetic_self_test();

}  // namespace plumb
