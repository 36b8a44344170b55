#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "reference/arithmetic/cell.hpp"
#include "reference/core/dtype.hpp"
#include "reference/core/random.hpp"

using namespace plumb;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr Format kNarrow[] = {Format::f16, Format::bf16, Format::e4m3, Format::e5m2};

// Values of all sizes that the format has, and beyond them on either side.
double any_value(Format format, std::uint64_t i) {
  const FormatFacts& f = facts(format);
  const int reach = f.max_exponent - f.min_exponent + f.digits + 4;
  const int exponent = f.min_exponent - f.digits - 2 +
                       static_cast<int>(random_below(1, 2, i, static_cast<std::uint64_t>(reach)));
  return std::ldexp((2 * random_unit(1, 3, i) - 1), exponent);
}

}  // namespace

TEST_CASE(
    "what a number is rounded to is no distance from it, and its neighbours are half a step and the rest "
    "away") {
  for (const Format format : kNarrow) {
    CAPTURE(facts(format).name);
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      const double value = any_value(format, i), rounded = representable(format, value);
      CAPTURE(value);
      REQUIRE(distance_from_cell(format, rounded, value) == 0);
      if (!std::isfinite(rounded)) continue;
      // the next number on the side away from 0 begins half a step beyond this one
      const double step = std::copysign(spacing(format, rounded), value), next = rounded + step;
      if (std::fabs(next) > facts(format).largest) continue;
      REQUIRE(distance_from_cell(format, next, value) ==
              doctest::Approx(std::fabs(rounded + step / 2 - value)));
    }
  }
}

TEST_CASE("a cell's ends are of it, below a power of two it is half as wide") {
  // bf16 around 1: steps of 2^-7 above and 2^-8 below
  for (const double inside : {1 - 0x1p-9, 1.0, 1 + 0x1p-8})
    CHECK(distance_from_cell(Format::bf16, 1, inside) == 0);
  CHECK(distance_from_cell(Format::bf16, 1, 1 - 0x1p-9 - 0x1p-20) == 0x1p-20);
  CHECK(distance_from_cell(Format::bf16, 1, 1 + 0x1p-8 + 0x1p-20) == 0x1p-20);
  CHECK(distance_from_cell(Format::bf16, 1, -1) == 2 - 0x1p-9);
  // the smallest numbers, and 0
  CHECK(distance_from_cell(Format::f16, 0, 0x1p-25) == 0);
  CHECK(distance_from_cell(Format::f16, 0x1p-24, 0x1p-25) == 0);
  CHECK(distance_from_cell(Format::f16, 0, 0x1p-24) == 0x1p-25);
}

TEST_CASE("beyond the largest number there is infinity, or NaN where there is none") {
  CHECK(distance_from_cell(Format::f16, kInf, 65520) == 0);
  CHECK(distance_from_cell(Format::f16, 65504, 65520) == 0);
  CHECK(distance_from_cell(Format::f16, 65504, 1e9) == 1e9 - 65520);  // saturated
  CHECK(distance_from_cell(Format::f16, kInf, 65000) == 520);
  CHECK(distance_from_cell(Format::f16, -kInf, 1e9) == 1e9 + 65520);
  CHECK(distance_from_cell(Format::f16, NAN, 1e9) == kInf);
  CHECK(distance_from_cell(Format::e4m3, NAN, -1000) == 0);
  CHECK(distance_from_cell(Format::e4m3, NAN, 448) == 16);
  CHECK(distance_from_cell(Format::e4m3, 448, 464) == 0);
}

TEST_CASE("a factor is shown by an output that has room for it") {
  CHECK(is_shown_by(Format::f32, 1.2e-40));
  CHECK(is_shown_by(Format::bf16, 1.2345679e-30));
  CHECK_FALSE(is_shown_by(Format::f16, 1.2345679e-30));
  CHECK_FALSE(is_shown_by(Format::f16, -123456.79));
  CHECK(is_shown_by(Format::f16, 0));
}
