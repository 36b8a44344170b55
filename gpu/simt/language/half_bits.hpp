// Arithmetic on the bits of the two 16-bit formats that rounds once. Their conversions are reference/core/small_floats.hpp. Apart from the
// types (half.hpp), because inline PTX and the warp's matrix products work on bits.
//
// Why double is enough: a product of two such numbers is exact in it (at most 22 bits); a sum is made odd where it is inexact, which
// keeps a tie from appearing or vanishing when it is rounded again (Boldo and Melquiond, IEEE Trans. Computers 57, 2008). Quotients and
// square roots of 11-bit numbers are further from a tie than double's last place.
#pragma once
#include <cmath>

#include "gpu/simt/language/rounding.hpp"
#include "reference/core/small_floats.hpp"

namespace plumb::simt {

using ::plumb::Brain;
using ::plumb::Half;
using ::plumb::leads_away;
using ::plumb::narrow;
using ::plumb::Round;
using ::plumb::rounds_up;
using ::plumb::widen;

inline constexpr unsigned short kHalfNan = 0x7fff;  // what CUDA makes of any NaN, in both formats

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
