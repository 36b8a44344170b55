#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "reference/cases/operator.hpp"
#include "reference/core/error.hpp"
#include "reference/core/random.hpp"
#include "reference/ops/conv2d.hpp"
#include "reference/ops/sddmm.hpp"
#include "reference/tests/variants.hpp"

using namespace plumb;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

using Numbers = std::vector<double>;

// One image of c channels; stride and padding alike in both dimensions.
Conv2d::Problem<double> problem(int c, int h, int w, int k, int r, int s, int stride, int pad,
                                int dilation = 1) {
  return {1,
          c,
          h,
          w,
          k,
          r,
          s,
          static_cast<std::int32_t>(Conv2d::extent(h, r, stride, pad, dilation)),
          static_cast<std::int32_t>(Conv2d::extent(w, s, stride, pad, dilation)),
          stride,
          stride,
          pad,
          pad,
          dilation,
          dilation};
}

Conv2d::In<double, Space::host> operands(const Conv2d::Problem<double>& p, const Numbers& x,
                                         const Numbers& f) {
  const std::int64_t pixels = p.h * p.w, terms = p.c * p.r * p.s;
  return {{x.data(), p.n * p.c, pixels, pixels}, {f.data(), p.k, terms, terms}};
}

// Y, or nothing where the variant does not take the problem.
Numbers convolve(const Variant<Conv2d, double, Space::host>& v, const Conv2d::Problem<double>& p,
                 const Numbers& x, const Numbers& f) {
  testing::HostContext context;
  Numbers y(static_cast<std::size_t>(p.n * p.k * p.oh * p.ow), kNan);
  const Conv2d::Out<double, Space::host> out{{y.data(), p.n * p.k, p.oh * p.ow, p.oh * p.ow}};
  if (v.supports != nullptr && v.supports(p, operands(p, x, f), out) != nullptr) return {};
  v.run(p, operands(p, x, f), out, context);
  return y;
}

// CHECKs every variant that takes the problem.
void check_all(const Conv2d::Problem<double>& p, const Numbers& x, const Numbers& f, const Numbers& want) {
  testing::for_each_variant<Conv2d, double>([&](const auto& v) {
    const Numbers y = convolve(v, p, x, f);
    if (!y.empty()) CHECK(y == want);
  });
}

const Numbers kSquare = {1, 2, 3, 4, 5, 6, 7, 8, 9};  // 3 x 3

}  // namespace

TEST_CASE("conv2d names every number of its problem, each once") {  // other contracts do by their signature
  std::set<std::string> names;
  std::size_t covered = 0;
  Conv2d::Problem<double> p{};
  Conv2d::each_scalar(p, [&](const char* name, const auto& value) {
    CHECK(names.insert(name).second);
    covered += sizeof value;
  });
  CHECK(covered == sizeof p);
}

TEST_CASE("the windows that fit are counted: 7 wide in 224 padded by 3, every second, are 112") {
  CHECK(Conv2d::extent(224, 7, 2, 3, 1) == 112);
  CHECK(Conv2d::extent(5, 3, 1, 0, 2) == 1);
  CHECK(Conv2d::extent(4, 5, 1, 0, 1) == 0);
  CHECK(Conv2d::extent(0, 3, 1, 1, 1) == 0);
  CHECK(Conv2d::extent(0, 3, 1, 2, 1) == 2);
}

TEST_CASE("every conv2d variant correlates, and does not turn the filter: [1 2; 0 0] on 1..9") {
  // 1 1 + 2 2 = 5, 1 2 + 2 3 = 8, 1 4 + 2 5 = 14, 1 5 + 2 6 = 17
  check_all(problem(1, 3, 3, 1, 2, 2, 1, 0), kSquare, {1, 2, 0, 0}, {5, 8, 14, 17});
}

TEST_CASE("every conv2d variant takes what is outside of the image as zero") {
  // sums over the 3 x 3 neighbourhoods of 1..9
  check_all(problem(1, 3, 3, 1, 3, 3, 1, 1), kSquare, Numbers(9, 1.0), {12, 21, 16, 27, 45, 33, 24, 39, 28});
}

