// gemm, rung 9: rung 8 with everything fetched one step ahead.
//
// Change    the next tile is fetched into registers before the arithmetic of this one and written to a second
//           shared buffer after it; the next step's fragments are loaded before the multiply-adds of this
//           step. One barrier per tile instead of two.
// Traffic   that of rung 8.
// Fails at  registers: the tile in flight to shared memory is held in them, one tile deep, which covers less
//           than the latency of memory. Rung 10 answers that. Needs bases and leading dimensions in multiples
//           of 16 bytes.
// Source    A. Kerr et al., "CUTLASS: Fast Linear Algebra in CUDA C++" (2017), software pipelining.
#include "gpu/gemm/kernels/warp_tile.hpp"

namespace plumb {
namespace {

using namespace gemm;
using S = WarpTiling;

template <class T>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks<T>)
    gemm_register_double_buffer(Problem<T> p, In<T> in, Out<T> out) {
  using Lane = LaneTile<T, S::kPerThread, S::kPerThread>;
  __shared__ __align__(16) T a[2][S::kDepth][S::kPitch], b[2][S::kDepth][S::kPitch];
  const TileIndex tile = tile_index(ceil_div(out.C.cols, S::kTile));
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int wm = warp / S::kWarpsAcross * Lane::kRows, wn = warp % S::kWarpsAcross * Lane::kCols;
  const LanePlace place = lane_place();
  const Index i0 = tile.m * S::kTile, j0 = tile.n * S::kTile, depth = depth_of(p, in);
  T sum[S::kPerThread][S::kPerThread] = {};
  T fa[2][S::kPerThread], fb[2][S::kPerThread];
  Carried<T> next;
  if (depth > 0) {
    next.fetch(in, i0, j0, 0, depth);
    next.put(a[0], b[0]);
    __syncthreads();
    Lane::load(fa[0], fb[0], &a[0][0][wm], &b[0][0][wn], place);
  }
  int buffer = 0;
  for (Index k = 0; k < depth; k += S::kDepth) {
    const bool more = k + S::kDepth < depth;  // the same for the whole block
    if (more) next.fetch(in, i0, j0, k + S::kDepth, depth);
#pragma unroll
    for (int kk = 0; kk < S::kDepth; ++kk) {
      if (kk + 1 < S::kDepth) {
        Lane::load(fa[(kk + 1) % 2], fb[(kk + 1) % 2], &a[buffer][kk + 1][wm], &b[buffer][kk + 1][wn], place);
      } else if (more) {
        next.put(a[buffer ^ 1], b[buffer ^ 1]);  // last read a tile ago, before the barrier
        __syncthreads();
        Lane::load(fa[0], fb[0], &a[buffer ^ 1][0][wm], &b[buffer ^ 1][0][wn], place);
      }
      Lane::multiply_add(sum, fa[kk % 2], fb[kk % 2]);
    }
    buffer ^= 1;
  }
  Lane::store(p, out, i0 + wm, j0 + wn, sum, place, true);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(gemm_register_double_buffer<T>, ceil_div(out.C.rows, S::kTile) * ceil_div(out.C.cols, S::kTile),
         S::kThreads, 0, context.stream, p, in, out);
}

PLUMB_REGISTER_WITH(Gemm, "09_register_double_buffer", (run<T>, Traits{}.align(16)), float, double);

}  // namespace
}  // namespace plumb
