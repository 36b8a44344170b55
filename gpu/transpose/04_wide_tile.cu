// transpose, rung 4: a 64 x 64 tile, two elements wide per thread each way.
//
// Change    sixteen elements in flight per thread, and rows of 64: 256 or 512 bytes of each row at a time in
//           either matrix, so memory pages are left less often. A lane moves elements tx and tx + 32 of a
//           row: still no alignment asked for.
// Traffic   as rung 2.
// Limits    32 and 40 registers, 16.2 KB in fp32, 32.5 KB of shared memory in fp64: 8 and 6 blocks of 256 per
//           SM (sm_90, nvcc 13.0, ptxas -v).
// Fails at  matrices narrower than a tile, where most of it is empty: rung 3 wastes less.
// Source    rung 3, with the register tiling of the gemm ladder.
#include "gpu/runtime/device.hpp"
#include "reference/ops/transpose.hpp"

namespace plumb {
namespace {

constexpr int kTile = 64, kLanes = 32, kRows = 8;

template <class T>
__global__ void __launch_bounds__(kLanes* kRows)
    transpose_wide_tile(DenseView<const T, Space::device> A /* (rows, cols) */,
                        DenseView<T, Space::device> B /* (cols, rows) */, std::int64_t tiles_across) {
  __shared__ T tile[kTile][kTile + 1];
  const std::int64_t tile_i = blockIdx.x / tiles_across, tile_j = blockIdx.x % tiles_across;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const std::int64_t i0 = tile_i * kTile, j0 = tile_j * kTile;
  T held[kTile / kRows][2];
  const bool whole = i0 + kTile <= A.rows && j0 + kTile <= A.cols;
  if (whole) {
    // all loads are issued before the first store waits for one
#pragma unroll
    for (int r = 0; r < kTile / kRows; ++r) {
#pragma unroll
      for (int c = 0; c < 2; ++c) held[r][c] = A(i0 + ty + r * kRows, j0 + tx + c * kLanes);
    }
#pragma unroll
    for (int r = 0; r < kTile / kRows; ++r) {
#pragma unroll
      for (int c = 0; c < 2; ++c) tile[ty + r * kRows][tx + c * kLanes] = held[r][c];
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kTile / kRows; ++r) {
#pragma unroll
      for (int c = 0; c < 2; ++c)
        B(j0 + ty + r * kRows, i0 + tx + c * kLanes) = tile[tx + c * kLanes][ty + r * kRows];
    }
    return;  // the whole block
  }
  for (int r = ty; r < kTile; r += kRows) {
    for (int c = tx; c < kTile; c += kLanes) {
      if (i0 + r < A.rows && j0 + c < A.cols) tile[r][c] = A(i0 + r, j0 + c);
    }
  }
  __syncthreads();
  for (int r = ty; r < kTile; r += kRows) {
    for (int c = tx; c < kTile; c += kLanes) {
      if (j0 + r < B.rows && i0 + c < B.cols) B(j0 + r, i0 + c) = tile[c][r];
    }
  }
}

template <class T>
void run(const Transpose::Problem<T>&, const Transpose::In<T, Space::device>& in,
         const Transpose::Out<T, Space::device>& out, Context& context) {
  const std::int64_t across = (in.A.cols + kTile - 1) / kTile, down = (in.A.rows + kTile - 1) / kTile;
  launch(transpose_wide_tile<T>, across * down, dim3(kLanes, kRows), 0, context.stream, in.A, out.B, across);
}

const Register<Transpose, float, Space::device> f32{"04_wide_tile", run<float>};
const Register<Transpose, double, Space::device> f64{"04_wide_tile", run<double>};

}  // namespace
}  // namespace plumb
