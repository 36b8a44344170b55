// The kernel of rung 11: a group of lanes streams the entries of neighbouring rows without a break between
// them. Apart from it because later rungs pick it too.
#pragma once
#include "gpu/spmm/split.hpp"

namespace plumb {
namespace spmm {

/// Rows [first, last), none of them cut.
struct alignas(8) Range {
  std::int32_t first, last;
};

struct Ranges {
  const Range* range = nullptr;  // (count)
  Index count = 0;
};

/// Neighbouring rows of at most `cut` entries, put together until entries and rows make up `share`.
inline Ranges prepare_ranges(const HostArray<std::int32_t>& row_ptr, Index cut, Index share,
                             Context& context) {
  const Index rows = row_ptr.size() - 1;
  Ranges ranges;
  const auto walk = [&](auto&& take) {
    Index first = 0, weight = 0, count = 0;
    for (Index i = 0; i < rows; ++i) {
      const Index length = row_ptr[i + 1] - row_ptr[i];
      const bool cut_row = length > cut;
      if (!cut_row) weight += length + 1;
      if (!cut_row && weight < share && i + 1 < rows) continue;
      const Index last = cut_row ? i : i + 1;
      if (last > first) take(count++, first, last);
      first = i + 1, weight = 0;
    }
    return count;
  };
  ranges.count = walk([](Index, Index, Index) {});
  HostArray<Range> range(ranges.count);
  walk([&range](Index at, Index first, Index last) {
    range[at] = {static_cast<std::int32_t>(first), static_cast<std::int32_t>(last)};
  });
  ranges.range = upload(range, context);
  return ranges;
}

// Batches of entries cross row ends: a row that is complete is stored while the next rows of B are in flight.
// The indices and values of a batch are asked for one batch ahead.
template <class T, int V, int Lanes, int Batch, bool Apart>
__global__ void __launch_bounds__(kRowThreads, Apart                                ? 6
                                               : sizeof(scalar_t<T>) == 4 && V <= 4 ? 10
                                                                                    : 8)
    spmm_ranges(In<T> in, Out<T> out, Rows<T> work, Ranges ranges) {
  const int lanes = Lanes > 0 ? Lanes : work.lanes, lane = static_cast<int>(threadIdx.x) % 32;
  const Index column = first_column<V, Apart>(work, lane, lanes), columns_left = in.B.cols - column;
  const bool inside = columns_left > 0;
  let_dependent_begin();
  if (blockIdx.x < work.part_blocks)
    return sum_part<V, Lanes, Batch, Apart>(in, out, work, column, inside, lane);
  const Index at = team_of(work, lanes);
  if (at >= ranges.count || !inside) return;
  const Range range = ranges.range[at];
  const std::int32_t* row_ptr = in.A.row_ptr;
  const unsigned end = __ldg(row_ptr + range.last);
  unsigned k = __ldg(row_ptr + range.first), row_end = __ldg(row_ptr + range.first + 1);
  std::int32_t row = range.first;
  using S = scalar_t<T>;
  out_t<T>* c = out.C.data + row * out.C.ld + column;
  const in_t<T>* b = in.B.data + column;
  std::int32_t col[Batch];
  S val[Batch], sum[V] = {};
  const auto fetch = [&](unsigned ahead, S(&values)[Batch]) {  // of the batch `ahead` entries after k
#pragma unroll
    for (int u = 0; u < Batch; ++u) {
      values[u] = 0;
      if (k + ahead + u < end)
        col[u] = __ldg(in.A.col + k + ahead + u), values[u] = load_value(in.A.val + k + ahead + u);
    }
  };
  // stores the rows that end at entry `reached`; empty ones too
  const auto finish_rows = [&](unsigned reached) {
    while (row_end == reached && row < range.last) {
      store_columns<V, Apart>(c, sum, lanes, columns_left);
      c += out.C.ld;
#pragma unroll
      for (int v = 0; v < V; ++v) sum[v] = 0;
      if (++row < range.last) row_end = __ldg(row_ptr + row + 1);
    }
  };
  fetch(0, val);
  finish_rows(k);
  for (; k < end; k += Batch) {
    Pack<in_t<T>, V> x[Batch];
#pragma unroll
    for (int u = 0; u < Batch; ++u) {
      if (k + u < end)
        x[u] = load_columns<V, Apart>(b + static_cast<Index>(col[u]) * in.B.ld, lanes, columns_left);
    }
    S next[Batch];
    fetch(Batch, next);
#pragma unroll
    for (int u = 0; u < Batch; ++u) {
      if (k + u < end) {
#pragma unroll
        for (int v = 0; v < V; ++v) sum[v] += val[u] * value(x[u].at[v]);
        finish_rows(k + u + 1);
      }
    }
#pragma unroll
    for (int u = 0; u < Batch; ++u) val[u] = next[u];
  }
}

template <class T, int V, int Lanes, bool Apart = false>
void launch_ranges(const Rows<T>& work, const Ranges& ranges, const In<T>& in, const Out<T>& out,
                   Context& context) {
  launch_panels<V>(spmm_ranges<T, V, Lanes, 4, Apart>, ceil_div(ranges.count * work.lanes, kRowThreads), work,
                   in, out, context, ranges);
}

/// What streaming rows needs of a plan; `work` says the lanes and what is cut.
template <class T>
struct StreamPlan {
  Rows<T> work;
  Split split;
  Ranges ranges;
};

constexpr Index kStreamCut = 64, kStreamPart = 256;  // entries

/// Entries and rows of a range: fewer where a warp has many ranges side by side and ends with the longest.
inline Index stream_share(int lanes) { return lanes <= 8 ? 16 : 32; }

template <class T>
StreamPlan<T>* prepare_stream(int lanes, const In<T>& in, const Out<T>& out, Context& context) {
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, context.stream);
  auto* plan = new StreamPlan<T>;
  plan->work.lanes = lanes;
  plan->split = prepare_split(row_ptr, kStreamCut, kStreamPart, context);
  plan->ranges = prepare_ranges(row_ptr, kStreamCut, stream_share(lanes), context);
  take_split(plan->split, out.C.cols, plan->work, context);
  return plan;
}

template <class T>
void run_ranges(int v, const StreamPlan<T>& plan, const In<T>& in, const Out<T>& out, Context& context) {
  const Rows<T>& work = plan.work;
  constexpr int kV = kPackOf<in_t<T>>;
  if (v == kV && work.lanes == 4)
    launch_ranges<T, kV, 4>(work, plan.ranges, in, out, context);
  else if (v == kV && work.lanes == 8)
    launch_ranges<T, kV, 8>(work, plan.ranges, in, out, context);
  else if (v == kV && work.lanes == 16)
    launch_ranges<T, kV, 16>(work, plan.ranges, in, out, context);
  else if (v == kV && work.lanes == 32)
    launch_ranges<T, kV, 32>(work, plan.ranges, in, out, context);
  else if (v == kV)
    launch_ranges<T, kV, 0>(work, plan.ranges, in, out, context);
  else if (v == 4 && kV > 4)
    launch_ranges<T, (kV > 4 ? 4 : kV), 0>(work, plan.ranges, in, out, context);
  else if (v == 2)
    launch_ranges<T, 2, 0>(work, plan.ranges, in, out, context);
  else if (columns_of_lane(v, work.lanes, out.C.cols) == 2)
    launch_ranges<T, 2, 32, true>(work, plan.ranges, in, out, context);
  else if (columns_of_lane(v, work.lanes, out.C.cols) == 4)
    launch_ranges<T, 4, 32, true>(work, plan.ranges, in, out, context);
  else
    launch_ranges<T, 1, 0>(work, plan.ranges, in, out, context);
  join_parts(plan.split, work, out, context);
}

}  // namespace spmm
}  // namespace plumb
