#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "reference/arithmetic/fp.hpp"
#include "reference/cases/operator.hpp"
#include "reference/core/error.hpp"
#include "reference/ops/reduce.hpp"
#include "reference/tests/variants.hpp"

using namespace plumb;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

double reduce(const Variant<Reduce, double, Space::host>& v, Reduce::Kind kind,
              const std::vector<double>& x) {
  double result = kNan;
  testing::HostContext context;
  v.run({kind}, {{x.data(), static_cast<std::int64_t>(x.size())}}, {{&result, 1}}, context);
  return result;
}

bool does_max(const Variant<Reduce, double, Space::host>& v) {
  return v.supports == nullptr || v.supports({Reduce::Kind::max}, {}, {}) == nullptr;
}

}  // namespace

TEST_CASE("a sum of terms of one sign has the bound of positive data, whatever its fill") {
  const Tolerance real{Fill::real, Arithmetic::native, Dtype::f32},
      positive{Fill::positive, Arithmetic::native, Dtype::f32};
  CHECK(Reduce::bound(real, 0, -100, 100, 10'000) == Reduce::bound(positive, 0, -100, 100, 10'000));
  CHECK(Reduce::bound(real, 0, -1, 100, 10'000) < Reduce::bound(real, 0, -100, 100, 10'000));
}

TEST_CASE(
    "a sum in twice the precision has one rounding of its result, and second-order ones of terms that stay "
    "small") {
  const Tolerance doubled{Fill::real, Arithmetic::doubled, Dtype::f32};
  constexpr double u = kUnit<float>;
  const double bound = Reduce::bound(doubled, 0, 1, 20'000, 40'000);
  CHECK(bound > u);
  CHECK(bound < 3 * u);  // parts of thousands of terms that are rounded to float err by more
  const Tolerance positive{Fill::positive, Arithmetic::doubled, Dtype::f32};
  CHECK(Reduce::bound(positive, 0, 1, 20'000, 40'000) > 8 * 40'000 * u * u * 20'000);
}

namespace {

struct Made {
  double sum = 0, magnitude = 0;
  std::vector<double> x;
};
Made made(const std::string& id) {
  const Case c = parse_case(id);
  Made all;
  const auto take = [&](const auto& instance) {
    OracleDot<double> dot;
    for (std::int64_t i = 0; i < instance.in.x.size; ++i) {
      all.x.push_back(static_cast<double>(instance.in.x[i]));
      dot.add(all.x.back());
    }
    all.sum = dot.value(), all.magnitude = dot.magnitude();
  };
  if (c.dtype == Dtype::f32) {
    Instance<Reduce, float> instance;
    Reduce::make<float>(c, instance), take(instance);
  } else {
    Instance<Reduce, double> instance;
    Reduce::make<double>(c, instance), take(instance);
  }
  return all;
}

}  // namespace

TEST_CASE("terms of special=cancels cancel, in every fill and size, and no output of zeros would pass") {
  for (const char* const type : {"f32", "f64"}) {
    for (const Fill fill : {Fill::real, Fill::positive, Fill::scaled, Fill::few}) {
      for (const std::int64_t n : {3, 4, 32, 257, 1030, 4097, 5003, 8195, 9000, 12'007, 40'009, 300'007}) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
          const std::string id = fmt::format("reduce.{}(kind=sum,n={},special=cancels,fill={},seed={})", type,
                                             n, name(fill), seed);
          CAPTURE(id);
          const Made all = made(id);
          const Dtype dtype = parse_case(id).dtype;
          CHECK(std::fabs(all.sum) >
                Reduce::bound({fill, Arithmetic::native, dtype}, 0, all.sum, all.magnitude, n));
          const bool long_few = fill == Fill::few && dtype == Dtype::f32 &&
                                n > 9000;  // of no case: the bound of few grows with n
          if (n > 1000 && !long_few) CHECK(std::fabs(all.sum) < 0.05 * all.magnitude);
        }
      }
    }
  }
}

TEST_CASE("a sum of one infinity, or of infinities of one sign, has no other") {
  const auto count = [](const Made& all, double value) {
    return std::count(all.x.begin(), all.x.end(), value);
  };
  const Made plus = made("reduce.f32(kind=sum,n=5003,special=inf,fill=real,seed=1)");
  CHECK(count(plus, kInf) == 1);
  CHECK(count(plus, -kInf) == 0);
  const Made minus = made("reduce.f32(kind=sum,n=5003,special=minus_inf,fill=real,seed=1)");
  CHECK(count(minus, -kInf) == 1);
  CHECK(count(minus, kInf) == 0);
  CHECK(count(made("reduce.f64(kind=sum,n=33,special=all_minus_inf,fill=real,seed=1)"), -kInf) == 33);
}

