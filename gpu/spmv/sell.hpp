// SELL-C-sigma: slices of 32 rows, as wide as their longest, rows sorted by length within windows of 1024; conversion
// and kernel. Apart from rung 16 because the adaptive rung picks it too.
#pragma once
#include <algorithm>

#include "gpu/spmv/features.hpp"

namespace plumb {
namespace spmv {

constexpr int kSellThreads = 256;
constexpr int kSellSlice = 32;       // C: one warp
constexpr Index kSellWindow = 1024;  // sigma

template <class T>
struct Sell {
  Index slices = 0;
  const Index* start = nullptr;         // (slices + 1), in entries
  const std::int32_t* order = nullptr;  // (slices * 32): row at each place, -1 past the last
  std::int32_t* col = nullptr;  // (start[slices]), slot-major within a slice; -1 where there is no entry
  T* val = nullptr;
};

/// Rows in order of falling length within windows; equal lengths keep their order.
inline void sort_rows(const HostArray<std::int32_t>& row_ptr, HostArray<std::int32_t>& order) {
  const Index rows = row_ptr.size() - 1;
  for (Index i = 0; i < order.size(); ++i) order[i] = i < rows ? static_cast<std::int32_t>(i) : -1;
  for (Index begin = 0; begin < rows; begin += kSellWindow) {
    const Index end = begin + kSellWindow < rows ? begin + kSellWindow : rows;
    std::stable_sort(order.data() + begin, order.data() + end, [&](std::int32_t a, std::int32_t b) {
      return row_ptr[a + 1] - row_ptr[a] > row_ptr[b + 1] - row_ptr[b];
    });
  }
}

/// start (slices + 1); returns the number of slots.
inline Index place_slices(const HostArray<std::int32_t>& row_ptr, const HostArray<std::int32_t>& order,
                          HostArray<Index>& start) {
  Index slots = 0;
  for (Index s = 0; s + 1 < start.size(); ++s) {
    start[s] = slots;
    Index width = 0;
    for (Index r = s * kSellSlice; r < (s + 1) * kSellSlice; ++r) {
      if (order[r] < 0) continue;
      const Index length = row_ptr[order[r] + 1] - row_ptr[order[r]];
      width = length > width ? length : width;
    }
    slots += width * kSellSlice;
  }
  start[start.size() - 1] = slots;
  return slots;
}

template <class T>
__global__ void __launch_bounds__(kSellThreads) spmv_sell_fill(In<T> in, Sell<T> sell) {
  const Index at = static_cast<Index>(blockIdx.x) * kSellThreads + threadIdx.x, slice = at / kSellSlice;
  if (slice >= sell.slices) return;
  const Index lane = at % kSellSlice, width = (sell.start[slice + 1] - sell.start[slice]) / kSellSlice;
  const std::int32_t i = sell.order[at];
  const Index begin = i < 0 ? 0 : in.A.row_ptr[i], length = i < 0 ? 0 : in.A.row_ptr[i + 1] - begin;
  for (Index s = 0; s < width; ++s) {
    const Index to = sell.start[slice] + s * kSellSlice + lane;
    sell.col[to] = s < length ? in.A.col[begin + s] : -1;
    sell.val[to] = s < length ? in.A.val[begin + s] : T(0);
  }
}

template <class T>
__global__ void __launch_bounds__(kSellThreads) spmv_sell(Problem<T> p, In<T> in, Out<T> out, Sell<T> sell) {
  const Index at = static_cast<Index>(blockIdx.x) * kSellThreads + threadIdx.x, slice = at / kSellSlice;
  if (slice >= sell.slices) return;
  const Index end = sell.start[slice + 1];
  // Four slots at a time, so that their gathers overlap; entries are read once, and leave the second-level cache first.
  constexpr int kBatch = 4;
  T sum = T(0);
  Index k = sell.start[slice] + at % kSellSlice;
  for (; k + (kBatch - 1) * kSellSlice < end; k += kBatch * kSellSlice) {
    std::int32_t c[kBatch];
    T v[kBatch], gathered[kBatch];
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      c[u] = __ldcs(sell.col + k + u * kSellSlice);
      v[u] = __ldcs(sell.val + k + u * kSellSlice);
    }
#pragma unroll
    for (int u = 0; u < kBatch; ++u) gathered[u] = c[u] >= 0 ? __ldg(in.x.data + c[u]) : T(0);
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      if (c[u] >= 0) sum += v[u] * gathered[u];
    }
  }
  for (; k < end; k += kSellSlice) {
    const std::int32_t c = __ldcs(sell.col + k);
    if (c >= 0) sum += __ldcs(sell.val + k) * __ldg(in.x.data + c);
  }
  const std::int32_t i = sell.order[at];
  if (i >= 0) finish_row(p, out.y.data, i, sum);
}

/// Null, or why the format would explode.
template <class T>
const char* sell_refused(const In<T>& in) {
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, nullptr);
  const Index slices = ceil_div(in.A.rows, kSellSlice);
  HostArray<std::int32_t> order(slices * kSellSlice);
  HostArray<Index> start(slices + 1);
  sort_rows(row_ptr, order);
  return explodes(place_slices(row_ptr, order, start), in.A.rows, in.A.nnz)
             ? "SELL-C-sigma would pad to more than three times the entries: a giant row widens its slice"
             : nullptr;
}

/// The conversion; the arrays are workspace of `context`.
template <class T>
Sell<T> prepare_sell(const In<T>& in, Context& context) {
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, context.stream);
  Sell<T> sell;
  sell.slices = ceil_div(in.A.rows, kSellSlice);
  HostArray<std::int32_t> order(sell.slices * kSellSlice);
  HostArray<Index> start(sell.slices + 1);
  sort_rows(row_ptr, order);
  const Index slots = place_slices(row_ptr, order, start);
  sell.start = upload(start, context);
  sell.order = upload(order, context);
  sell.col = workspace_of<std::int32_t>(slots, context);
  sell.val = workspace_of<T>(slots, context);
  launch(spmv_sell_fill<T>, ceil_div(sell.slices * kSellSlice, kSellThreads), kSellThreads, 0, context.stream,
         in, sell);
  return sell;
}

template <class T>
void run_sell(const Sell<T>& sell, const Problem<T>& p, const In<T>& in, const Out<T>& out,
              Context& context) {
  launch(spmv_sell<T>, ceil_div(sell.slices * kSellSlice, kSellThreads), kSellThreads, 0, context.stream, p,
         in, out, sell);
}

}  // namespace spmv
}  // namespace plumb
