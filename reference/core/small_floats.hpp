// The formats of 16 and 8 bits as bits: exact widening, and narrowing in IEEE's four directions. One copy for the judge, which stores
// operands, and for the CPU executor, whose types, inline PTX and matrix products work on these bits. Read with every kernel that the
// executor runs: C++17, no standard library.
#pragma once

namespace plumb {

enum class Round : unsigned char { nearest, zero, up, down };

struct Half {
  using Bits = unsigned short;
  static constexpr int kFraction = 10, kExponent = 5;  // bits
  static constexpr bool kInfinite = true;              // the largest exponent is of infinities and NaN
};
struct Brain {
  using Bits = unsigned short;
  static constexpr int kFraction = 7, kExponent = 8;
  static constexpr bool kInfinite = true;
};
struct E4m3 {
  using Bits = unsigned char;
  static constexpr int kFraction = 3, kExponent = 4;
  static constexpr bool kInfinite = false;  // but for one NaN, it is of numbers too
};
struct E5m2 {
  using Bits = unsigned char;
  static constexpr int kFraction = 2, kExponent = 5;
  static constexpr bool kInfinite = true;
};

/// Codes of format F, without the sign: the NaN that CUDA makes of any NaN, and the first one beyond the numbers.
template <class F>
inline constexpr unsigned kNanCode = (1u << (F::kFraction + F::kExponent)) - 1;
template <class F>
inline constexpr unsigned kBeyondCode = F::kInfinite ? ((1u << F::kExponent) - 1) << F::kFraction
                                                     : kNanCode<F>;
template <class F>
inline constexpr unsigned kSignCode = kNanCode<F> + 1;

/// Whether that direction leads away from zero; `nearest` leads nowhere by itself.
inline bool leads_away(Round direction, bool negative) {
  return (direction == Round::down && negative) || (direction == Round::up && !negative);
}

/// Whether a magnitude is rounded up that was cut to `kept` and lost `rest` of 2 `half`.
inline bool rounds_up(unsigned long long kept, unsigned long long rest, unsigned long long half,
                      Round direction, bool negative) {
  if (direction == Round::nearest) return rest > half || (rest == half && (kept & 1u) != 0);
  return rest != 0 && leads_away(direction, negative);
}

/// x in format F. NaN becomes kNanCode; what is too large becomes infinity, NaN where F has none, or the largest number where the direction
/// says so.
template <class F>
inline typename F::Bits narrow(double x, Round direction = Round::nearest) {
  using Bits = typename F::Bits;
  constexpr int kBias = (1 << (F::kExponent - 1)) - 1;
  unsigned long long bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  const bool negative = bits >> 63 != 0;
  const unsigned sign = negative ? kSignCode<F> : 0u;
  const int exponent = static_cast<int>(bits >> 52 & 2047u) - 1023;
  const unsigned long long fraction = bits & ((1ull << 52) - 1);
  if (exponent == 1024) return static_cast<Bits>(fraction != 0 ? kNanCode<F> : sign | kBeyondCode<F>);
  if ((bits << 1) == 0) return static_cast<Bits>(sign);
  const unsigned long long significand = fraction | 1ull << 52;
  const int scale = exponent < 1 - kBias ? 1 - kBias : exponent;  // below it, places are lost
  const int places = 52 - F::kFraction + (scale - exponent);
  const int drop = places < 63 ? places : 63;  // from 54 on, nothing but a trace is left
  const unsigned long long kept = significand >> drop;
  const unsigned long long rest = significand & ((1ull << drop) - 1);
  const bool up = rounds_up(kept, rest, 1ull << (drop - 1), direction, negative);
  // A carry out of the fraction is a carry into the exponent; a subnormal's exponent field is 0 by the same sum.
  unsigned long long code =
      (static_cast<unsigned long long>(scale + kBias - 1) << F::kFraction) + kept + (up ? 1u : 0u);
  if (code >= kBeyondCode<F>) {
    const bool infinite = direction == Round::nearest || leads_away(direction, negative);
    code = infinite ? kBeyondCode<F> : kBeyondCode<F> - 1;
  }
  return static_cast<Bits>(sign | code);
}

/// Exact. A NaN becomes CUDA's NaN; a bfloat16 is the upper half of a float, NaN or not.
template <class F>
inline float widen(typename F::Bits code) {
  constexpr int kBias = (1 << (F::kExponent - 1)) - 1, kDown = 23 - F::kFraction;
  unsigned bits = (code & kSignCode<F>) != 0 ? 0x80000000u : 0u;
  const unsigned magnitude = code & kNanCode<F>;
  if constexpr (F::kExponent == 8) {
    bits |= magnitude << kDown;
  } else if (magnitude >= kBeyondCode<F>) {
    bits = F::kInfinite && magnitude == kBeyondCode<F> ? bits | 0x7f800000u : 0x7fffffffu;
  } else if (magnitude >= 1u << F::kFraction) {
    bits |= (magnitude << kDown) + (static_cast<unsigned>(127 - kBias) << 23);
  } else {
    const float small = static_cast<float>(magnitude) / static_cast<float>(1u << (kBias - 1 + F::kFraction));
    unsigned raised;
    __builtin_memcpy(&raised, &small, sizeof raised);
    bits |= raised;
  }
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

}  // namespace plumb
