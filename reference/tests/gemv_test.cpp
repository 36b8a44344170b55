#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "reference/cases/operator.hpp"
#include "reference/core/error.hpp"
#include "reference/ops/gemv.hpp"
#include "reference/tests/variants.hpp"

using namespace plumb;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A = [1 2 3; 4 5 6], rows of four elements
const std::vector<double> kA = {1, 2, 3, -99, 4, 5, 6, -99};

std::vector<double> multiply(const Variant<Gemv, double, Space::host>& v, double alpha, double beta,
                             const std::vector<double>& a, const std::vector<double>& x,
                             std::vector<double> y) {
  testing::HostContext context;
  v.run({alpha, beta}, {{a.data(), 2, 3, 4}, {x.data(), 3}}, {{y.data(), 2}}, context);
  return y;
}

}  // namespace

TEST_CASE("every gemv variant gives [1 2 3; 4 5 6] [1; 0; -1] = [-2; -2], scaled and added as asked") {
  testing::for_each_variant<Gemv, double>([](const auto& v) {
    CHECK(multiply(v, 1, 0, kA, {1, 0, -1}, {kNan, kNan}) == std::vector<double>{-2, -2});
    CHECK(multiply(v, 2, -1, kA, {1, 0, -1}, {10, 20}) == std::vector<double>{-14, -24});
  });
}

TEST_CASE("every gemv variant with alpha == 0 reads neither A nor x") {
  testing::for_each_variant<Gemv, double>([](const auto& v) {
    CHECK(multiply(v, 0, 0, std::vector<double>(8, kNan), {kNan, kNan, kNan}, {kNan, kNan}) ==
          std::vector<double>{0, 0});
    CHECK(multiply(v, 0, 3, std::vector<double>(8, kNan), {kNan, kNan, kNan}, {1, 2}) ==
          std::vector<double>{3, 6});
  });
}

TEST_CASE("the gemv oracle gives value, magnitude and terms: 2 [1 -2] [3; 4] + 10") {
  const float a[] = {1, -2}, x[] = {3, 4};
  float y[] = {10};
  Reference reference;
  Gemv::oracle<float>({2, 1}, {{a, 1, 2, 2}, {x, 2}}, {{y, 1}}, reference);
  CHECK(reference.outputs.at(0).value[0] == 0.0);
  CHECK(reference.outputs.at(0).magnitude[0] == 32.0);
  CHECK(reference.outputs.at(0).terms[0] == 4);  // two products, alpha, beta
}

TEST_CASE("gemv rejects shapes that do not fit") {
  const float a[6] = {};
  float y[3] = {};
  CHECK_NOTHROW(Gemv::validate<float>({1, 0}, {{a, 2, 3, 3}, {a, 3}}, {{y, 2}}));
  CHECK_THROWS_AS(Gemv::validate<float>({1, 0}, {{a, 2, 3, 3}, {a, 2}}, {{y, 2}}), Error);
  CHECK_THROWS_AS(Gemv::validate<float>({1, 0}, {{a, 2, 3, 3}, {a, 3}}, {{y, 3}}), Error);
  CHECK_THROWS_AS(Gemv::validate<float>({1, 0}, {{a, 2, 3, 2}, {a, 3}}, {{y, 2}}), Error);
}

TEST_CASE(
    "gemv's cost counts what must be moved: nothing of A where alpha is 0, nothing of y where it stays as it "
    "is") {
  const double a[6] = {}, x[3] = {};
  double y[2] = {};
  const auto bytes = [&](double alpha, double beta) {
    return cost_of(Gemv::cost<double>({alpha, beta}, {{a, 2, 3, 3}, {x, 3}}, {{y, 2}}), Dtype::f64).bytes;
  };
  CHECK(bytes(1, 0) == 8 * (6 + 3 + 2));
  CHECK(bytes(1, 1) == 8 * (6 + 3 + 4));
  CHECK(bytes(0, 0) == 8 * 2);
  CHECK(bytes(0, 2) == 8 * 4);
  CHECK(bytes(0, 1) == 0);
}
