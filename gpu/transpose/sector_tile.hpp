// Tiles whose pieces of B's rows begin on sectors: the kernel of rung 7. Header only.
#pragma once
#include "gpu/transpose/wide_tile.hpp"

namespace plumb {
namespace transpose {

/// Elements of a sector of 32 bytes.
template <class T>
constexpr int kSector = 32 / static_cast<int>(sizeof(T));

/// Whether rows of a matrix begin on sectors.
template <class T, Space S>
bool on_sectors(const DenseView<T, S>& a) {
  return reinterpret_cast<std::uintptr_t>(a.data) % 32 == 0 && a.ld % kSector<T> == 0;
}

/// Rows of A that a tile may need before its own: of a sector, all but one; whole steps of a block's rows.
template <class T>
constexpr int kBefore = kSector<T> < 8 ? 8 : kSector<T>;

// A block's piece of row j of B is kTile columns from the last sector boundary at or before tile_i kTile.
template <class T, int Rows>
__global__ void __launch_bounds__(kLanes* Rows)
    transpose_sector_tile(DenseView<const T, Space::device> A /* (rows, cols) */,
                          DenseView<T, Space::device> B /* (cols, rows) */, std::int64_t tiles_across) {
  __shared__ T tile[kBefore<T> + kTile][kTile + 1];
  const std::int64_t i0 = blockIdx.x / tiles_across * kTile, j0 = blockIdx.x % tiles_across * kTile;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  constexpr int kSteps = (kBefore<T> + kTile) / Rows;
  static_assert((kBefore<T> + kTile) % Rows == 0 && kTile % Rows == 0, "threads fill the tile");
  T held[kSteps][2];
#pragma unroll
  for (int r = 0; r < kSteps; ++r) {
    const std::int64_t i = i0 - kBefore<T> + ty + r * Rows;
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const std::int64_t j = j0 + tx + c * kLanes;
      held[r][c] = i >= 0 && i < A.rows && j < A.cols ? A(i, j) : T{};
    }
  }
#pragma unroll
  for (int r = 0; r < kSteps; ++r) {
#pragma unroll
    for (int c = 0; c < 2; ++c) tile[ty + r * Rows][tx + c * kLanes] = held[r][c];
  }
  __syncthreads();
  const auto first = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(B.data) / sizeof(T));
#pragma unroll
  for (int r = 0; r < kTile / Rows; ++r) {
    const std::int64_t j = j0 + ty + r * Rows;
    if (j >= B.rows) continue;
    const auto before = static_cast<int>((first + j * B.ld) % kSector<T>);  // of i0, from its sector on
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const int at = tx + c * kLanes - before;
      if (i0 + at >= 0 && i0 + at < B.cols) B(j, i0 + at) = tile[kBefore<T> + at][ty + r * Rows];
    }
  }
}

template <class T>
void run_sector_tiles(const Transpose::In<T, Space::device>& in, const Transpose::Out<T, Space::device>& out,
                      Context& context) {
  constexpr int kRows = 8;
  const std::int64_t across = (in.A.cols + kTile - 1) / kTile,
                     down = (in.A.rows + kSector<T> - 1 + kTile - 1) / kTile;
  if (in.A.rows == 0) return;
  launch((transpose_sector_tile<T, kRows>), across * down, dim3(kLanes, kRows), 0, context.stream, in.A,
         out.B, across);
}

}  // namespace transpose
}  // namespace plumb
