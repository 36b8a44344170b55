#include "reference/core/format.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/core/pieces.hpp"
#include "reference/core/small_floats.hpp"

namespace plumb {
namespace {

template <class F>
double widened(const void* from) {
  typename F::Bits code;
  __builtin_memcpy(&code, from, sizeof code);
  return static_cast<double>(widen<F>(code));
}

template <class F>
void put_narrowed(double value, void* to) {
  const typename F::Bits code = narrow<F>(value);
  __builtin_memcpy(to, &code, sizeof code);
}

// To nearest even, of any format whose exponents are float's. The result is an infinity where it exceeds `largest`.
double rounded_to_digits(double value, const FormatFacts& f) {
  if (!std::isfinite(value) || value == 0) return value;
  const double unit = spacing(f.format, value), rounded = std::nearbyint(value / unit) * unit;
  return std::fabs(rounded) > f.largest ? std::copysign(std::numeric_limits<double>::infinity(), value)
                                        : std::copysign(rounded, value);
}

}  // namespace

double detail::decode_small(Format format, const void* from) {
  switch (format) {
    case Format::tf32:
      return decode(Format::f32, from);
    case Format::f16:
      return widened<Half>(from);
    case Format::bf16:
      return widened<Brain>(from);
    case Format::e4m3:
      return widened<E4m3>(from);
    case Format::e5m2:
      return widened<E5m2>(from);
    case Format::i32: {
      std::int32_t value;
      __builtin_memcpy(&value, from, sizeof value);
      return value;
    }
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

void detail::encode_small(Format format, double value, void* to) {
  switch (format) {
    case Format::tf32:
      return encode(Format::f32, rounded_to_digits(value, facts(format)), to);
    case Format::f16:
      return put_narrowed<Half>(value, to);
    case Format::bf16:
      return put_narrowed<Brain>(value, to);
    case Format::e4m3:
      return put_narrowed<E4m3>(value, to);
    case Format::e5m2:
      return put_narrowed<E5m2>(value, to);
    case Format::i32: {
      const auto whole = static_cast<std::int32_t>(value);
      __builtin_memcpy(to, &whole, sizeof whole);
      return;
    }
    default:
      return;
  }
}

double spacing(Format format, double value) {
  const FormatFacts& f = facts(format);
  if (!is_floating(format)) return 1;
  if (value == 0 || !std::isfinite(value)) return f.eta;
  constexpr int kBias = 1023;
  std::uint64_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  const int exponent = static_cast<int>(bits >> 52 & 2047) - kBias;  // of a subnormal double below any other
  const int power = std::max(exponent, f.min_exponent) - f.digits + 1;
  if (power <= -kBias) return std::ldexp(1.0, power);  // subnormal
  bits = static_cast<std::uint64_t>(power + kBias) << 52;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

template <class V>
void quantise(Format format, V* data, std::int64_t count) {
  if (facts(format).digits >= facts(kFormat<V>).digits) return;
  constexpr std::int64_t kPiece = 1 << 13;  // elements
  for_each_piece((count + kPiece - 1) / kPiece, [&](std::int64_t piece) {
    const std::int64_t end = std::min(count, (piece + 1) * kPiece);
    for (std::int64_t i = piece * kPiece; i < end; ++i)
      data[i] = static_cast<V>(representable(format, static_cast<double>(data[i])));
  });
}
template void quantise<float>(Format, float*, std::int64_t);
template void quantise<double>(Format, double*, std::int64_t);

}  // namespace plumb
