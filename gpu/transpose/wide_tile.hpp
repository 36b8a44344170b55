// The kernel of the transpose rungs with 64 x 64 tiles: a block of 32 x Rows threads, each two elements wide.
// Header only.
#pragma once
#include "gpu/device/kernel.hpp"
#include "reference/ops/transpose.hpp"

namespace plumb {
namespace transpose {

constexpr int kTile = 64, kLanes = 32;

template <class T, int Rows>
__global__ void __launch_bounds__(kLanes* Rows)
    transpose_wide_tile(DenseView<const T, Space::device> A /* (rows, cols) */,
                        DenseView<T, Space::device> B /* (cols, rows) */, std::int64_t tiles_across) {
  __shared__ T tile[kTile][kTile + 1];
  const std::int64_t tile_i = blockIdx.x / tiles_across, tile_j = blockIdx.x % tiles_across;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const std::int64_t i0 = tile_i * kTile, j0 = tile_j * kTile;
  T held[kTile / Rows][2];
  const bool whole = i0 + kTile <= A.rows && j0 + kTile <= A.cols;
  if (whole) {
    // all loads are issued before the first store waits for one
#pragma unroll
    for (int r = 0; r < kTile / Rows; ++r) {
#pragma unroll
      for (int c = 0; c < 2; ++c) held[r][c] = A(i0 + ty + r * Rows, j0 + tx + c * kLanes);
    }
#pragma unroll
    for (int r = 0; r < kTile / Rows; ++r) {
#pragma unroll
      for (int c = 0; c < 2; ++c) tile[ty + r * Rows][tx + c * kLanes] = held[r][c];
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kTile / Rows; ++r) {
#pragma unroll
      for (int c = 0; c < 2; ++c)
        B(j0 + ty + r * Rows, i0 + tx + c * kLanes) = tile[tx + c * kLanes][ty + r * Rows];
    }
    return;  // the whole block
  }
  for (int r = ty; r < kTile; r += Rows) {
    for (int c = tx; c < kTile; c += kLanes) {
      if (i0 + r < A.rows && j0 + c < A.cols) tile[r][c] = A(i0 + r, j0 + c);
    }
  }
  __syncthreads();
  for (int r = ty; r < kTile; r += Rows) {
    for (int c = tx; c < kTile; c += kLanes) {
      if (j0 + r < B.rows && i0 + c < B.cols) B(j0 + r, i0 + c) = tile[c][r];
    }
  }
}

template <class T, int Rows>
void run_wide_tiles(const Transpose::In<T, Space::device>& in, const Transpose::Out<T, Space::device>& out,
                    Context& context) {
  const std::int64_t across = (in.A.cols + kTile - 1) / kTile, down = (in.A.rows + kTile - 1) / kTile;
  launch((transpose_wide_tile<T, Rows>), across * down, dim3(kLanes, Rows), 0, context.stream, in.A, out.B,
         across);
}

}  // namespace transpose
}  // namespace plumb
