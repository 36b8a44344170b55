// The two 16-bit formats as bits: exact widening, narrowing in IEEE's four directions, and arithmetic that rounds once. Apart from the
// types (half.hpp), because inline PTX and the warp's matrix products work on bits.
//
// Why double is enough: a product of two such numbers is exact in it (at most 22 bits); a sum is made odd where it is inexact, which
// keeps a tie from appearing or vanishing when it is rounded again (Boldo and Melquiond, IEEE Trans. Computers 57, 2008). Quotients and
// square roots of 11-bit numbers are further from a tie than double's last place.
#pragma once
#include <cmath>

#include "gpu/simt/language/rounding.hpp"

namespace plumb::simt {

struct Half {
  static constexpr int kFraction = 10, kExponent = 5;  // bits
};
struct Brain {
  static constexpr int kFraction = 7, kExponent = 8;
};

inline constexpr unsigned short kHalfNan = 0x7fff;  // what CUDA makes of any NaN, in both formats

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

/// x in format F. NaN becomes kHalfNan; what is too large becomes infinity, or the largest number where the direction says so.
template <class F>
inline unsigned short narrow(double x, Round direction = Round::nearest) {
  constexpr int kBias = (1 << (F::kExponent - 1)) - 1;
  constexpr unsigned long long kInfinity = ((1ull << F::kExponent) - 1) << F::kFraction;
  unsigned long long bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  const bool negative = bits >> 63 != 0;
  const auto sign = static_cast<unsigned short>(negative ? 0x8000u : 0u);
  const int exponent = static_cast<int>(bits >> 52 & 2047u) - 1023;
  const unsigned long long fraction = bits & ((1ull << 52) - 1);
  if (exponent == 1024) return fraction != 0 ? kHalfNan : static_cast<unsigned short>(sign | kInfinity);
  if ((bits << 1) == 0) return sign;
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
  if (code >= kInfinity) {
    const bool infinite = direction == Round::nearest || leads_away(direction, negative);
    code = infinite ? kInfinity : kInfinity - 1;
  }
  return static_cast<unsigned short>(sign | code);
}

/// Exact. Apart from that of datasets/formats/npy.cpp, which says why. A half's NaN becomes CUDA's NaN; a bfloat16 is the upper half of a float, NaN or not.
template <class F>
inline float widen(unsigned short code) {
  unsigned bits = static_cast<unsigned>(code & 0x8000u) << 16;
  const unsigned magnitude = code & 0x7fffu;
  if constexpr (F::kExponent == 8) {
    bits |= magnitude << 16;
  } else if (magnitude >= 0x7c00u) {
    bits = magnitude > 0x7c00u ? 0x7fffffffu : bits | 0x7f800000u;
  } else if (magnitude >= 0x0400u) {
    bits |= (magnitude << 13) + (112u << 23);
  } else {
    const float small = static_cast<float>(magnitude) * 0x1p-24f;
    unsigned raised;
    __builtin_memcpy(&raised, &small, sizeof raised);
    bits |= raised;
  }
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

/// product + c, odd in the last place where that is not exact: rounding it once more equals rounding the sum itself.
inline double sum_to_odd(double product, double c) {
  const double sum = product + c;
  if (!(std::fabs(sum) <= 0x1p1000)) return sum;  // infinite or NaN
  const double back = sum - product;
  const double error = (product - (sum - back)) + (c - back);
  if (error == 0.0) return sum;
  long long bits;
  __builtin_memcpy(&bits, &sum, sizeof bits);
  if ((bits & 1) == 0) bits += (error > 0.0) == (sum > 0.0) ? 1 : -1;
  double odd;
  __builtin_memcpy(&odd, &bits, sizeof odd);
  return odd;
}

template <class F>
inline unsigned short fused(unsigned short a, unsigned short b, unsigned short c) {
  const double product = static_cast<double>(widen<F>(a)) * static_cast<double>(widen<F>(b));
  return narrow<F>(sum_to_odd(product, static_cast<double>(widen<F>(c))));
}
template <class F>
inline unsigned short sum(unsigned short a, unsigned short b) {
  return narrow<F>(sum_to_odd(static_cast<double>(widen<F>(a)), static_cast<double>(widen<F>(b))));
}
template <class F>
inline unsigned short difference(unsigned short a, unsigned short b) {
  return narrow<F>(sum_to_odd(static_cast<double>(widen<F>(a)), -static_cast<double>(widen<F>(b))));
}
template <class F>
inline unsigned short product(unsigned short a, unsigned short b) {
  return narrow<F>(static_cast<double>(widen<F>(a)) * static_cast<double>(widen<F>(b)));
}

/// The larger, or with `least` the smaller: a NaN loses to a number unless `keep_nan`; +0 is above -0.
template <class F>
inline unsigned short extreme(unsigned short a, unsigned short b, bool least, bool keep_nan = false) {
  const float x = widen<F>(a), y = widen<F>(b);
  const bool nan_x = x != x, nan_y = y != y;
  if ((nan_x && nan_y) || (keep_nan && (nan_x || nan_y))) return kHalfNan;
  if (nan_x) return b;
  if (nan_y) return a;
  if (x == y) return ((a & 0x8000u) != 0) == least ? a : b;
  return (x < y) == least ? a : b;
}

inline double saturated(double x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }  // NaN becomes 0
inline double rectified(double x) { return x < 0.0 ? 0.0 : x; }

/// An integer as a double that rounds to a 16-bit format as the integer would: beyond 53 bits, odd where places are lost.
template <class T>
inline double odd_double(T v) {
  if constexpr (sizeof(T) < 8) {
    return static_cast<double>(v);
  } else {
    const bool negative = v < 0;
    unsigned long long magnitude = static_cast<unsigned long long>(v);
    if (negative) magnitude = 0ull - magnitude;
    if (magnitude >> 53 != 0 && (magnitude & 0x7ffu) != 0) magnitude = (magnitude | 0x800u) & ~0x7ffull;
    return negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
  }
}

}  // namespace plumb::simt
