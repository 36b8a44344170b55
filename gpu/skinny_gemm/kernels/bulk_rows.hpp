// A warp's rows of X, brought by bulk copies to a ring of stages of its own. The staging of rung 14. Header
// only.
#pragma once
#include "gpu/skinny_gemm/common.hpp"

namespace plumb {
namespace skinny {

/// Warps of a block, each with kStages stages of kRows rows of up to kPanel elements.
template <class T, int Warps, int Stages>
struct BulkRows {
  static constexpr int kRows = 16, kWarps = Warps, kThreads = 32 * Warps, kStages = Stages,
                       kTile = kRows * kPanel,
                       kRing = kWarps * kStages * kTile;  // elements
};

/// The rows of one warp of `workers`: whole rounds, in each of which the warps have kRows rows side by side,
/// and a last one of fewer rows, so that all end together.
template <class S>
struct Rounds {
  Index row, stride, last, rows;
  Index left;  // whole rounds to come
  int in_last;

  PLUMB_DEVICE Rounds(Index worker, Index workers, Index all)
      : row(worker * S::kRows), stride(workers * S::kRows), rows(all), left(all / stride) {
    in_last = static_cast<int>(ceil_div(all - left * stride, workers));
    last = left * stride + worker * in_last;
  }
  /// The first row of the next tile and how many there are: 0 after the last tile.
  PLUMB_DEVICE int next(Index& at) {
    if (left > 0) {
      at = row, row += stride, --left;
      return S::kRows;
    }
    at = last;
    const Index within = rows - last;
    const int count = within <= 0 ? 0 : within < in_last ? static_cast<int>(within) : in_last;
    last = rows;
    return count;
  }
};

/// The calling warp's ring. X lies on 16 bytes, its rows follow each other and are multiples of 16 bytes.
template <class T, class S>
struct BulkRing {
  const T* x;
  int depth;
  T* stages;
  Mbarrier* full;
  Rounds<S> copied, read;
  int stage = 0, parity = 0;

  PLUMB_DEVICE BulkRing(const DenseView<const T, Space::device>& from, T* rings /* shared */,
                        Mbarrier (&barriers)[S::kWarps * S::kStages])
      : x(from.data),
        depth(static_cast<int>(from.cols)),
        stages(rings + warp() * S::kStages * S::kTile),
        full(barriers + warp() * S::kStages),
        copied(static_cast<Index>(warp()) * gridDim.x + blockIdx.x, static_cast<Index>(gridDim.x) * S::kWarps,
               from.rows),
        read(copied) {
    if (threadIdx.x % 32 == 0) {
      for (int s = 0; s < S::kStages; ++s) mbarrier_init(full + s, 1);
      mbarrier_fence_init();
      for (int s = 0; s < S::kStages; ++s) start(s);
    }
    __syncwarp();
  }
  static PLUMB_DEVICE int warp() { return static_cast<int>(threadIdx.x) / 32; }

  /// By one lane: starts the copy of the next tile, if there is one.
  PLUMB_DEVICE void start(int to) {
    Index row;
    const int rows = copied.next(row);
    if (rows == 0) return;
    const int bytes = rows * depth * static_cast<int>(sizeof(T));
    mbarrier_arrive_expect(full + to, bytes);
    bulk_copy_once(stages + to * S::kTile, x + row * depth, bytes, full + to);
  }
  /// Waits for the next tile: its rows, `depth` apart. Returns how many there are; 0 after the last tile.
  PLUMB_DEVICE int get(Index& row, const T*& tile) {
    const int rows = read.next(row);
    if (rows > 0) mbarrier_wait(full + stage, parity);
    tile = stages + stage * S::kTile;
    return rows;
  }
  /// Hands the tile's stage to the next copy. All lanes take part.
  PLUMB_DEVICE void release() {
    __syncwarp();
    if (threadIdx.x % 32 == 0) start(stage);
    if (++stage == S::kStages) stage = 0, parity ^= 1;
  }
};

/// Whether the ring can bring X's rows.
template <class T>
bool rows_in_bulk(const In<T>& in) {
  return reinterpret_cast<std::uintptr_t>(in.X.data) % 16 == 0 && in.X.ld == in.X.cols && in.X.cols > 0 &&
         in.X.cols <= kPanel && in.X.cols * static_cast<Index>(sizeof(T)) % 16 == 0;
}

/// Blocks of the grid's x: one per multiprocessor, or fewer where there are fewer rows.
template <class S>
Index bulk_blocks(Index rows) {
  const Index shares = ceil_div(rows, S::kRows * S::kWarps);
  return shares < device_multiprocessors() ? shares : device_multiprocessors();
}

}  // namespace skinny
}  // namespace plumb
