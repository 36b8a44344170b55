// The merge-path kernels of rung 12. Apart from it because the adaptive rung picks them too.
//
// The path merges row ends with entries: rows + nnz steps, of which every block takes 2048 and every thread
// 8. A step down finishes a row, a step right takes an entry. What a thread has of a row that it does not
// finish goes to the next thread by a segmented scan; what a block has of one goes to a carry that a second
// kernel adds.
#pragma once
#include "gpu/spmv/common.hpp"

namespace plumb {
namespace spmv {

constexpr int kMergeThreads = 256;
constexpr int kMergeSteps = 8;  // per thread
constexpr int kMergeTile = kMergeThreads * kMergeSteps;

/// Where diagonal d crosses the path: rows finished before it; the rest of d are entries. row_end(i) is
/// row_ptr[i + 1].
template <class RowEnd>
PLUMB_DEVICE Index merge_search(Index d, Index rows, Index nnz, RowEnd row_end) {
  Index low = d > nnz ? d - nnz : 0, high = d < rows ? d : rows;
  while (low < high) {
    const Index middle = (low + high) / 2;
    if (row_end(middle) <= d - middle - 1)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static __global__ void __launch_bounds__(kMergeThreads)
    spmv_merge_starts(const std::int32_t* row_ptr /* (rows + 1) */, Index rows, Index nnz,
                      Index* starts /* (tiles + 1) */, Index tiles) {
  const Index b = static_cast<Index>(blockIdx.x) * kMergeThreads + threadIdx.x;
  if (b > tiles) return;
  const Index d = b * kMergeTile < rows + nnz ? b * kMergeTile : rows + nnz;
  starts[b] = merge_search(d, rows, nnz, [row_ptr](Index i) { return static_cast<Index>(row_ptr[i + 1]); });
}

template <class T>
__global__ void __launch_bounds__(kMergeThreads)
    spmv_merge_path(Problem<T> p, In<T> in, Out<T> out, const Index* starts /* (blocks + 1) */,
                    Carries<T> carries) {
  using S = scalar_t<T>;
  __shared__ S staged[kMergeTile];
  __shared__ std::int32_t row_end[kMergeTile];  // of the block's rows, counted from its first entry
  __shared__ S warp_tail[kMergeThreads / 32];
  __shared__ int warp_ended[kMergeThreads / 32];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const Index steps = in.A.rows + in.A.nnz, begin_step = static_cast<Index>(blockIdx.x) * kMergeTile;
  const int tile = static_cast<int>(steps - begin_step < kMergeTile ? steps - begin_step : kMergeTile);
  const Index first_row = starts[blockIdx.x], first_entry = begin_step - first_row;
  const int rows = static_cast<int>(starts[blockIdx.x + 1] - first_row), entries = tile - rows;
  stage_products<kMergeThreads>(in, first_entry, entries, staged);
  for (int r = thread; r < rows; r += kMergeThreads)
    row_end[r] = static_cast<std::int32_t>(in.A.row_ptr[first_row + r + 1] - first_entry);
  __syncthreads();

  // this thread's part of the block's path
  const int from = thread * kMergeSteps < tile ? thread * kMergeSteps : tile;
  const int to = from + kMergeSteps < tile ? from + kMergeSteps : tile;
  int low = from > entries ? from - entries : 0, high = from < rows ? from : rows;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (row_end[middle] <= from - middle - 1)
      low = middle + 1;
    else
      high = middle;
  }
  int r = low, s = from - low;
  const int head_row = r;
  S head = 0,
    tail = 0;  // of the first row finished here, which earlier threads have begun; of the row left over
  bool ended = false;
  for (int step = from; step < to; ++step) {
    if (r < rows && row_end[r] <= s) {
      if (ended)
        finish_row(p, out.y.data, first_row + r, tail);
      else
        head = tail;
      ended = true;
      tail = 0;
      ++r;
    } else {
      tail += staged[s++];
    }
  }

  // the carry from the threads before: the sum of their tails back to the last one that ended a row.
  // Inclusive scan in the warp, then over the warps, always in the same order.
  S scan = tail;
  int scan_ended = ended ? 1 : 0;
  for (int d = 1; d < 32; d *= 2) {
    const S before = __shfl_up_sync(kAllLanes, scan, d);
    const int before_ended = __shfl_up_sync(kAllLanes, scan_ended, d);
    if (lane >= d) {
      if (scan_ended == 0) scan += before;
      scan_ended |= before_ended;
    }
  }
  if (lane == 31) warp_tail[warp] = scan, warp_ended[warp] = scan_ended;
  S incoming = __shfl_up_sync(kAllLanes, scan, 1);
  int incoming_ended = __shfl_up_sync(kAllLanes, scan_ended, 1);
  if (lane == 0) incoming = 0, incoming_ended = 0;
  __syncthreads();
  S from_warps = 0;
  for (int w = 0; w < warp; ++w) from_warps = warp_ended[w] != 0 ? warp_tail[w] : from_warps + warp_tail[w];
  if (incoming_ended == 0) incoming = from_warps + incoming;
  if (ended) {
    if (!kHoldsSums<T> && head_row == 0 && in.A.row_ptr[first_row] < first_entry)
      carries.own[blockIdx.x] = incoming + head;
    else
      finish_row(p, out.y.data, first_row + head_row, incoming + head);
  }

  if (thread == kMergeThreads - 1) {
    const Index row = first_row + rows;
    // nothing to carry where the next row has no entry in this block
    const int last_end = rows > 0 ? row_end[rows - 1] : 0;
    carries.carry[blockIdx.x] = {row < in.A.rows && last_end < entries ? row : -1,
                                 ended ? tail : incoming + tail};
  }
}

inline Index merge_tiles(Index rows, Index nnz) { return ceil_div(rows + nnz, kMergeTile); }

template <class T>
struct MergePlan {
  Index* starts;  // (tiles + 1)
  Carries<T> carries;
};

template <class T>
MergePlan<T> prepare_merge_path(const In<T>& in, Context& context) {
  const Index tiles = merge_tiles(in.A.rows, in.A.nnz);
  MergePlan<T> plan{};
  plan.starts = static_cast<Index*>(context.workspace((tiles + 1) * static_cast<Index>(sizeof(Index))));
  plan.carries = make_carries<T>(tiles, context);
  launch(spmv_merge_starts, ceil_div(tiles + 1, kMergeThreads), kMergeThreads, 0, context.stream,
         in.A.row_ptr, in.A.rows, in.A.nnz, plan.starts, tiles);
  return plan;
}

template <class T>
void run_merge_path(const MergePlan<T>& plan, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                    Context& context) {
  const Index tiles = merge_tiles(in.A.rows, in.A.nnz);
  launch(spmv_merge_path<T>, tiles, kMergeThreads, 0, context.stream, p, in, out, plan.starts, plan.carries);
  add_carries<Owner::behind>(p, plan.carries, out, context);
}

}  // namespace spmv
}  // namespace plumb
