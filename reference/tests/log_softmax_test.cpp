// log_softmax's oracle on data a person can check by hand.
#include "reference/ops/log_softmax.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "reference/arithmetic/bounded.hpp"
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
  LogSoftmax::validate<T>(LogSoftmax::Problem<T>{}, in, out);
  LogSoftmax::oracle<T>(LogSoftmax::Problem<T>{}, in, out, reference);
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

TEST_CASE("equal entries give -log n whatever they are, within two ulp") {
  const ReferenceArray y = rows_of<double>({7, 7, 7, 7, -1e9, -1e9, -1e9, -1e9}, 4);
  for (const double v : y.value) CHECK(v == -std::log(4.0));
  Tolerance t;
  t.dtype = Dtype::f64;
  const double bound = LogSoftmax::bound(t, 0, y.value[0], y.magnitude[0], y.terms[0]);
  const double ulp = std::nextafter(std::log(4.0), 2.0) - std::log(4.0);
  CHECK(bound >= ulp);
  CHECK(bound < 5 * ulp);  // of which two are for the reference, which is rounded too
}

TEST_CASE(
    "plain sums of rows of few values stay within the bound of log_softmax, though equal terms err alike") {
  for (const std::size_t values : {std::size_t{2}, std::size_t{5}, std::size_t{60}}) {
    CAPTURE(values);
    CHECK(worst_of_few_values<float>(values, Dtype::f32) < 1);
    CHECK(worst_of_few_values<double>(values, Dtype::f64) < 1);
  }
}

TEST_CASE("by_lse has two roundings of max + log sum, native has none") {
  const ReferenceArray y = rows_of<double>({100, 100 + std::log(2.0), 100 + std::log(5.0)}, 3);
  CHECK(&y.magnitude_under(Arithmetic::native) == &y.magnitude);
  CHECK(y.magnitude_under(Arithmetic::winograd).empty());  // another operator's
  const LargeArray<double>& by_lse = y.magnitude_under(Arithmetic::by_lse);
  REQUIRE(by_lse.size() == 3);
  for (std::size_t j = 0; j < 3; ++j) CHECK(by_lse[j] - y.magnitude[j] > 2 * 100);
  for (std::size_t j = 0; j < 3; ++j) CHECK(by_lse[j] - y.magnitude[j] < 2 * (100 + std::log(8.0)) + 2);
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

// The bound as it is derived by hand, in units of rounding: d is rounded twice, its error moves exp(d) by its size, exponentials err by 2 ulp
// twice and the logarithm by 2 ulp once, the last subtraction thrice, and additions walk and drift.
double by_hand(const std::vector<float>& x, std::size_t j) {
  const double most = *std::max_element(x.begin(), x.end()), additions = static_cast<double>(x.size()) - 1;
  double sum = 0, weight = 0;
  for (const double e : x) sum += std::exp(e - most), weight += std::exp(e - most) * (most - e);
  const double place = 0x1p-23 * std::exp2(std::floor(std::log2(sum)));
  const double drift =
      drift_of_sum(static_cast<std::int64_t>(x.size()), place, 0x1p-24 * sum,
                   [&](std::int64_t k) { return std::exp(x[static_cast<std::size_t>(k)] - most); });
  const double d = most - x[j], log = std::log(sum);
  return 2 * d + 3 * (d + log) + 4 * log + weight / sum + 8 +
         std::min(additions, 4 * std::sqrt(additions) + drift);
}

TEST_CASE("the bound of log_softmax by formula is looser than the one by hand by no more than 4 %") {
  double worst = 0;
  for (const std::size_t n : {2, 5, 10, 17, 41, 300, 1000, 5000}) {
    for (const float scale : {0.1f, 1.0f, 5.0f, 30.0f}) {
      std::vector<float> x(n);
      for (std::size_t j = 0; j < n; ++j)
        x[j] = scale * static_cast<float>(2 * random_unit(n, 1, j) - 1 + random_unit(n, 2, j));
      const ReferenceArray y = rows_of<float>(x, static_cast<std::int64_t>(n));
      for (std::size_t j = 0; j < n; j += 1 + n / 50)
        worst = std::max(
            worst, LogSoftmax::bound({}, 0, y.value[j], y.magnitude[j], y.terms[j]) * 0x1p24 / by_hand(x, j));
    }
  }
  CAPTURE(worst);
  CHECK(worst < 1.04);
}
