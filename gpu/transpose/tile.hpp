// The tiled transpose of rungs 2 to 4: they differ in the tile's pitch and in how much a thread moves. Header
// only.
#pragma once
#include "gpu/device/kernel.hpp"
#include "reference/ops/transpose.hpp"

namespace plumb {
namespace transpose {

// A block of Tile x Rows threads moves a Tile x Tile tile: in along rows of A, out along rows of B, turned in
// shared memory. Blocks are numbered along x alone: the y extent of a grid ends at 65535 tiles.
template <class T, int Tile, int Rows, int Pitch>
__global__ void __launch_bounds__(Tile* Rows)
    transpose_tile(DenseView<const T, Space::device> A /* (rows, cols) */,
                   DenseView<T, Space::device> B /* (cols, rows) */, std::int64_t tiles_across) {
  __shared__ T tile[Tile][Pitch];
  const std::int64_t tile_i = blockIdx.x / tiles_across, tile_j = blockIdx.x % tiles_across;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const std::int64_t j = tile_j * Tile + tx, i = tile_i * Tile + ty;
#pragma unroll
  for (int r = 0; r < Tile; r += Rows) {
    if (i + r < A.rows && j < A.cols) tile[ty + r][tx] = A(i + r, j);
  }
  __syncthreads();
  const std::int64_t out_j = tile_i * Tile + tx, out_i = tile_j * Tile + ty;  // in B
#pragma unroll
  for (int r = 0; r < Tile; r += Rows) {
    if (out_i + r < B.rows && out_j < B.cols) B(out_i + r, out_j) = tile[tx][ty + r];
  }
}

template <class T, int Tile, int Rows, int Pitch>
void run_tiles(const Transpose::In<T, Space::device>& in, const Transpose::Out<T, Space::device>& out,
               Context& context) {
  const std::int64_t across = (in.A.cols + Tile - 1) / Tile, down = (in.A.rows + Tile - 1) / Tile;
  launch(transpose_tile<T, Tile, Rows, Pitch>, across * down, dim3(Tile, Rows), 0, context.stream, in.A,
         out.B, across);
}

}  // namespace transpose
}  // namespace plumb
