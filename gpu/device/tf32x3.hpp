// Splitting fp32 operands into two tf32 numbers, x = hi + lo, for products by tensor cores within the fp32
// bound, and what that cannot represent. Apart from language.hpp because plain tf32 needs none of it.
#pragma once
#include "gpu/device/language.hpp"
#include "reference/core/abi.hpp"

namespace plumb {

/// Sums of fewer terms are made plainly: their bound has no room for the 22 bits that are left of an operand.
constexpr int kLeastTf32x3Depth = 16;

/// Whether x is an infinity or NaN. Infinite and huge operands, and NaN, show in the sums: Inf - Inf is NaN.
PLUMB_DEVICE bool not_finite(float x) { return (__float_as_uint(x) & 0x7f800000u) == 0x7f800000u; }

/// Splits operands and remembers the smallest of them.
struct Tf32Splitter {
  unsigned least = 0xffffffffu;  // bits of the smallest operand but zero, less one

  PLUMB_DEVICE void split(float x, unsigned& hi, unsigned& lo) {
    hi = to_tf32(x);
    lo = to_tf32(x - __uint_as_float(hi));
    least = min(least, (__float_as_uint(x) & 0x7fffffffu) - 1u);
  }
  /// Whether an operand was below 2^-100: its low part is not one of tf32 any more.
  PLUMB_DEVICE bool too_small() const { return below(least); }
  static PLUMB_DEVICE bool below(unsigned least) { return least < ((127u - 100u) << 23) - 1u; }
};

}  // namespace plumb
