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
  in_t<T>* val = nullptr;
};

constexpr int kSortThreads = kSellWindow / 2;
constexpr unsigned long long kNoRow = ~0ull;

// A block per window: its rows in the order of falling lengths, equal lengths as they were, by a bitonic sort of (length, row) in shared
// memory. The first row of a slice is its longest then.
static __global__ void __launch_bounds__(kSortThreads)
    spmv_sell_sort(const std::int32_t* row_ptr /* (rows + 1) */, Index rows, Index slices,
                   std::int32_t* order /* (slices * 32) */, std::int32_t* width /* (slices) */) {
  __shared__ unsigned long long key[kSellWindow];
  const Index base = static_cast<Index>(blockIdx.x) * kSellWindow;
  const int t = static_cast<int>(threadIdx.x);
  for (int r = t; r < kSellWindow; r += kSortThreads) {
    const Index i = base + r;
    const auto length = i < rows ? static_cast<unsigned>(row_ptr[i + 1] - row_ptr[i]) : 0u;
    key[r] = i < rows ? static_cast<unsigned long long>(~length) << 32 | static_cast<unsigned>(r) : kNoRow;
  }
  for (int size = 2; size <= kSellWindow; size *= 2) {
    for (int d = size / 2; d > 0; d /= 2) {
      __syncthreads();
      const int low = 2 * t - t % d, high = low + d;  // the pairs that lie d apart
      const bool rising = (low & size) == 0;
      const unsigned long long a = key[low], b = key[high];
      if ((a > b) == rising) key[low] = b, key[high] = a;
    }
  }
  __syncthreads();
  for (int r = t; r < kSellWindow; r += kSortThreads) {
    const Index place = base + r, slice = place / kSellSlice;
    if (slice >= slices) return;
    order[place] = key[r] == kNoRow ? -1 : static_cast<std::int32_t>(base + static_cast<unsigned>(key[r]));
    if (place % kSellSlice == 0)
      width[slice] = key[r] == kNoRow ? 0 : static_cast<std::int32_t>(~static_cast<unsigned>(key[r] >> 32));
  }
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
    sell.val[to] = s < length ? in.A.val[begin + s] : in_t<T>{};
  }
}

template <class T>
__global__ void __launch_bounds__(kSellThreads) spmv_sell(Problem<T> p, In<T> in, Out<T> out, Sell<T> sell) {
  const Index at = static_cast<Index>(blockIdx.x) * kSellThreads + threadIdx.x, slice = at / kSellSlice;
  if (slice >= sell.slices) return;
  // Asked for first: what a row ends with would else wait for its sum.
  const std::int32_t i = sell.order[at];
  using S = scalar_t<T>;
  const S old = i >= 0 && p.beta != S(0) ? value(out.y.data[i]) : S(0);
  const Index end = sell.start[slice + 1];
  // Four slots at a time, so that their gathers overlap; entries are read once, and leave the second-level cache first.
  constexpr int kBatch = 4;
  S sum = 0;
  Index k = sell.start[slice] + at % kSellSlice;
  for (; k < end; k += kBatch * kSellSlice) {
    std::int32_t c[kBatch];
    S v[kBatch], gathered[kBatch];
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      c[u] = -1;
      if (k + u * kSellSlice < end)
        c[u] = __ldcs(sell.col + k + u * kSellSlice), v[u] = load_value_once(sell.val + k + u * kSellSlice);
    }
#pragma unroll
    for (int u = 0; u < kBatch; ++u) gathered[u] = c[u] >= 0 ? load_value(in.x.data + c[u]) : S(0);
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      if (c[u] >= 0) sum += v[u] * gathered[u];
    }
  }
  if (i >= 0) finish_row(p, out.y.data, i, sum, old);
}

/// Slots of all slices, as wide as their longest rows; of every `stride`th window, in proportion, where that is not 1.
inline Index slots_of(const HostArray<std::int32_t>& row_ptr, Index stride = 1) {
  const Index rows = row_ptr.size() - 1;
  HostArray<std::int32_t> length(kSellWindow);
  Index slots = 0, seen = 0;
  for (Index begin = 0; begin < rows; begin += stride * kSellWindow) {
    const Index count = begin + kSellWindow < rows ? kSellWindow : rows - begin;
    for (Index r = 0; r < count; ++r)
      length[r] = row_ptr[begin + r] - row_ptr[begin + r + 1];  // the longest first
    std::sort(length.data(), length.data() + count);
    for (Index r = 0; r < count; r += kSellSlice) slots -= static_cast<Index>(length[r]) * kSellSlice;
    seen += count;
  }
  if (stride == 1) return slots;
  return static_cast<Index>(static_cast<double>(slots) * static_cast<double>(rows) /
                            static_cast<double>(seen));
}

/// Null, or why the format would explode.
template <class T>
const char* sell_refused(const In<T>& in) {
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, nullptr);
  return explodes(slots_of(row_ptr), in.A.rows, in.A.nnz)
             ? "SELL-C-sigma would pad to more than three times the entries: a giant row widens its slice"
             : nullptr;
}

/// The conversion, on the device but for the sum of the slices' widths; the arrays are workspace of `context`.
template <class T>
Sell<T> prepare_sell(const In<T>& in, Context& context) {
  Sell<T> sell;
  sell.slices = ceil_div(in.A.rows, kSellSlice);
  auto* order = workspace_of<std::int32_t>(sell.slices * kSellSlice, context);
  auto* width = workspace_of<std::int32_t>(sell.slices, context);
  launch(spmv_sell_sort, ceil_div(in.A.rows, kSellWindow), kSortThreads, 0, context.stream, in.A.row_ptr,
         in.A.rows, sell.slices, order, width);
  const HostCopy<std::int32_t> widths(width, sell.slices, context.stream);
  HostArray<Index> start(sell.slices + 1);
  start[0] = 0;
  for (Index s = 0; s < sell.slices; ++s)
    start[s + 1] = start[s] + static_cast<Index>(widths[s]) * kSellSlice;
  const Index slots = start[sell.slices];
  sell.start = upload(start, context);
  sell.order = order;
  sell.col = workspace_of<std::int32_t>(slots, context);
  sell.val = workspace_of<in_t<T>>(slots, context);
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
