// gemm, rung 3: a 64 x 64 tile of C, four elements per thread.
//
// Change    each thread makes a 2 x 2 of elements 32 apart: two loads of A and two of B now serve four
//           multiply-adds.
// Traffic   A is read n / 64 times, B m / 64 times: half of rung 2. One shared load per multiply-add.
// Fails at  its guards: four comparisons per thread and tile, in the loop. Rung 4 removes them. Blocks of
//           1,024 threads leave the multiprocessor idle at their barriers; rung 5 takes smaller ones.
// Source    V. Volkov, "Better performance at lower occupancy", GTC 2010.
#include "gpu/gemm/kernels/four_per_thread.hpp"

namespace plumb {
namespace {

using namespace gemm;
using S = FourPerThread;

template <class T>
__global__ void __launch_bounds__(S::kThreads) gemm_four_per_thread(Problem<T> p, In<T> in, Out<T> out) {
  const TileIndex tile = tile_index(ceil_div(out.C.cols, S::kTile));
  const Index depth = depth_of(p, in);
  T sum[2][2] = {};
  four_per_thread(
      sum, tile.m, tile.n, depth,
      [&](Index i, Index k) { return load_or_zero(in.A, i, k, in.A.rows, depth); },
      [&](Index k, Index j) { return load_or_zero(in.B, k, j, depth, in.B.cols); });
#pragma unroll
  for (int r = 0; r < 2; ++r) {
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const Index i = tile.m * S::kTile + threadIdx.y + r * S::kSide,
                  j = tile.n * S::kTile + threadIdx.x + c * S::kSide;
      if (i < out.C.rows && j < out.C.cols) finish(p, &out.C(i, j), sum[r][c]);
    }
  }
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(gemm_four_per_thread<T>, ceil_div(out.C.rows, S::kTile) * ceil_div(out.C.cols, S::kTile),
         dim3(S::kSide, S::kSide), 0, context.stream, p, in, out);
}

PLUMB_REGISTER(Gemm, "03_four_per_thread", run, float, double);

}  // namespace
}  // namespace plumb
