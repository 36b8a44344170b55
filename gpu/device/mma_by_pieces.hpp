// The fp64 products of 16 rows (sm_90) made of products of 8 x 4, for chips before: ptx/mma.hpp takes it there. Apart from it, and with
// the product as an argument, so that the CPU executor can check it too.
#pragma once
#include <cuda_runtime.h>

namespace plumb {

/// c(16x8) += a(16 x 4 Pieces) b(4 Pieces x 8): pieces of 4 along k, fragments as mma_m16n8k{4,8,16}_f64 has them. `multiply_add` is
/// mma_m8n8k4_f64.
template <int Pieces, class MultiplyAdd>
__device__ __forceinline__ void mma_m16n8_by_pieces(double (&c)[4], const double (&a)[2 * Pieces],
                                                    const double (&b)[Pieces], MultiplyAdd multiply_add) {
  double half[2][2] = {{c[0], c[1]}, {c[2], c[3]}};
#pragma unroll
  for (int j = 0; j < Pieces; ++j) {
    const double b_piece[1] = {b[j]};
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const double a_piece[1] = {a[2 * j + h]};
      multiply_add(half[h], a_piece, b_piece);
    }
  }
  c[0] = half[0][0], c[1] = half[0][1], c[2] = half[1][0], c[3] = half[1][1];
}

}  // namespace plumb
