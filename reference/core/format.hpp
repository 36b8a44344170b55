// How a number is stored: one row of a table per format, and the conversions between its bits and a double. What needs the size of an element,
// its precision or its range asks this table. Read with every kernel: C++17, no standard library beyond <cstdint>.
#pragma once
#include <cstdint>

namespace plumb {

/// A number's encoding. `none`: no format of its own (Arithmetic::operand, Arithmetic::accumulate).
enum class Format : std::uint8_t { f64, f32, tf32, f16, bf16, e4m3, e5m2, i32, none };

struct FormatFacts {
  Format format;
  const char* name;
  int bytes;         // of one element
  int digits;        // significant bits, the leading one counted
  int min_exponent;  // the smallest normal number is 2^min_exponent
  int max_exponent;  // the largest number is below 2^(max_exponent + 1)
  bool infinity;     // whether it has infinities; e4m3 has none, and one NaN
  double unit;       // 2^-digits, half the distance from 1 to the next number; 0 where nothing is rounded
  double eta;        // the smallest subnormal number: what one operation may add where it underflows
  double largest;    // finite number
  double smallest_normal;  // number
};

/// One row per format, in the order of the enumeration.
inline constexpr FormatFacts kFormats[] = {
    {Format::f64, "f64", 8, 53, -1022, 1023, true, 0x1p-53, 0x1p-1074, 0x1.fffffffffffffp1023, 0x1p-1022},
    {Format::f32, "f32", 4, 24, -126, 127, true, 0x1p-24, 0x1p-149, 0x1.fffffep127, 0x1p-126},
    // fp32 of which 11 bits count: operands of tensor cores
    {Format::tf32, "tf32", 4, 11, -126, 127, true, 0x1p-11, 0x1p-136, 0x1.ffcp127, 0x1p-126},
    {Format::f16, "f16", 2, 11, -14, 15, true, 0x1p-11, 0x1p-24, 65504, 0x1p-14},
    {Format::bf16, "bf16", 2, 8, -126, 127, true, 0x1p-8, 0x1p-133, 0x1.fep127, 0x1p-126},
    {Format::e4m3, "e4m3", 1, 4, -6, 8, false, 0x1p-4, 0x1p-9, 448, 0x1p-6},
    {Format::e5m2, "e5m2", 1, 3, -14, 15, true, 0x1p-3, 0x1p-16, 57344, 0x1p-14},
    {Format::i32, "i32", 4, 31, 0, 30, false, 0, 0, 2147483647, 1},
    {Format::none, "own", 0, 0, 0, 0, false, 0, 0, 0, 0}};

[[nodiscard]] constexpr const FormatFacts& facts(Format format) {
  return kFormats[static_cast<std::uint8_t>(format)];
}

namespace detail {
constexpr bool formats_are_in_order() {
  int row = 0;
  for (const FormatFacts& f : kFormats) {
    if (static_cast<int>(f.format) != row++) return false;
  }
  return true;
}
static_assert(formats_are_in_order(), "kFormats has one row per Format, in the order of the enumeration");

[[nodiscard]] double decode_small(Format, const void*);
void encode_small(Format, double, void*);
}  // namespace detail

/// The number that facts(format).bytes bytes at `from` hold, exactly. A NaN keeps no payload.
[[nodiscard]] inline double decode(Format format, const void* from) {
  if (format == Format::f32) {
    float value;
    __builtin_memcpy(&value, from, sizeof value);
    return static_cast<double>(value);
  }
  if (format == Format::f64) {
    double value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
  }
  return detail::decode_small(format, from);
}

/// Stores `value` in facts(format).bytes bytes at `to`, rounded once, to nearest even. What rounds beyond the largest number becomes an
/// infinity, or NaN where there is none. i32: the value is an integer in its range.
inline void encode(Format format, double value, void* to) {
  if (format == Format::f32) {
    const auto rounded = static_cast<float>(value);
    __builtin_memcpy(to, &rounded, sizeof rounded);
  } else if (format == Format::f64) {
    __builtin_memcpy(to, &value, sizeof value);
  } else {
    detail::encode_small(format, value, to);
  }
}

/// `value` as `format` holds it: decode(encode(value)); integers as they are.
[[nodiscard]] inline double representable(Format format, double value) {
  if (format == Format::f64 || facts(format).unit == 0) return value;
  std::uint64_t bits = 0;
  encode(format, value, &bits);
  return decode(format, &bits);
}

/// The distance between the two numbers of `format` that enclose `value`, on the side away from 0; the smallest subnormal at 0.
[[nodiscard]] double spacing(Format format, double value);

/// Whether arrays of it hold values rather than places.
[[nodiscard]] constexpr bool is_floating(Format format) { return facts(format).unit > 0; }

/// Numbers of 16 and 8 bits as they are stored: bits, and no arithmetic (reference/core/values.hpp converts them).
struct f16 {
  std::uint16_t bits;
};
struct bf16 {
  std::uint16_t bits;
};
struct e4m3 {
  std::uint8_t bits;
};
struct e5m2 {
  std::uint8_t bits;
};

/// The format of a type's bits.
template <class T>
inline constexpr Format kFormat = Format::none;
template <class T>
inline constexpr Format kFormat<const T> = kFormat<T>;
template <>
inline constexpr Format kFormat<float> = Format::f32;
template <>
inline constexpr Format kFormat<double> = Format::f64;
template <>
inline constexpr Format kFormat<f16> = Format::f16;
template <>
inline constexpr Format kFormat<bf16> = Format::bf16;
template <>
inline constexpr Format kFormat<e4m3> = Format::e4m3;
template <>
inline constexpr Format kFormat<e5m2> = Format::e5m2;
template <>
inline constexpr Format kFormat<std::int32_t> = Format::i32;

/// Rounds `count` numbers in place to those that `format` holds: data are exact as stored. V: float, double, which hold every number of it.
template <class V>
void quantise(Format format, V* data, std::int64_t count);

}  // namespace plumb
