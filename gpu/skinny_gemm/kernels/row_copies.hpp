// What rungs 12 and 13 share: a warp's copies of its rows of X into stages of its own. Header only.
#pragma once
#include "gpu/common/async_copy.hpp"
#include "gpu/skinny_gemm/common.hpp"

namespace plumb {
namespace skinny {

/// Stages of a warp: kRows rows by Depth, the pitch Pad elements more; a panel of K is kChunks of them.
template <class T, int Depth, int Pad, int Stages>
struct RowStages {
  static constexpr int kRows = 16, kWarps = 8, kThreads = 32 * kWarps, kDepth = Depth, kStages = Stages,
                       kChunks = kPanel / kDepth, kPitch = kDepth + Pad, kTile = kRows * kPitch;
  static constexpr std::size_t kShared = sizeof(T) * kWarps * kStages * kTile;
};

/// The calling lane's part of its warp's copies, rows [begin, end) in items of kRows by whole panels of K; V
/// elements at a time, as X is aligned. Rows past the end and everything past the depth become zero.
template <class T, class S, int V>
struct RowCopies {
  static constexpr int kPerRow = S::kDepth / V, kRowStep = 32 / kPerRow > 0 ? 32 / kPerRow : 1,
                       kAcross = kPerRow > 32 ? kPerRow / 32 : 1;
  const DenseView<const T, Space::device>& x;
  Index row, end, panels, k = 0;

  PLUMB_DEVICE RowCopies(const DenseView<const T, Space::device>& from, Index begin, Index past)
      : x(from), row(begin), end(past), panels(from.cols > kPanel ? ceil_div(from.cols, kPanel) : 1) {}

  /// Starts the copies of the next stage, or none where the rows are at their end; closes a group in either
  /// case.
  PLUMB_DEVICE void start(T* stage) {
    if (row < end) {
      const int lane = static_cast<int>(threadIdx.x) % 32, my_k = lane % kPerRow * V, my_row = lane / kPerRow;
      const T* from = x.data + (row + my_row) * x.ld + k;
      T* to = stage + my_row * S::kPitch;
#pragma unroll
      for (int r = 0; r < S::kRows; r += kRowStep) {
        const bool mine = row + my_row + r < end;
#pragma unroll
        for (int q = 0; q < kAcross; ++q) {
          const int at = my_k + 32 * V * q;
          const Index within = x.cols - k - at;
          copy_inside<V>(to + at, from + at, mine ? within : 0, x.data);
        }
        from += kRowStep * x.ld, to += kRowStep * S::kPitch;
      }
      k += S::kDepth;
      if (k >= panels * kPanel) k = 0, row += S::kRows;
    }
    cp_async_commit();
  }
};

/// Launches `kernel` with a block per multiprocessor, or fewer where there are fewer rows.
template <class S, class T>
void launch_row_stages(void (*kernel)(In<T>, Out<T>, bool), const In<T>& in, const Out<T>& out, bool wide_y,
                       Context& context) {
  const Index shares = ceil_div(out.Y.rows, S::kRows * S::kWarps),
              blocks = shares < device_multiprocessors() ? shares : device_multiprocessors();
  launch(kernel, Grid(static_cast<unsigned>(blocks), static_cast<unsigned>(ceil_div(out.Y.cols, kCols))),
         S::kThreads, S::kShared, context.stream, in, out, wide_y);
}

/// Elements that a copy of X may move: 16 bytes, 8 or one element.
template <class T>
int copy_width(const In<T>& in) {
  const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(in.X.data) |
                              static_cast<std::uintptr_t>(in.X.ld * static_cast<Index>(sizeof(T)));
  return bits % 16 == 0  ? 16 / static_cast<int>(sizeof(T))
         : bits % 8 == 0 ? 8 / static_cast<int>(sizeof(T))
                         : 1;
}

}  // namespace skinny
}  // namespace plumb
