// gemm, rung 5: a 32 x 32 tile by 4 x 32 threads, a column of eight elements each.
//
// Change    one element of B, in a register, serves eight multiply-adds; blocks of 128 threads instead of
//           1,024, so that one block computes while another waits; the inner loop is unrolled. No padding any
//           more: the guards stand at the loads.
// Traffic   A is read n / 32 times, B m / 32 times. 9 shared loads for 8 multiply-adds, but those of A are
//           one address per warp, and four of its consecutive k come in one 16-byte load: 12 loads for 32.
// Fails at  one direction of reuse only: each element of A is still loaded for every column. Rung 6 tiles
//           both ways.
// Source    the ladder's own step, after Volkov, GTC 2010.
#include "gpu/gemm/common.hpp"

namespace plumb {
namespace {

using namespace gemm;

constexpr int kTile = 32, kRows = 8, kGroups = kTile / kRows, kThreads = kTile * kGroups;

template <class T>
__global__ void __launch_bounds__(kThreads) gemm_column_of_eight(Problem<T> p, In<T> in, Out<T> out) {
  __shared__ __align__(16) T a[kTile][kTile];
  __shared__ T b[kTile][kTile];
  const TileIndex tile = tile_index(ceil_div(out.C.cols, kTile));
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const Index i0 = tile.m * kTile, j = tile.n * kTile + x, depth = depth_of(p, in);
  T sum[kRows] = {};
  for (Index k = 0; k < depth; k += kTile) {
#pragma unroll
    for (int r = y; r < kTile; r += kGroups) {
      a[r][x] = load_or_zero(in.A, i0 + r, k + x, in.A.rows, depth);
      b[r][x] = load_or_zero(in.B, k + r, j, depth, in.B.cols);
    }
    __syncthreads();
    constexpr int kLanes = Vector<T>::kLanes;
#pragma unroll
    for (int kk = 0; kk < kTile; kk += kLanes) {
      T bk[kLanes];
#pragma unroll
      for (int l = 0; l < kLanes; ++l) bk[l] = b[kk + l][x];
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const Vector<T> ak = *reinterpret_cast<const Vector<T>*>(&a[y * kRows + r][kk]);
#pragma unroll
        for (int l = 0; l < kLanes; ++l) sum[r] += ak.lane[l] * bk[l];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const Index i = i0 + y * kRows + r;
    if (i < out.C.rows && j < out.C.cols) finish(p, &out.C(i, j), sum[r]);
  }
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(gemm_column_of_eight<T>, ceil_div(out.C.rows, kTile) * ceil_div(out.C.cols, kTile),
         dim3(kTile, kGroups), 0, context.stream, p, in, out);
}

PLUMB_REGISTER(Gemm, "05_column_of_eight", run, float, double);

}  // namespace
}  // namespace plumb
