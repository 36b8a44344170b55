#include <doctest/doctest.h>

#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "reference/cases/operator.hpp"
#include "reference/core/error.hpp"
#include "reference/core/openblas.hpp"
#include "reference/ops/gemm.hpp"
#include "reference/tests/variants.hpp"

using namespace plumb;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// A (2, 3) and B (3, 2), each inside rows of four elements
const std::vector<double> kA = {1, 2, 3, -99, 4, 5, 6, -99};
const std::vector<double> kB = {1, 0, -99, -99, 0, 1, -99, -99, 2, 2, -99, -99};

Gemm::In<double, Space::host> operands(const std::vector<double>& a, const std::vector<double>& b) {
  return {{a.data(), 2, 3, 4}, {b.data(), 3, 2, 4}};
}

std::vector<double> multiply(const Variant<Gemm, double, Space::host>& v, double alpha, double beta,
                             const std::vector<double>& a, const std::vector<double>& b,
                             std::vector<double> c) {
  testing::HostContext context;
  v.run({alpha, beta}, operands(a, b), {{c.data(), 2, 2, 3}}, context);
  return c;
}

}  // namespace

TEST_CASE("every gemm variant multiplies (2, 3) by (3, 2), and leaves the padding of C alone") {
  testing::for_each_variant<Gemm, double>([](const auto& v) {
    // [1 2 3; 4 5 6] [1 0; 0 1; 2 2] = [7 8; 16 17]
    CHECK(multiply(v, 1, 0, kA, kB, {kNan, kNan, -1, kNan, kNan, -1}) ==
          std::vector<double>{7, 8, -1, 16, 17, -1});
    CHECK(multiply(v, 2, -1, kA, kB, {1, 2, -1, 3, 4, -1}) == std::vector<double>{13, 14, -1, 29, 30, -1});
  });
}

TEST_CASE("every gemm variant with alpha == 0 reads neither A nor B") {
  const std::vector<double> nan(12, kNan);
  testing::for_each_variant<Gemm, double>([&](const auto& v) {
    CHECK(multiply(v, 0, 0, nan, nan, {kNan, kNan, -1, kNan, kNan, -1}) ==
          std::vector<double>{0, 0, -1, 0, 0, -1});
    CHECK(multiply(v, 0, 3, nan, nan, {1, 2, -1, 3, 4, -1}) == std::vector<double>{3, 6, -1, 9, 12, -1});
  });
}

TEST_CASE("every gemm variant turns 0 * Inf into NaN, and no zero is skipped") {
  std::vector<double> b = kB;
  b[0] = kInf;  // B[0, 0]; A[0, 0] == 0 below
  std::vector<double> a = kA;
  a[0] = 0;
  testing::for_each_variant<Gemm, double>([&](const auto& v) {
    const std::vector<double> c = multiply(v, 1, 0, a, b, std::vector<double>(6, 0.0));
    CHECK(c[0] != c[0]);
    CHECK(c[1] == 8);
    CHECK(c[3] == kInf);
  });
}

TEST_CASE("the gemm oracle gives value, magnitude and terms: [1 -2] [3; 4] with C = 10") {
  const float a[] = {1, -2}, b[] = {3, 4};
  float c[] = {10};
  Reference reference;
  Gemm::oracle<float>({2, 0.5f}, {{a, 1, 2, 2}, {b, 2, 1, 1}}, {{c, 1, 1, 1}}, reference);
  REQUIRE(reference.outputs.size() == 1);
  CHECK(reference.outputs[0].value[0] == -5.0);      // 2 (3 - 8) + 5
  CHECK(reference.outputs[0].magnitude[0] == 27.0);  // 2 (3 + 8) + 5
  CHECK(reference.outputs[0].terms[0] == 4);         // two products, alpha, beta
}

TEST_CASE("the gemm oracle keeps in fp64 what a plain sum loses: 1 + 2^60 + 1 - 2^60 = 2") {
  const double a[] = {1, 0x1p60, 1, -0x1p60}, b[] = {1, 1, 1, 1};
  Reference reference;
  Gemm::oracle<double>({1, 0}, {{a, 1, 4, 4}, {b, 4, 1, 1}}, {{nullptr, 1, 1, 1}}, reference);
  CHECK(reference.outputs[0].value[0] == 2.0);
}

TEST_CASE("gemm rejects shapes that do not fit") {
  const float x[9] = {};
  float y[9] = {};
  CHECK_NOTHROW(Gemm::validate<float>({1, 0}, {{x, 2, 3, 3}, {x, 3, 1, 1}}, {{y, 2, 1, 1}}));
  CHECK_THROWS_AS(Gemm::validate<float>({1, 0}, {{x, 2, 3, 3}, {x, 2, 1, 1}}, {{y, 2, 1, 1}}), Error);
  CHECK_THROWS_AS(Gemm::validate<float>({1, 0}, {{x, 2, 3, 3}, {x, 3, 1, 1}}, {{y, 1, 1, 1}}), Error);
  CHECK_THROWS_AS(Gemm::validate<float>({1, 0}, {{x, 2, 3, 2}, {x, 3, 1, 1}}, {{y, 2, 1, 1}}), Error);
}

TEST_CASE(
    "gemm's cost counts what must be moved: nothing of A and B where alpha is 0, nothing of C where it stays "
    "as it is") {
  const double a[6] = {}, b[6] = {};
  double c[4] = {};
  const auto cost = [&](double alpha, double beta) {
    return cost_of(Gemm::cost<double>({alpha, beta}, {{a, 2, 3, 3}, {b, 3, 2, 2}}, {{c, 2, 2, 2}}),
                   Dtype::f64);
  };
  CHECK(cost(1, 0).bytes == 8 * (6 + 6 + 4));
  CHECK(cost(1, 1).bytes == 8 * (6 + 6 + 8));
  CHECK(cost(0, 0).bytes == 8 * 4);
  CHECK(cost(0, 1).bytes == 0);
  CHECK(cost(0, 1).flop == 0);
}

extern "C" int openblas_num_threads_env();

TEST_CASE("OpenBLAS is told to start no threads, whatever the environment says") {
  setenv("OPENBLAS_NUM_THREADS", "7", 1);
  CHECK(openblas_num_threads_env() == 1);
  unsetenv("OPENBLAS_NUM_THREADS");
}

TEST_CASE("OpenBLAS has the kernels that were chosen for it before main()") {
  const char* const chosen = std::getenv("OPENBLAS_CORETYPE");
  if (chosen == nullptr || std::string(chosen) != "SkylakeX") return;  // no AVX-512, or the user's choice
  CHECK(std::string(openblas_get_corename()) == "SkylakeX");
}