TEST_CASE("every reduce variant sums 1 + 2 + ... + 100 to 5050, and nothing to 0") {
  std::vector<double> x;
  for (int i = 1; i <= 100; ++i) x.push_back(i);
  testing::for_each_variant<Reduce, double>([&](const auto& v) {
    CHECK(reduce(v, Reduce::Kind::sum, x) == 5050);
    CHECK(reduce(v, Reduce::Kind::sum, {}) == 0);
  });
}

TEST_CASE(
    "of [1, 1e20, 1, -1e20], Neumaier and double-double find 2; Kahan and a sum from left to right do not") {
  std::map<std::string, double> sums;
  testing::for_each_variant<Reduce, double>([&](const auto& v) {
    sums[v.name] = reduce(v, Reduce::Kind::sum, {1, 1e20, 1, -1e20});
  });
  CHECK(sums.at("04_neumaier") == 2);
  CHECK(sums.at("05_double_double") == 2);
  CHECK(sums.at("01_naive") == 0);
  CHECK(sums.at("03_kahan") == 0);
  // what vectors and libraries find depends on the processor: 2 where its vectors add 1 + 1 and 1e20 - 1e20
}

TEST_CASE("Kahan keeps ten tenths together where a plain sum does not") {
  const std::vector<double> tenths(10, 0.1);
  std::map<std::string, double> sums;
  testing::for_each_variant<Reduce, double>(
      [&](const auto& v) { sums[v.name] = reduce(v, Reduce::Kind::sum, tenths); });
  CHECK(sums.at("01_naive") == 1 - 0x1p-53);
  CHECK(sums.at("03_kahan") == 1);
  CHECK(sums.at("04_neumaier") == 1);
  CHECK(sums.at("05_double_double") == 1);
}

TEST_CASE("every reduce variant keeps one infinity, and makes NaN of two opposite ones") {
  testing::for_each_variant<Reduce, double>([](const auto& v) {
    CHECK(reduce(v, Reduce::Kind::sum, {1, kInf, 2, 3}) == kInf);
    CHECK(reduce(v, Reduce::Kind::sum, {1, -kInf, 2, 3}) == -kInf);
    const double both = reduce(v, Reduce::Kind::sum, {1, kInf, 2, -kInf, 3});
    CHECK(both != both);
    const double nan = reduce(v, Reduce::Kind::sum, {1, kNan, 2});
    CHECK(nan != nan);
  });
}

TEST_CASE(
    "every reduce variant that takes maxima finds them among negative numbers, and keeps NaN wherever it "
    "stands") {
  testing::for_each_variant<Reduce, double>([](const auto& v) {
    if (!does_max(v)) return;
    CHECK(reduce(v, Reduce::Kind::max, {-3, -1, -2}) == -1);
    CHECK(reduce(v, Reduce::Kind::max, {-kInf, -kInf}) == -kInf);
    CHECK(reduce(v, Reduce::Kind::max, {}) == -kInf);
    for (int at = 0; at < 40; ++at) {
      std::vector<double> x(40, 1.0);
      x[static_cast<std::size_t>(at)] = kNan;
      const double max = reduce(v, Reduce::Kind::max, x);
      CHECK(max != max);
    }
  });
}

TEST_CASE("the reduce oracle sums [1, 1e20, 1, -1e20] to 2 with its magnitude, and bounds a maximum by 0") {
  const double x[] = {1, 1e20, 1, -1e20};
  Reference sum, max;
  Reduce::oracle<double>({Reduce::Kind::sum}, {{x, 4}}, {}, sum);
  CHECK(sum.outputs.at(0).value[0] == 2);
  CHECK(sum.outputs.at(0).magnitude[0] == 2e20);
  CHECK(sum.outputs.at(0).terms[0] == 4);
  Reduce::oracle<double>({Reduce::Kind::max}, {{x, 4}}, {}, max);
  CHECK(max.outputs.at(0).value[0] == 1e20);
  CHECK(Reduce::bound({Fill::real, Arithmetic::native, Dtype::f64}, 0, 1e20, max.outputs[0].magnitude[0],
                      max.outputs[0].terms[0]) == 0);
}

TEST_CASE("reduce refuses a kind it does not know, with the nearest one it does") {
  Instance<Reduce, float> instance;
  const Case c = parse_case("reduce.f32(kind=sun,n=3,fill=real,seed=1)");
  CHECK_THROWS_WITH_AS(Reduce::make<float>(c, instance), doctest::Contains("did you mean 'sum'"), Error);
}
