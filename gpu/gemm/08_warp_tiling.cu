// gemm, rung 8: 128 x 128 tiles, one 32 x 64 tile per warp, 8 x 8 elements per thread.
//
// Change    a level between block and thread: lanes of a warp lie 4 x 8 over a compact tile, so that they
//           share what they load, and read it 16 bytes at a time: 4 shared loads for 64 multiply-adds. Lanes
//           are numbered so that each load is served in two turns instead of four.
// Traffic   A is read n / 128 times, B m / 128 times.
// Fails at  latency: loads of a tile, barrier, arithmetic, barrier, in turn; only the other block of the
//           multiprocessor fills the gaps. Rung 9 answers that. Needs bases and leading dimensions in
//           multiples of 16 bytes.
// Source    A. Kerr et al., "CUTLASS: Fast Linear Algebra in CUDA C++" (2017), warp tiles.
#include "gpu/gemm/kernels/warp_tile.hpp"

namespace plumb {
namespace {

using namespace gemm;
using S = WarpTiling;

template <class T>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks<T>)
    gemm_warp_tiling(Problem<T> p, In<T> in, Out<T> out) {
  using Lane = LaneTile<T, S::kPerThread, S::kPerThread>;
  __shared__ __align__(16) T a[S::kDepth][S::kPitch], b[S::kDepth][S::kPitch];
  const TileIndex tile = tile_index(ceil_div(out.C.cols, S::kTile));
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int wm = warp / S::kWarpsAcross * Lane::kRows, wn = warp % S::kWarpsAcross * Lane::kCols;
  const LanePlace place = lane_place();
  const Index i0 = tile.m * S::kTile, j0 = tile.n * S::kTile, depth = depth_of(p, in);
  T sum[S::kPerThread][S::kPerThread] = {};
  for (Index k = 0; k < depth; k += S::kDepth) {
    Carried<T> next;
    next.fetch(in, i0, j0, k, depth);
    next.put(a, b);
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < S::kDepth; ++kk) {
      T fa[S::kPerThread], fb[S::kPerThread];
      Lane::load(fa, fb, &a[kk][wm], &b[kk][wn], place);
      Lane::multiply_add(sum, fa, fb);
    }
    __syncthreads();
  }
  Lane::store(p, out, i0 + wm, j0 + wn, sum, place, true);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(gemm_warp_tiling<T>, ceil_div(out.C.rows, S::kTile) * ceil_div(out.C.cols, S::kTile), S::kThreads, 0,
         context.stream, p, in, out);
}

PLUMB_REGISTER_WITH(Gemm, "08_warp_tiling", (run<T>, Traits{}.align(16)), float, double);

}  // namespace
}  // namespace plumb
