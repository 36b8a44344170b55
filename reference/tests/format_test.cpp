// The table of formats against what the standards and the host's own types say, and the conversions against the definition of rounding.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "reference/core/abi.hpp"
#include "reference/core/dtype.hpp"
#include "reference/core/format.hpp"
#include "reference/core/random.hpp"
#include "reference/core/small_floats.hpp"
#include "reference/core/values.hpp"

using namespace plumb;

namespace {

constexpr Format kSmall[] = {Format::f16, Format::bf16, Format::e4m3, Format::e5m2};

// Every finite number of a format of 8 or 16 bits, ascending; -0 is left out.
std::vector<double> numbers_of(Format format) {
  std::vector<double> all;
  for (std::uint32_t code = 0; code < 1u << (8 * facts(format).bytes); ++code) {
    const double value = decode(format, &code);
    if (std::isfinite(value) && !(value == 0 && std::signbit(value))) all.push_back(value);
  }
  std::sort(all.begin(), all.end());
  return all;
}

// The code of a finite number, without its sign: numbers ascend with it.
std::uint32_t magnitude_of(Format format, double value) {
  std::uint32_t code = 0;
  encode(format, std::fabs(value), &code);
  return code;
}

// By the definition: the nearer of two neighbours, of equally near ones the one with an even code.
double nearest_even(Format format, const std::vector<double>& numbers, double value) {
  const auto above = std::lower_bound(numbers.begin(), numbers.end(), value);
  if (above == numbers.end()) return numbers.back();
  if (above == numbers.begin() || *above == value) return *above;
  const double high = *above, low = *(above - 1), to_high = high - value, to_low = value - low;
  if (to_high != to_low) return to_high < to_low ? high : low;
  return magnitude_of(format, high) % 2 == 0 ? high : low;
}

}  // namespace

TEST_CASE("the rows of f32 and f64 are what the host's types are") {
  const auto matches = [](auto zero) {
    using T = decltype(zero);
    using Limits = std::numeric_limits<T>;
    const FormatFacts& f = facts(kFormat<T>);
    CAPTURE(f.name);
    CHECK(f.bytes == static_cast<int>(sizeof(T)));
    CHECK(f.digits == Limits::digits);
    CHECK(f.min_exponent == Limits::min_exponent - 1);
    CHECK(f.max_exponent == Limits::max_exponent - 1);
    CHECK(f.unit == static_cast<double>(Limits::epsilon()) / 2);
    CHECK(f.eta == static_cast<double>(Limits::denorm_min()));
    CHECK(f.largest == static_cast<double>(Limits::max()));
    CHECK(f.smallest_normal == static_cast<double>(Limits::min()));
  };
  matches(0.0F);
  matches(0.0);
  CHECK(kFormat<const float> == Format::f32);
  CHECK(kFormat<std::int32_t> == Format::i32);
}

TEST_CASE("the rows of the small formats are what their codes decode to") {
  for (const Format format : kSmall) {
    const FormatFacts& f = facts(format);
    CAPTURE(f.name);
    const std::vector<double> numbers = numbers_of(format);
    CHECK(numbers.back() == f.largest);
    CHECK(numbers.front() == -f.largest);
    CHECK(*std::upper_bound(numbers.begin(), numbers.end(), 0.0) == f.eta);
    CHECK(*std::upper_bound(numbers.begin(), numbers.end(), 1.0) == 1 + 2 * f.unit);
    CHECK(f.smallest_normal == std::ldexp(1.0, f.min_exponent));
    CHECK(f.unit == std::ldexp(1.0, -f.digits));
    CHECK(f.eta == std::ldexp(1.0, f.min_exponent - f.digits + 1));
    CHECK(f.largest < std::ldexp(1.0, f.max_exponent + 1));
    CHECK(f.largest >= std::ldexp(1.0, f.max_exponent));
    const double top = representable(format, 2 * f.largest);
    CHECK((f.infinity ? std::isinf(top) : std::isnan(top)));
    CHECK(std::isnan(representable(format, std::nan(""))));
  }
}

TEST_CASE("encoding rounds once, to nearest even") {
  for (const Format format : kSmall) {
    CAPTURE(facts(format).name);
    const std::vector<double> numbers = numbers_of(format);
    int wrong = 0;
    for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
      const double low = numbers[i], high = numbers[i + 1], middle = low / 2 + high / 2;
      for (const double value : {low, std::nextafter(middle, low), middle, std::nextafter(middle, high)})
        wrong += representable(format, value) == nearest_even(format, numbers, value) ? 0 : 1;
    }
    CHECK(wrong == 0);
    const double largest = facts(format).largest, step = spacing(format, largest);
    CHECK(representable(format, largest + 0.499 * step) == largest);
    CHECK_FALSE(std::isfinite(representable(format, largest + 0.501 * step)));
    CHECK(std::signbit(representable(format, -facts(format).eta / 4)));
  }
  CHECK(representable(Format::e4m3, 464) == 448);  // between 448 and what NaN has the code of: to even
  CHECK(representable(Format::f16, 65519) == 65504);
  CHECK(std::isinf(representable(Format::f16, 65520)));
}

