// log_softmax's oracle on data a person can check by hand.
#include "reference/ops/log_softmax.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "reference/cases/operator.hpp"
#include "reference/core/random.hpp"

using namespace plumb;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
ReferenceArray rows_of(const std::vector<T>& x, std::int64_t cols) {
  const auto rows = static_cast<std::int64_t>(x.size()) / cols;
  LogSoftmax::In<T, Space::host> in;
  in.x = {x.data(), rows, cols, cols};
  LogSoftmax::Out<T, Space::host> out;
  out.y = {nullptr, rows, cols, cols};
  Reference reference;
  LogSoftmax::validate<T>({}, in, out);
  LogSoftmax::oracle<T>({}, in, out, reference);
  return reference.outputs.at(0);
}

// The first element of log_softmax as correct kernels compute it: a plain sum, by so many threads.
template <class T>
T first_of_row(const std::vector<T>& x, std::size_t threads) {
  const T most = *std::max_element(x.begin(), x.end());
  std::vector<T> part(threads, T(0));
  for (std::size_t j = 0; j < x.size(); ++j) part[j % threads] += std::exp(x[j] - most);
  T sum = 0;
  for (const T p : part) sum += p;
  return x[0] - most - std::log(sum);
}

// Worst error of first_of_row relative to the bound, over rows of `values` different values.
template <class T>
double worst_of_few_values(std::size_t values, Dtype dtype) {
  Tolerance t;
  t.dtype = dtype;
  double worst = 0;
  for (const std::size_t n : {std::size_t{30}, std::size_t{511}, std::size_t{4099}, std::size_t{13983}}) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      std::vector<T> x(n);
      for (std::size_t j = 0; j < n; ++j) {
        const auto which = static_cast<std::uint64_t>(random_unit(seed, 1, j) * static_cast<double>(values));
        x[j] = static_cast<T>(-10 * random_unit(seed, 2, which));
      }
      const ReferenceArray y = rows_of<T>(x, static_cast<std::int64_t>(n));
      const double bound = LogSoftmax::bound(t, 0, y.value[0], y.magnitude[0], y.terms[0]);
      for (const std::size_t threads : {std::size_t{1}, std::size_t{8}, std::size_t{32}})
        worst =
            std::max(worst, std::fabs(static_cast<double>(first_of_row(x, threads)) - y.value[0]) / bound);
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("log_softmax of (0, log 2, log 5) is (-log 8, -log 4, -log 1.6)") {
  const ReferenceArray y = rows_of<double>({0, std::log(2.0), std::log(5.0)}, 3);
  CHECK(y.value[0] == doctest::Approx(-std::log(8.0)).epsilon(1e-15));
  CHECK(y.value[1] == doctest::Approx(-std::log(4.0)).epsilon(1e-15));
  CHECK(y.value[2] == doctest::Approx(-std::log(1.6)).epsilon(1e-15));
}

TEST_CASE("the exponentials of a row of log_softmax sum to 1") {
  const ReferenceArray y = rows_of<float>({1, -2, 3.5f, 0.25f, 3}, 5);
  double sum = 0;
  for (const double v : y.value) sum += std::exp(v);
  CHECK(sum == doctest::Approx(1).epsilon(1e-15));
}

TEST_CASE("equal entries give -log n whatever they are, within one ulp") {
  const ReferenceArray y = rows_of<double>({7, 7, 7, 7, -1e9, -1e9, -1e9, -1e9}, 4);
  for (const double v : y.value) CHECK(v == -std::log(4.0));
  Tolerance t;
  t.dtype = Dtype::f64;
  const double bound = LogSoftmax::bound(t, 0, y.value[0], y.magnitude[0], y.terms[0]);
  const double ulp = std::nextafter(std::log(4.0), 2.0) - std::log(4.0);
  CHECK(bound >= ulp);
  CHECK(bound < 2 * ulp);
}

TEST_CASE(
    "plain sums of rows of few values stay within the bound of log_softmax, though equal terms err alike") {
  for (const std::size_t values : {std::size_t{2}, std::size_t{5}, std::size_t{60}}) {
    CAPTURE(values);
    CHECK(worst_of_few_values<float>(values, Dtype::f32) < 1);
    CHECK(worst_of_few_values<double>(values, Dtype::f64) < 1);
  }
}

TEST_CASE("by_lse adds two roundings of max + log sum to the magnitude, native does not") {
  const ReferenceArray y = rows_of<double>({100, 100 + std::log(2.0), 100 + std::log(5.0)}, 3);
  CHECK(&y.magnitude_under(Arithmetic::native) == &y.magnitude);
  CHECK(y.magnitude_under(Arithmetic::winograd).empty());  // another operator's
  const LargeArray<double>& by_lse = y.magnitude_under(Arithmetic::by_lse);
  REQUIRE(by_lse.size() == 3);
  for (std::size_t j = 0; j < 3; ++j)
    CHECK(by_lse[j] - y.magnitude[j] == doctest::Approx(2 * (100 + std::log(8.0))).epsilon(1e-12));
}

TEST_CASE("a single entry gives exactly 0") {
  const ReferenceArray y = rows_of<float>({123.5f}, 1);
  CHECK(y.value[0] == 0);
  CHECK(LogSoftmax::bound({}, 0, 0, y.magnitude[0], y.terms[0]) == 0);
}

TEST_CASE("a shift by 1e4 changes neither the answer nor the bound") {
  const ReferenceArray low = rows_of<double>({1, 2, 4}, 3), high = rows_of<double>({10001, 10002, 10004}, 3);
  CHECK(low.value == high.value);
  CHECK(low.magnitude == high.magnitude);
}

TEST_CASE("-Inf beside finite entries is -Inf alone, and a row of -Inf is NaN") {
  const ReferenceArray y = rows_of<double>({-kInf, 3, 3, -kInf, -kInf, -kInf}, 3);
  CHECK(y.value[0] == -kInf);
  CHECK(y.value[1] == -std::log(2.0));
  for (int j = 3; j < 6; ++j) CHECK(std::isnan(y.value[static_cast<std::size_t>(j)]));
}

TEST_CASE("NaN or +Inf anywhere in a row makes all of that row NaN, and no other") {
  const ReferenceArray y = rows_of<double>({1, kNan, 0, 0, kInf, 2}, 2);
  for (const std::size_t j : {0u, 1u, 4u, 5u}) CHECK(std::isnan(y.value[j]));
  CHECK(y.value[2] == -std::log(2.0));
}

TEST_CASE(
    "the bound of two entries one apart is a dozen units, and grows with the distance from the maximum") {
  const ReferenceArray y = rows_of<float>({0, -1, 0, -50}, 2);
  const auto bound = [&](std::size_t k) {
    return LogSoftmax::bound({}, 0, y.value[k], y.magnitude[k], y.terms[k]) * 0x1p24;
  };
  // 2 |d| + 3 |y| + 4 log s + W + 8 + 1 with s = 1 + 1/e, W = 1 / (1 + e)
  CHECK(bound(0) == doctest::Approx(0 + 3 * 0.313262 + 4 * 0.313262 + 0.268941 + 9).epsilon(1e-5));
  CHECK(bound(3) == doctest::Approx(2 * 50 + 3 * 50 + 9).epsilon(1e-5));
}
