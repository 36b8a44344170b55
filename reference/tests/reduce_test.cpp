#include <doctest/doctest.h>

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "reference/core/error.hpp"
#include "reference/core/operator.hpp"
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
