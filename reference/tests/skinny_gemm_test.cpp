#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "reference/cases/operator.hpp"
#include "reference/core/error.hpp"
#include "reference/ops/skinny_gemm.hpp"
#include "reference/tests/variants.hpp"

using namespace plumb;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("every skinny_gemm variant multiplies (4, 2) by (2, 3), and leaves the padding of Y alone") {
  const std::vector<float> x = {1, 2, -9, 3, 4, -9, 5, 6, -9, 0, 0, -9};
  const std::vector<float> w = {1, 0, 2, 0, 1, 3};
  testing::for_each_variant<SkinnyGemm, float>([&](const auto& v) {
    std::vector<float> y(16, kNan);
    y[3] = y[7] = y[11] = y[15] = -1;
    testing::HostContext context;
    v.run({}, {{x.data(), 4, 2, 3}, {w.data(), 2, 3, 3}}, {{y.data(), 4, 3, 4}}, context);
    CHECK(y == std::vector<float>{1, 2, 8, -1, 3, 4, 18, -1, 5, 6, 28, -1, 0, 0, 0, -1});
  });
}

TEST_CASE("every skinny_gemm variant gives zeros where there is nothing to sum") {
  testing::for_each_variant<SkinnyGemm, float>([&](const auto& v) {
    std::vector<float> y(4, kNan);
    testing::HostContext context;
    v.run({}, {{nullptr, 2, 0, 0}, {nullptr, 0, 2, 2}}, {{y.data(), 2, 2, 2}}, context);
    CHECK(y == std::vector<float>{0, 0, 0, 0});
  });
}

TEST_CASE("the skinny_gemm oracle gives value, magnitude and terms: [1 -2 3] [4; 5; 6]") {
  const double x[] = {1, -2, 3}, w[] = {4, 5, 6};
  Reference reference;
  SkinnyGemm::oracle<double>({}, {{x, 1, 3, 3}, {w, 3, 1, 1}}, {{nullptr, 1, 1, 1}}, reference);
  REQUIRE(reference.outputs.size() == 1);
  CHECK(reference.outputs[0].value[0] == 12.0);
  CHECK(reference.outputs[0].magnitude[0] == 32.0);
  CHECK(reference.outputs[0].terms[0] == 3);
}

TEST_CASE("skinny_gemm rejects shapes that do not fit") {
  const float x[9] = {};
  float y[9] = {};
  CHECK_NOTHROW(SkinnyGemm::validate<float>({}, {{x, 2, 3, 3}, {x, 3, 1, 1}}, {{y, 2, 1, 1}}));
  CHECK_THROWS_AS(SkinnyGemm::validate<float>({}, {{x, 2, 3, 3}, {x, 2, 1, 1}}, {{y, 2, 1, 1}}), Error);
  CHECK_THROWS_AS(SkinnyGemm::validate<float>({}, {{x, 2, 3, 3}, {x, 3, 1, 1}}, {{y, 3, 1, 1}}), Error);
}
