// Registers of sums that leave a loop. Header only.
#pragma once
#include "gpu/common/rung.hpp"

namespace plumb {

/// Multiplies sums by one, in a form that the compiler cannot fold: the products lie in registers of their own. For sums that leave as vectors,
/// between the loop and their stores. A vector's registers are neighbours; where they are the loop's own, a sum lies in the same bank as the
/// operand that it is made with, and of the fp32 multiply-adds of gemm's and conv2d's loops 55 to 92 % read two operands from one bank, with the
/// products 11 to 25 % (SASS for sm_90, nvcc 13.0).
template <class T, int R, int C>
PLUMB_DEVICE void into_other_registers(T (&sum)[R][C], Index extent /* >= 0 */) {
  const T one = extent >= 0 ? T(1) : T(0);
#pragma unroll
  for (int r = 0; r < R; ++r) {
#pragma unroll
    for (int c = 0; c < C; ++c) sum[r][c] *= one;
  }
}

}  // namespace plumb
