// Warp-wide matrix products (mma.sync) for the shapes in use, as functions around inline PTX. Fragment layouts are those of the PTX ISA,
// "Matrix Fragments for mma.m16n8k*": with g = lane / 4 and t = lane % 4, row-major A holds (g | g + 8, t + 4 j), column-major B (t
// + 4 j, g), and the accumulators C are (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1). For language.hpp, which kernels
// include; the CPU executor has its own (gpu/simt/language/instructions.hpp).
#pragma once
#include <cuda_runtime.h>

#include "gpu/device/mma_by_pieces.hpp"

namespace plumb {

/// x rounded to tf32 (10 explicit mantissa bits, nearest, ties away), as the bits mma takes.
__device__ __forceinline__ unsigned to_tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;\n" : "=r"(bits) : "f"(x));
  return bits;
}
/// c(16x8) += a(16x8) b(8x8), tf32 operands, fp32 accumulators. a: (g,t) (g+8,t) (g,t+4) (g+8,t+4). b: (t,g)
/// (t+4,g).
__device__ __forceinline__ void mma_m16n8k8_tf32(float (&c)[4], const unsigned (&a)[4],
                                                 const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// c(8x8) += a(8x4) b(4x8), fp64 (sm_80). a: (g,t). b: (t,g). c: (g,2t) (g,2t+1).
__device__ __forceinline__ void mma_m8n8k4_f64(double (&c)[2], const double (&a)[1], const double (&b)[1]) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};\n"
               : "+d"(c[0]), "+d"(c[1])
               : "d"(a[0]), "d"(b[0]));
}

struct MmaM8N8K4F64 {
  __device__ __forceinline__ void operator()(double (&c)[2], const double (&a)[1],
                                             const double (&b)[1]) const {
    mma_m8n8k4_f64(c, a, b);
  }
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define PLUMB_M16N8(pieces, ...) mma_m16n8_by_pieces<pieces>(c, a, b, MmaM8N8K4F64{})
#else
#define PLUMB_M16N8(pieces, ...) asm volatile(__VA_ARGS__)
#endif

/// c(16x8) += a(16x4) b(4x8), fp64 (sm_90; before, by pieces). a: (g,t) (g+8,t). b: (t,g).
__device__ __forceinline__ void mma_m16n8k4_f64(double (&c)[4], const double (&a)[2], const double (&b)[1]) {
  PLUMB_M16N8(
      1, "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};\n"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(b[0]));
}
/// c(16x8) += a(16x8) b(8x8), fp64 (sm_90; before, by pieces). a: (g,t) (g+8,t) (g,t+4) (g+8,t+4). b: (t,g) (t+4,g).
__device__ __forceinline__ void mma_m16n8k8_f64(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
  PLUMB_M16N8(2,
              "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
              "{%0,%1,%2,%3};\n"
              : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
              : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
/// c(16x8) += a(16x16) b(16x8), fp64 (sm_90; before, by pieces). a: (g,t+4j) (g+8,t+4j) for j = 0..3, interleaved. b: (t+4j,g).
__device__ __forceinline__ void mma_m16n8k16_f64(double (&c)[4], const double (&a)[8], const double (&b)[4]) {
  PLUMB_M16N8(4,
              "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, "
              "{%12,%13,%14,%15}, {%0,%1,%2,%3};\n"
              : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
              : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
                "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}

#undef PLUMB_M16N8

}  // namespace plumb
