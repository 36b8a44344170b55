// The body of rung 10, which rungs 15 and 18 give other tiles: X and W by asynchronous copies in stages. Header only.
#pragma once
#include "gpu/common/async_copy.hpp"
#include "gpu/common/store_vector.hpp"
#include "gpu/skinny_gemm/common.hpp"

namespace plumb {
namespace skinny {

/// A block's tile of X: 4 warps, each 8 groups of lanes by LaneRows rows; Depth terms of them at a time.
template <class T, int LaneRows, int Depth>
struct Tile {
  static constexpr int kV = Vector<T>::kLanes, kLaneRows = LaneRows, kDepth = Depth, kThreadsOfBlock = 128;
  static constexpr int kRows = kThreadsOfBlock / 32 * 8 * kLaneRows,
                       kPitch = kDepth + kV;  // 16 bytes more: 8 rows, 8 places in the banks
  static constexpr int kStages = 3;
};

template <class T>
constexpr bool kSingle = sizeof(T) == 4;
/// Rung 10: 256 rows (fp64: 128).
template <class T>
using HighTile = Tile<T, kSingle<T> ? 8 : 4, 16>;
/// Rung 15: a quarter of the rows, and 128 bytes of each at a time.
template <class T>
using LowTile = Tile<T, kSingle<T> ? 2 : 1, kSingle<T> ? 32 : 16>;
/// Rung 18: half of the rows, and 128 bytes of each at a time.
template <class T>
using MiddleTile = Tile<T, kSingle<T> ? 4 : 2, kSingle<T> ? 32 : 16>;

/// Elements from one row to the next where a warp gathers 8 rows of Y: 16 bytes more than a row, for the banks.
template <class T, int Groups>
constexpr int kRowPitch = 16 * Groups + Vector<T>::kLanes;

/// Elements of shared memory: the stages, and what rows of Y are gathered in, where they are.
template <class S, int Groups>
constexpr int kElementsOfStages = S::kStages*(S::kRows* S::kPitch + S::kDepth * 16 * Groups);
template <class T, class S, int Groups>
constexpr int kElementsGathered = Groups > 1 ? S::kThreadsOfBlock / 32 * 8 * kRowPitch<T, Groups> : 0;

/// Blocks per multiprocessor: as many as registers and shared memory hold.
template <class T, class S, int Groups>
constexpr int resident_blocks() {
  constexpr int kSumRegisters = S::kLaneRows * Groups * 4 * static_cast<int>(sizeof(T)) / 4,
                kBytes = static_cast<int>(sizeof(T)) *
                         (kElementsOfStages<S, Groups> + kElementsGathered<T, S, Groups>),
                kByRegisters = kSumRegisters <= 16   ? 6
                               : kSumRegisters <= 32 ? 4
                               : kSumRegisters <= 64 ? 3
                                                     : 2,
                kByShared = 228 * 1024 / (kBytes + 1024);
  return kByShared < kByRegisters ? kByShared : kByRegisters;
}

/// 8 rows that the lanes of a warp have left in `kept`, written a row at a time. The lanes hold 4 columns each: where rows of Y do not lie
/// on 16-byte boundaries, their own stores would touch each 32-byte sector up to 8 times.
template <class T, int Groups>
PLUMB_DEVICE void store_rows(const T* kept, Index first, Index end, Index j0, const Out<T>& out) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  __syncwarp();
#pragma unroll
  for (int r = 0; r < 8; ++r) {
#pragma unroll
    for (int c = lane; c < 16 * Groups; c += 32) {
      if (first + r < end && j0 + c < out.Y.cols)
        out.Y(first + r, j0 + c) = kept[r * kRowPitch<T, Groups> + c];
    }
  }
  __syncwarp();
}

/// Groups: of 16 columns. Wide: rows of X lie on 16-byte boundaries.
template <class T, class S, int Groups, bool Wide>
__global__ void __launch_bounds__(S::kThreadsOfBlock, resident_blocks<T, S, Groups>())
    skinny_stages(In<T> in, Out<T> out, bool wide_y) {
  constexpr int kColumns = 16 * Groups, kStage = S::kRows * S::kPitch + S::kDepth * kColumns;
  constexpr int kCopy = Wide ? S::kV : 1, kPerRow = S::kDepth / kCopy,
                kRowStep = S::kThreadsOfBlock / kPerRow;
  constexpr int kDepthStep = S::kThreadsOfBlock / kColumns;
  constexpr bool kGathers = Groups > 1;  // of up to 16 columns the lanes' own stores are as fast
  PLUMB_DYNAMIC_SHARED(T, shared);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const Index begin = out.Y.rows * blockIdx.x / gridDim.x,
              end = out.Y.rows * (blockIdx.x + Index{1}) / gridDim.x;
  const Index j0 = static_cast<Index>(blockIdx.y) * kColumns, depth = in.X.cols;
  const Index chunks = depth > 0 ? ceil_div(depth, S::kDepth) : 1,
              items = ceil_div(end - begin, S::kRows) * chunks;

  Index copy_row = begin, copy_k = 0, copied = 0;
  const auto start_copies = [&](T* stage) {
    if (copied < items) {
      const int k = thread % kPerRow * kCopy, my_row = thread / kPerRow;
      const Index within = depth - copy_k - k;
      const T* const first = in.X.data + copy_k + k;
      T* const to = stage + my_row * S::kPitch + k;
      if (copy_row + S::kRows <= end && within >= kCopy) {  // nothing to compare
        const T* from = first + (copy_row + my_row) * in.X.ld;
        const Index step = kRowStep * in.X.ld;
#pragma unroll 8
        for (int r = 0; r < S::kRows; r += kRowStep, from += step)
          copy_async<kCopy * sizeof(T)>(to + r * S::kPitch, from, kCopy * static_cast<int>(sizeof(T)));
      } else {
#pragma unroll 8
        for (int r = 0; r < S::kRows; r += kRowStep) {
          const Index row = copy_row + my_row + r;
          const bool mine = row < end;
          copy_inside<kCopy>(to + r * S::kPitch, first + (mine ? row : begin) * in.X.ld, mine ? within : 0,
                             in.X.data);
        }
      }
      T* const w = stage + S::kRows * S::kPitch;
      const Index j = j0 + thread % kColumns;
#pragma unroll
      for (int kw = thread / kColumns; kw < S::kDepth; kw += kDepthStep) {
        const bool inside = copy_k + kw < depth && j < in.W.cols;
        cp_async_zfill<sizeof(T)>(w + kw * kColumns + thread % kColumns,
                                  in.W.data + (inside ? (copy_k + kw) * in.W.ld + j : 0),
                                  inside ? static_cast<int>(sizeof(T)) : 0);
      }
      ++copied;
      copy_k += S::kDepth;
      if (copy_k >= depth) copy_k = 0, copy_row += S::kRows;
    }
    cp_async_commit();
  };

  for (int s = 0; s < S::kStages - 1; ++s) start_copies(shared + s * kStage);
  const int my_row = thread / 32 * 8 * S::kLaneRows + row_of_lane(lane), my_col = 4 * quarter_of_lane(lane);
  T sum[S::kLaneRows][Groups][4] = {};
  Index row = begin, chunk = 0;
  int reading = 0, writing = S::kStages - 1;
  for (Index item = 0; item < items; ++item) {
    cp_async_wait<S::kStages - 2>();
    __syncthreads();
    start_copies(shared + writing * kStage);  // into the stage that all left before this barrier
    const T* const x = shared + reading * kStage + my_row * S::kPitch;
    const T* const w = shared + reading * kStage + S::kRows * S::kPitch + my_col;
    writing = reading;
    reading = reading + 1 == S::kStages ? 0 : reading + 1;
#pragma unroll
    for (int k = 0; k < S::kDepth; k += S::kV) {
      Vector<T> xv[S::kLaneRows];
#pragma unroll
      for (int r = 0; r < S::kLaneRows; ++r)
        xv[r] = *reinterpret_cast<const Vector<T>*>(x + 8 * r * S::kPitch + k);
#pragma unroll
      for (int l = 0; l < S::kV; ++l) {
#pragma unroll
        for (int g = 0; g < Groups; ++g) {
          T wv[4];
#pragma unroll
          for (int c = 0; c < 4; c += S::kV) {
            const Vector<T> v = *reinterpret_cast<const Vector<T>*>(w + (k + l) * kColumns + 16 * g + c);
#pragma unroll
            for (int e = 0; e < S::kV; ++e) wv[c + e] = v.lane[e];
          }
#pragma unroll
          for (int r = 0; r < S::kLaneRows; ++r) {
#pragma unroll
            for (int c = 0; c < 4; ++c) sum[r][g][c] += xv[r].lane[l] * wv[c];
          }
        }
      }
    }
    if (++chunk < chunks) continue;
    T* const rows_of_warp = shared + S::kStages * kStage + thread / 32 * 8 * kRowPitch<T, Groups>;
#pragma unroll
    for (int r = 0; r < S::kLaneRows; ++r) {
      const Index i = row + my_row + 8 * r;
      T* const kept = rows_of_warp + my_row % 8 * kRowPitch<T, Groups> + my_col;
#pragma unroll
      for (int g = 0; g < Groups; ++g) {
#pragma unroll
        for (int c = 0; c < 4; c += S::kV) {
          const Index j = j0 + 16 * g + my_col + c;
          Vector<T> v;
#pragma unroll
          for (int e = 0; e < S::kV; ++e) v.lane[e] = sum[r][g][c + e], sum[r][g][c + e] = T(0);
          if (kGathers && !wide_y) {
            *reinterpret_cast<Vector<T>*>(kept + 16 * g + c) = v;
          } else if (i < end && wide_y && j + S::kV <= out.Y.cols) {
            store_vector<S::kV>(out.Y.data + i * out.Y.ld + j, v.lane);
          } else if (i < end) {
#pragma unroll
            for (int e = 0; e < S::kV; ++e) {
              if (j + e < out.Y.cols) out.Y(i, j + e) = v.lane[e];
            }
          }
        }
      }
      if (kGathers && !wide_y)
        store_rows<T, Groups>(rows_of_warp, row + my_row - my_row % 8 + 8 * r, end, j0, out);
    }
    chunk = 0;
    row += S::kRows;
  }
}

template <class S, int Groups, class T>
void start_stages(const In<T>& in, const Out<T>& out, Context& context) {
  constexpr std::size_t kStages = kElementsOfStages<S, Groups>, kGathered = kElementsGathered<T, S, Groups>;
  const Index tiles = ceil_div(out.Y.rows, S::kRows),
              resident = resident_blocks<T, S, Groups>() * static_cast<Index>(device_multiprocessors());
  const Grid grid(static_cast<unsigned>(tiles < resident ? tiles : resident),
                  static_cast<unsigned>(ceil_div(out.Y.cols, 16 * Groups)));
  const bool wide_y = rows_on_vectors(out.Y);
  launch(rows_on_vectors(in.X) ? skinny_stages<T, S, Groups, true> : skinny_stages<T, S, Groups, false>, grid,
         S::kThreadsOfBlock, sizeof(T) * (kStages + (wide_y ? 0 : kGathered)), context.stream, in, out,
         wide_y);
}

/// A number of columns, or of 16 of them, as a type.
template <int N>
struct Count {
  static constexpr int kOf = N;
};

/// Calls run(Count<groups of 16 columns that a block makes>).
template <class Call>
auto with_groups(Index columns, Call run) {
  return columns <= 16 ? run(Count<1>{}) : columns <= 32 ? run(Count<2>{}) : run(Count<4>{});
}

template <class S, class T>
void run_stages(const In<T>& in, const Out<T>& out, Context& context) {
  with_groups(out.Y.cols, [&](auto groups) { start_stages<S, groups.kOf>(in, out, context); });
}

}  // namespace skinny
}  // namespace plumb
