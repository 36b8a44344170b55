// bias_relu's oracle on data a person can check by hand.
#include "reference/ops/bias_relu.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "reference/cases/operator.hpp"
#include "reference/core/error.hpp"
#include "reference/core/matrix.hpp"

using namespace plumb;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Reference layer(const std::vector<float>& x, std::int64_t cols, const std::vector<float>& b, float bias,
                float cap) {
  const auto rows = static_cast<std::int64_t>(x.size()) / cols;
  BiasRelu::In<float, Space::host> in;
  in.x = {x.data(), rows, cols, cols};
  in.b = {b.data(), static_cast<std::int64_t>(b.size())};
  BiasRelu::Out<float, Space::host> out;
  out.y = {nullptr, rows, cols, cols};
  const BiasRelu::Problem<float> p{bias, cap};
  Reference reference;
  BiasRelu::validate<float>(p, in, out);
  BiasRelu::oracle<float>(p, in, out, reference);
  return reference;
}

}  // namespace

TEST_CASE("a bias per column is added before the rectifier, and the cap comes last") {
  const Reference r = layer({-3, 1, 40, 2, -1, 30}, 3, {1, -2, 4}, 99, 32);
  CHECK(r.outputs.at(0).value == std::vector<double>{0, 0, 32, 3, 0, 32});
  CHECK(r.outputs.at(0).magnitude == std::vector<double>{0, 0, 0, 3, 0, 0});
}
TEST_CASE("far beyond the cap, or below 0, the answer is exact; near them it has the sum's rounding") {
  const Reference r = layer({0x1p100f, -0x1p100f, kInf, 4.99f, 5.01f, -0.01f}, 6, {}, 0, 5);
  CHECK(r.outputs.at(0).value[0] == 5);
  CHECK(r.outputs.at(0).magnitude == std::vector<double>{0, 0, 0, 4.99f, 5.01f, 0});
}

TEST_CASE("without a bias vector the scalar is added to every element") {
  CHECK(layer({1, 0, -1, 5}, 2, {}, 0.5f, 4).outputs[0].value == std::vector<double>{1.5, 0.5, 0, 4});
}

TEST_CASE("NaN stays NaN under every cap, and infinities meet their bounds") {
  const Reference r = layer({kNan, kInf, -kInf, -kInf}, 4, {1, 1, 1, kInf}, 0, 0);
  CHECK(std::isnan(r.outputs[0].value[0]));
  CHECK(r.outputs[0].value[1] == 0);
  CHECK(r.outputs[0].value[2] == 0);
  CHECK(std::isnan(r.outputs[0].value[3]));
  CHECK(layer({kInf}, 1, {}, 1, kInf).outputs[0].value[0] == kInf);
}

TEST_CASE("a sum that overflows fp32 is an infinity in the reference too") {
  CHECK(layer({3e38f}, 1, {}, 3e38f, kInf).outputs[0].value[0] == kInf);
}

TEST_CASE("a negative cap, a NaN cap and a bias of the wrong length are refused") {
  CHECK_THROWS_AS((void)layer({1}, 1, {}, 0, -1), Error);
  CHECK_THROWS_AS((void)layer({1}, 1, {}, 0, kNan), Error);
  CHECK_THROWS_AS((void)layer({1, 2, 3}, 3, {1, 2}, 0, 1), Error);
}

TEST_CASE("bias_relu is compared bit for bit on exact fills, and within one rounding on real ones") {
  Tolerance t;
  t.fill = Fill::exact;
  CHECK(BiasRelu::bound(t, 0, 3, 5, 2) == 0);
  t.fill = Fill::real;
  CHECK(BiasRelu::bound(t, 0, 3, 5, 2) == 5 * 0x1p-24);
}
