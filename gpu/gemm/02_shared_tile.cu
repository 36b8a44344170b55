// gemm, rung 2: 32 x 32 tiles of A and B in shared memory.
//
// Change    a block loads each tile once, coalesced, and its 1,024 threads share it: two barriers per tile,
//           one when it has been written and one when it has been read.
// Traffic   A is read n / 32 times and B m / 32 times from global memory; 2 shared loads per multiply-add.
// Fails at  every size still: one thread makes one element, so each multiply-add pays two loads, now of
//           shared memory. Rung 3 answers.
// Source    CUDA C++ Programming Guide, "Shared Memory" (tiled matrix multiplication).
#include "gpu/gemm/common.hpp"

namespace plumb {
namespace {

using namespace gemm;

constexpr int kTile = 32, kThreads = kTile * kTile;

template <class T>
__global__ void __launch_bounds__(kThreads) gemm_shared_tile(Problem<T> p, In<T> in, Out<T> out) {
  __shared__ T a[kTile][kTile], b[kTile][kTile];
  const TileIndex tile = tile_index(ceil_div(out.C.cols, kTile));
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const Index i = tile.m * kTile + y, j = tile.n * kTile + x, depth = depth_of(p, in);
  T sum = T(0);
  for (Index k = 0; k < depth; k += kTile) {
    a[y][x] = load_or_zero(in.A, i, k + x, in.A.rows, depth);
    b[y][x] = load_or_zero(in.B, k + y, j, depth, in.B.cols);
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < kTile; ++kk) sum += a[y][kk] * b[kk][x];
    __syncthreads();
  }
  if (i < out.C.rows && j < out.C.cols) finish(p, &out.C(i, j), sum);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(gemm_shared_tile<T>, ceil_div(out.C.rows, kTile) * ceil_div(out.C.cols, kTile), dim3(kTile, kTile),
         0, context.stream, p, in, out);
}

PLUMB_REGISTER(Gemm, "02_shared_tile", run, float, double);

}  // namespace
}  // namespace plumb
