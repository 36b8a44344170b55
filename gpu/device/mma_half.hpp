// Warp-wide matrix products of 16-bit elements (mma.sync), as functions around inline PTX. Fragment layouts are those of the PTX ISA, "Matrix
// Fragments for mma.m16n8k16": with g = lane / 4 and t = lane % 4, a word holds two neighbours along K, the first in its low half.
#pragma once
#include "gpu/device/kernel.hpp"
#include "reference/core/abi.hpp"

namespace plumb {

/// c(16x8) += a(16x16) b(16x8), fp32 accumulators (sm_80). a: (g,2t) (g+8,2t) (g,2t+8) (g+8,2t+8). b: (2t,g) (2t+8,g).
/// c: (g,2t) (g,2t+1) (g+8,2t) (g+8,2t+1).
PLUMB_DEVICE void mma_m16n8k16(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2], f16) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
PLUMB_DEVICE void mma_m16n8k16(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2], bf16) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

}  // namespace plumb