TEST_CASE("tf32 is fp32 with eleven bits that count") {
  CHECK(representable(Format::tf32, 1 + 0x1p-10) == 1 + 0x1p-10);
  CHECK(representable(Format::tf32, 1 + 0x1p-11) == 1);
  CHECK(representable(Format::tf32, 1 + 3 * 0x1p-11) == 1 + 0x1p-9);
  CHECK(representable(Format::tf32, 0x1p-136) == 0x1p-136);
  CHECK(representable(Format::tf32, 0x1.8p-137) == 0x1p-136);
  CHECK(representable(Format::tf32, facts(Format::tf32).largest) == facts(Format::tf32).largest);
  CHECK(std::isinf(representable(Format::tf32, facts(Format::f32).largest)));
}

TEST_CASE("data that are quantised are exact as stored, and quantised once") {
  for (const FormatFacts& f : kFormats) {
    if (!is_floating(f.format)) continue;
    CAPTURE(f.name);
    const auto check = [&](auto zero) {
      using V = decltype(zero);
      std::vector<V> data;
      for (std::uint64_t i = 0; i < 70'000; ++i)
        data.push_back(
            static_cast<V>(std::ldexp(2 * random_unit(1, 2, i) - 1, static_cast<int>(i % 12) - 8)));
      const std::vector<V> before = data;
      quantise(f.format, data.data(), static_cast<std::int64_t>(data.size()));
      int inexact = 0, far = 0;
      for (std::size_t i = 0; i < data.size(); ++i) {
        const auto value = static_cast<double>(data[i]), was = static_cast<double>(before[i]);
        inexact += representable(f.format, value) == value ? 0 : 1;
        far += std::fabs(value - was) <= std::max(f.unit * std::fabs(was), f.eta / 2) ? 0 : 1;
      }
      CHECK(inexact == 0);
      CHECK(far == 0);
      const bool narrower = f.digits < facts(kFormat<V>).digits;
      CHECK((data != before) == narrower);
      const std::vector<V> once = data;
      quantise(f.format, data.data(), static_cast<std::int64_t>(data.size()));
      CHECK(data == once);
    };
    if (f.format != Format::f64) check(0.0F);
    check(0.0);
  }
}

TEST_CASE("the distance between neighbours is that of the host's types") {
  for (const double value : {1.0, 1.5, -3.0, 0x1p-126, 0x1p-130, 0.1, 1e30, 0.0}) {
    CAPTURE(value);
    const auto single = std::fabs(static_cast<float>(value));
    const float above = std::nextafter(single, std::numeric_limits<float>::infinity());
    CHECK(spacing(Format::f32, static_cast<double>(single)) == static_cast<double>(above - single));
    const double size = std::fabs(value);
    CHECK(spacing(Format::f64, value) ==
          std::nextafter(size, std::numeric_limits<double>::infinity()) - size);
  }
}

TEST_CASE("a type's row says how its arrays are stored, and the judge's type holds them") {
  for (const DtypeFacts& d : kDtypes) {
    CAPTURE(d.name);
    const FormatFacts& value = facts(value_format(d.dtype));
    for (const Format stored : {d.in, d.out, d.scalar}) {
      CHECK(facts(stored).digits <= value.digits);
      CHECK(facts(stored).max_exponent <= value.max_exponent);
      CHECK(facts(stored).eta >= value.eta);
    }
  }
  CHECK(kDtype<float> == Dtype::f32);
  CHECK(kDtype<double> == Dtype::f64);
  CHECK(kDtype<bf16> == Dtype::bf16);
  CHECK(kDtype<e4m3_bf16> == Dtype::e4m3_bf16);
  CHECK(with_value_type(Dtype::f64, [](auto zero) { return sizeof zero; }) == 8);
}

namespace {

// Every code of E through value(), and numbers on, between and beyond those of E through stored().
template <class E>
void check_values(Format format) {
  for (std::uint32_t code = 0; code < 1u << (8 * sizeof(E)); ++code) {
    E element;
    element.bits = static_cast<decltype(element.bits)>(code);
    const double want = decode(format, &element), got = static_cast<double>(value(element));
    CHECK_MESSAGE(
        (std::isnan(want) ? std::isnan(got) : want == got && std::signbit(want) == std::signbit(got)),
        facts(format).name, " ", code);
    for (const float near : {static_cast<float>(got), std::nextafter(static_cast<float>(got), 1e38f),
                             static_cast<float>(got) * (1 + static_cast<float>(facts(format).unit))}) {
      std::uint64_t bits = 0;
      encode(format, static_cast<double>(near), &bits);
      const double rounded = decode(format, &bits);
      const E as_stored = stored<E>(near);
      const double is = decode(format, &as_stored);
      CHECK_MESSAGE((std::isnan(rounded) ? std::isnan(is) : rounded == is), facts(format).name, " ", near);
    }
  }
}

}  // namespace

TEST_CASE("kernels widen and round as the table of formats does") {
  check_values<f16>(Format::f16);
  check_values<bf16>(Format::bf16);
  check_values<e4m3>(Format::e4m3);
  check_values<e5m2>(Format::e5m2);
}
