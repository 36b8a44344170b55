// The body of rungs 3 and 4: a 64 x 64 tile of C by 32 x 32 threads, four elements each, 32 apart. Header
// only.
#pragma once
#include "gpu/gemm/common.hpp"

namespace plumb {
namespace gemm {

struct FourPerThread {
  static constexpr int kTile = 64, kDepth = 32, kSide = 32, kThreads = kSide * kSide;
};

/// sum[r][c] = element (y + 32 r, x + 32 c) of the tile. load_a(row, k) and load_b(k, column) take places in
/// the whole matrices.
template <class T, class LoadA, class LoadB>
PLUMB_DEVICE void four_per_thread(T (&sum)[2][2], Index tile_m, Index tile_n, Index depth, LoadA load_a,
                                  LoadB load_b) {
  using S = FourPerThread;
  __shared__ T a[S::kTile][S::kDepth], b[S::kDepth][S::kTile];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  for (Index k = 0; k < depth; k += S::kDepth) {
    a[y][x] = load_a(tile_m * S::kTile + y, k + x);
    a[y + S::kSide][x] = load_a(tile_m * S::kTile + y + S::kSide, k + x);
    b[y][x] = load_b(k + y, tile_n * S::kTile + x);
    b[y][x + S::kSide] = load_b(k + y, tile_n * S::kTile + x + S::kSide);
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < S::kDepth; ++kk) {
      const T a0 = a[y][kk], a1 = a[y + S::kSide][kk], b0 = b[kk][x], b1 = b[kk][x + S::kSide];
      sum[0][0] += a0 * b0, sum[0][1] += a0 * b1, sum[1][0] += a1 * b0, sum[1][1] += a1 * b1;
    }
    __syncthreads();
  }
}

}  // namespace gemm
}  // namespace plumb