TEST_CASE("every conv2d variant steps by the stride, and spreads the filter by the dilation") {
  check_all(problem(1, 3, 3, 1, 1, 1, 2, 0), kSquare, {10}, {10, 30, 70, 90});
  check_all(problem(1, 3, 3, 1, 2, 2, 1, 0, 2), kSquare, {1, 10, 100, 1000}, {1 + 30 + 700 + 9000});
}

TEST_CASE("every conv2d variant adds channels, and gives each filter its own plane") {
  // two channels of 1 x 2: (1 2) and (3 4); filters (1 0), (0 1), (10 1)
  check_all(problem(2, 1, 2, 3, 1, 1, 1, 0), {1, 2, 3, 4}, {1, 0, 0, 1, 10, 1}, {1, 2, 3, 4, 13, 24});
}

TEST_CASE("every conv2d variant gives zeros where there is no channel") {
  check_all(problem(0, 2, 2, 1, 1, 1, 1, 0), {}, {}, {0, 0, 0, 0});
}

TEST_CASE(
    "an infinite weight over padding gives NaN, and no pixel's zero is skipped, by every variant that "
    "promises it") {
  testing::for_each_variant<Conv2d, double>([](const auto& v) {
    if (v.traits.finite_only) return;
    // 1 x 2 image (1 0), filter (Inf 1) padded by 1 on each side of a row
    const Conv2d::Problem<double> p{1, 1, 1, 2, 1, 1, 2, 1, 3, 1, 1, 0, 1, 1, 1};
    const Numbers y = convolve(v, p, {1, 0}, {kInf, 1});
    CHECK(y[0] != y[0]);  // Inf 0 + 1 1
    CHECK(y[1] == kInf);  // Inf 1 + 1 0
    CHECK(y[2] != y[2]);  // Inf 0 + 1 0
  });
}

TEST_CASE("the conv2d oracle gives value, magnitude and terms, padding counted") {
  const Conv2d::Problem<double> p = problem(1, 2, 2, 1, 2, 2, 1, 1);
  const Numbers x = {1, -2, 3, -4}, f = {1, 2, 3, 4};
  Reference reference;
  Conv2d::oracle<double>(p, operands(p, x, f), {{nullptr, 1, 9, 9}}, reference);
  const ReferenceArray& y = reference.outputs.at(0);
  CHECK(y.value[4] == 1 * 1 - 2 * 2 + 3 * 3 - 4 * 4);
  CHECK(y.magnitude[4] == 30);
  CHECK(y.value[0] == 4);  // the filter's last place on the first pixel
  CHECK(y.magnitude[0] == 4);
  CHECK(y.terms[0] == 4);
  CHECK(y.transformed.empty());  // 2 x 2: no minimal filtering
}

TEST_CASE(
    "the magnitude of Winograd's terms is (8/3)^2 of the sum's where all is alike, and its bound follows "
    "it") {
  const Conv2d::Problem<double> p = problem(1, 4, 4, 1, 3, 3, 1, 0);
  Reference reference;
  Conv2d::oracle<double>(p, operands(p, Numbers(16, 1.0), Numbers(9, -1.0)), {{nullptr, 1, 4, 4}}, reference);
  const ReferenceArray& y = reference.outputs.at(0);
  CHECK(y.value == Numbers(4, -9.0));
  CHECK(y.magnitude == Numbers(4, 9.0));
  CHECK(y.transformed == Numbers(4, 64.0));
  CHECK(&y.magnitude_under(Arithmetic::native) == &y.magnitude);
  CHECK(&y.magnitude_under(Arithmetic::winograd) == &y.transformed);
  CHECK(y.magnitude_under(Arithmetic::by_lse).empty());  // another operator's

  const auto bound = [](Fill fill, Arithmetic a, double m) {
    return Conv2d::bound({fill, a, Dtype::f32}, 0, 0, m, 9);
  };
  CHECK(bound(Fill::exact, Arithmetic::winograd, 64) == 0);
  CHECK(bound(Fill::exact, Arithmetic::winograd, 0x1p22) == 0);
  CHECK(bound(Fill::exact, Arithmetic::winograd, 0x1p22 + 1) > 0);  // quarters no longer fit 24 bits
  CHECK(bound(Fill::exact, Arithmetic::native, 0x1p22 + 1) == 0);
  CHECK(bound(Fill::real, Arithmetic::winograd, 64) > bound(Fill::real, Arithmetic::native, 9));
}

