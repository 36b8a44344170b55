// mma.sync of 8-bit integers and movmatrix, by the PTX ISA's fragments.
#pragma once
#include "gpu/simt/language/async_proxy.hpp"
#include "gpu/simt/language/device_api.hpp"

namespace plumb::simt {

/// c(rows x 8) += a(rows x depth) b(depth x 8), for 8 or 16 rows and depths of 16 and 32. Registers: rows * depth / 128 of A, depth / 16 of B.
struct ByteProduct {
  int rows, depth;
  Element a, b;            // s8, u8
  bool saturates = false;  // sums of s32
};
void mma_bytes(int* c, const unsigned* a, const unsigned* b, const ByteProduct& form, Here here);
/// movmatrix: the transpose of an 8 x 8 matrix of 16-bit elements, a pair in each lane.
unsigned movmatrix(unsigned pair, Here here);

}  // namespace plumb::simt
