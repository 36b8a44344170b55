// log_softmax, host 04: an exponential of our own that vectorises.
//
// Change    exp as reduction by multiples of log 2 and a polynomial, without branches or table, so that the
//           compiler runs it in lanes; the library's scalar exp is not called. What is left of a row fills a vector too.
// Limits    about 15 arithmetic instructions per vector of entries.
// Fails at  rows much shorter than a vector.
// Source    Cody and Waite, Software Manual for the Elementary Functions (1980), chapter 6 (argument
//           reduction).
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "reference/cpu/simd.hpp"
#include "reference/ops/log_softmax.hpp"

namespace plumb {
namespace {

// kLog2High has so few bits that k * kLog2High is exact for every k that occurs. kMagic rounds to an integer
// when added, and leaves it in the low bits. Below kLeast the result is a subnormal or 0, which does not
// change a sum of at least 1.
template <class T>
struct Exp;
template <>
struct Exp<float> {
  using Bits = std::uint32_t;  // unsigned: below kLeast the exponent wraps, and its result is dropped
  static constexpr float kLog2High = 0x1.62e4p-1f, kLog2Low = 0x1.7f7d1cp-20f, kMagic = 0x1.8p23f,
                         kLeast = -87.0f;
  static constexpr int kMantissa = 23, kDegree = 7;  // |r|^8 / 8! < 2^-27 for |r| <= log(2) / 2
};
template <>
struct Exp<double> {
  using Bits = std::uint64_t;
  static constexpr double kLog2High = 0x1.62e42feep-1, kLog2Low = 0x1.a39ef35793c76p-33, kMagic = 0x1.8p52,
                          kLeast = -708.0;
  static constexpr int kMantissa = 52, kDegree = 13;  // |r|^14 / 14! < 2^-57
};

template <class T>
constexpr auto kInverseFactorial = [] {
  std::array<T, 14> c{};
  double factorial = 1;  // 13! < 2^53 is exact
  for (int n = 0; n < 14; ++n) {
    factorial *= n > 0 ? n : 1;
    c[static_cast<std::size_t>(n)] = static_cast<T>(1 / factorial);
  }
  return c;
}();

// exp(d) for d <= 0: within 2 ulp where it is normal, 0 below, 1 at 0, NaN at NaN.
template <class T>
inline T exponential(T d) {
  using E = Exp<T>;
  using Bits = typename E::Bits;
  constexpr Bits kOne = std::bit_cast<Bits>(T(1)), kMagicBits = std::bit_cast<Bits>(E::kMagic);
  const T shifted = d * T(0x1.71547652b82fep0) + E::kMagic;
  const T k = shifted - E::kMagic;
  const T r = (d - k * E::kLog2High) - k * E::kLog2Low;
  T p = kInverseFactorial<T>[E::kDegree];
  for (int n = E::kDegree - 1; n >= 0; --n) p = p * r + kInverseFactorial<T>[n];
  const Bits exponent = static_cast<Bits>(std::bit_cast<Bits>(shifted) - kMagicBits);
  const T scaled = p * std::bit_cast<T>(static_cast<Bits>(kOne + (exponent << E::kMantissa)));
  return d < E::kLeast ? T(0) : scaled;
}

// A row as whole vectors and the rest of it, which fills one more with -infinity: no lane works alone.
template <class T>
struct Row {
  static constexpr std::int64_t kRest = kLanes<T>;
  const T* x;
  std::int64_t whole, rest;
  alignas(kVectorBytes) T last[kRest];

  Row(const T* from, std::int64_t cols) : x(from), whole(cols / kRest * kRest), rest(cols - whole) {
    for (std::int64_t l = 0; l < kRest; ++l)
      last[l] = l < rest ? x[whole + l] : -std::numeric_limits<T>::infinity();
  }
  [[nodiscard]] T max() const {
    T max = -std::numeric_limits<T>::infinity();
#pragma omp simd reduction(max : max)
    for (std::int64_t j = 0; j < whole; ++j) max = x[j] > max ? x[j] : max;
#pragma omp simd reduction(max : max)
    for (std::int64_t l = 0; l < kRest; ++l) max = last[l] > max ? last[l] : max;
    return max;
  }
  [[nodiscard]] T sum_of_exponentials(T max) const {
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t j = 0; j < whole; ++j) sum += exponential(x[j] - max);
    if (rest == 0) return sum;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t l = 0; l < kRest; ++l) sum += exponential(last[l] - max);
    return sum;
  }
  void write(T* y, T max, T log_sum) {
#pragma omp simd
    for (std::int64_t j = 0; j < whole; ++j) y[j] = x[j] - max - log_sum;
#pragma omp simd
    for (std::int64_t l = 0; l < kRest; ++l) last[l] = last[l] - max - log_sum;
    for (std::int64_t l = 0; l < rest; ++l) y[whole + l] = last[l];
  }
};

template <class T>
void run(const LogSoftmax::Problem<T>&, const LogSoftmax::In<T, Space::host>& in,
         const LogSoftmax::Out<T, Space::host>& out, Context&) {
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    Row<T> row(in.x.data + i * in.x.ld, in.x.cols);
    const T max = row.max(), log_sum = std::log(row.sum_of_exponentials(max));
    row.write(out.y.data + i * out.y.ld, max, log_sum);
  }
}

PLUMB_REGISTER(LogSoftmax, "04_simd", run, float, double);

}  // namespace
}  // namespace plumb