TEST_CASE("Winograd's magnitude counts a pixel under a zero weight, which its transforms must cancel") {
  // 3 x 5 image, one row of three outputs in two tiles; the filter takes its first place alone
  const Conv2d::Problem<double> p = problem(1, 3, 5, 1, 3, 3, 1, 0);
  Numbers x(15, 0.0), f(9, 0.0);
  x[6] = 1024, f[0] = 1;  // row 1, column 1: in the windows of outputs 0 and 1, in no product
  Reference reference;
  Conv2d::oracle<double>(p, operands(p, x, f), {{nullptr, 1, 3, 3}}, reference);
  const ReferenceArray& y = reference.outputs.at(0);
  CHECK(y.value == Numbers{0, 0, 0});
  CHECK(y.magnitude == Numbers{0, 0, 0});
  // four transformed weights of 1/4 meet it; the second tile does not see it
  CHECK(y.transformed == Numbers{1024, 1024, 0});
}

TEST_CASE("the bounds of sums whose terms differ in scale hold where one term is nearly all of the sum") {
  constexpr int kTerms = 3225, kSeeds = 40;
  double largest = 0;  // error in units of u M
  const double u = Tolerance{Fill::scaled, Arithmetic::native, Dtype::f32}.unit();
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    float sum = 1;
    double exact = 1, magnitude = 1;
    for (std::uint64_t k = 1; k < kTerms; ++k) {
      const auto term = static_cast<float>(std::ldexp(2 * random_unit(seed, 3, k) - 1, -20));
      sum += term, exact += term, magnitude += std::fabs(term);
    }
    const double error = std::fabs(sum - exact);
    largest = std::max(largest, error / (u * magnitude));
    const Tolerance scaled{Fill::scaled, Arithmetic::native, Dtype::f32};
    CHECK(error <= Conv2d::bound(scaled, 0, exact, magnitude, kTerms));
    CHECK(error <= Sddmm::bound(scaled, 0, exact, magnitude, kTerms));
  }
  CHECK(largest > 16);  // more than terms alike in scale are allowed
}

TEST_CASE("conv2d rejects what does not fit") {
  const Conv2d::Problem<double> right = problem(1, 3, 3, 1, 2, 2, 1, 0);
  const Numbers x(9, 1.0), f(4, 1.0);
  Numbers y(4, 0.0);
  const auto validate = [&](const Conv2d::Problem<double>& p) {
    Conv2d::validate<double>(p, operands(right, x, f), {{y.data(), 1, 4, 4}});
  };
  CHECK_NOTHROW(validate(right));
  Conv2d::Problem<double> p = right;
  p.oh = 3;
  CHECK_THROWS_AS(validate(p), Error);
  p = right, p.c = 2;
  CHECK_THROWS_AS(validate(p), Error);
  p = right, p.stride_w = 0;
  CHECK_THROWS_AS(validate(p), Error);
  p = right, p.pad_h = -1;
  CHECK_THROWS_AS(validate(p), Error);
  p = right, p.r = 0;
  CHECK_THROWS_AS(validate(p), Error);
  CHECK_THROWS_AS(
      Conv2d::validate<double>(right, {{x.data(), 1, 9, 8}, {f.data(), 1, 4, 4}}, {{y.data(), 1, 4, 4}}),
      Error);
}
