#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "reference/cases/operator.hpp"
#include "reference/core/error.hpp"
#include "reference/ops/transpose.hpp"
#include "reference/tests/variants.hpp"

using namespace plumb;

TEST_CASE("every transpose variant turns [1 2 3; 4 5 6], and leaves the padding of B alone") {
  const std::vector<float> a = {1, 2, 3, -9, 4, 5, 6, -9};
  testing::for_each_variant<Transpose, float>([&](const auto& v) {
    std::vector<float> b = {0, 0, -1, 0, 0, -1, 0, 0, -1};
    testing::HostContext context;
    v.run({}, {{a.data(), 2, 3, 4}}, {{b.data(), 3, 2, 3}}, context);
    CHECK(b == std::vector<float>{1, 4, -1, 2, 5, -1, 3, 6, -1});
  });
}

TEST_CASE("every transpose variant carries NaN, infinities, subnormals and the sign of zero") {
  using Limits = std::numeric_limits<float>;
  const std::vector<float> a = {Limits::quiet_NaN(), -Limits::infinity(), Limits::denorm_min(), -0.0f};
  testing::for_each_variant<Transpose, float>([&](const auto& v) {
    std::vector<float> b(4, 7);
    testing::HostContext context;
    v.run({}, {{a.data(), 2, 2, 2}}, {{b.data(), 2, 2, 2}}, context);
    CHECK(b[0] != b[0]);
    CHECK(b[2] == -Limits::infinity());
    CHECK(b[1] == Limits::denorm_min());
    CHECK(std::signbit(b[3]));
  });
}

TEST_CASE("transpose rejects shapes that do not fit") {
  const float a[6] = {};
  float b[6] = {};
  CHECK_NOTHROW(Transpose::validate<float>({}, {{a, 2, 3, 3}}, {{b, 3, 2, 2}}));
  CHECK_THROWS_AS(Transpose::validate<float>({}, {{a, 2, 3, 3}}, {{b, 2, 3, 3}}), Error);
  CHECK_THROWS_AS(Transpose::validate<float>({}, {{a, 2, 3, 2}}, {{b, 3, 2, 2}}), Error);
}
