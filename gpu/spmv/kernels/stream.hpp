// CSR-Stream, the kernel of rung 7: blocks of whole rows whose entries fit shared memory. Apart from it
// because the adaptive rung picks it too.
#pragma once
#include "gpu/common/async_copy.hpp"
#include "gpu/spmv/common.hpp"

namespace plumb {
namespace spmv {

constexpr int kStreamThreads = 128;
constexpr int kStreamTile = 1024;  // entries and rows of a tile, but for what its last row has beyond it
constexpr int kStreamBeyond = 64;  // of those a block stages too; a longer last row is summed by itself

/// From so many products for each lane of its group on, all lanes of the warp sum a segment.
constexpr int kLongSegment = 16;

/// Sums segments of a tile's staged products: segment j of [0, count) is at [begin(j), end(j)) of `staged`;
/// done(j, sum) is called by one thread each. One to 32 lanes work on a segment, by how many there are, and on a long one the whole warp;
/// all threads of the block call it.
template <int Threads, class T, class Begin, class End, class Done>
PLUMB_DEVICE void sum_segments(Index count, const T* staged, Begin begin, End end, Done done) {
  int width = 32;
  while (width > 1 && count * width > Threads) width /= 2;
  const int in_warp = static_cast<int>(threadIdx.x) % 32, lane = in_warp % width;
  // the trip count is the same for all threads: the shuffles need every lane
  for (Index base = 0; base < count; base += Threads / width) {
    const Index j = base + static_cast<int>(threadIdx.x) / width;
    const int first = j < count ? static_cast<int>(begin(j)) : 0,
              stop = j < count ? static_cast<int>(end(j)) : 0;
    const bool by_warp = width < 32 && stop - first > kLongSegment * width;
    T sum = T(0);
    for (int s = first + lane; s < stop && !by_warp; s += width) sum += staged[s];
    sum = sum_lanes(sum, width);
    for (unsigned left = __ballot_sync(kAllLanes, by_warp && lane == 0); left != 0; left &= left - 1) {
      const int of = __ffs(static_cast<int>(left)) - 1, from = __shfl_sync(kAllLanes, first, of),
                to = __shfl_sync(kAllLanes, stop, of);
      T all = T(0);
      for (int s = from + in_warp; s < to; s += 32) all += staged[s];
      all = sum_lanes(all, 32);
      if (in_warp == of) sum = all;
    }
    if (j < count && lane == 0) done(j, sum);
  }
}

/// Where a tile starts: its first row, and that row's first entry.
struct alignas(16) StreamStart {
  Index row, entry;
};

// starts[b]: the first row i with row_ptr[i] + i >= b * kStreamTile. Counting a row as one more entry bounds the
// rows of a block too.
static __global__ void __launch_bounds__(kStreamThreads)
    spmv_stream_starts(const std::int32_t* row_ptr /* (rows + 1) */, Index rows,
                       StreamStart* starts /* (tiles + 1) */, Index tiles) {
  const Index b = static_cast<Index>(blockIdx.x) * kStreamThreads + threadIdx.x;
  if (b > tiles) return;
  const Index row =
      b == tiles ? rows
                 : first_at_least(rows, b * kStreamTile, [row_ptr](Index i) { return row_ptr[i] + i; });
  starts[b] = {row, row_ptr[row]};
}

/// Entries and rows that a block has in shared memory: of an entry its product, of a row where it begins and, if that counts, its y.
constexpr int kStreamSlots = kStreamTile + kStreamBeyond;
template <class S, bool WithY>
constexpr int kStreamStaged = WithY ? kStreamSlots + kStreamSlots * 4 / static_cast<int>(sizeof(S)) + 1
                                    : kStreamSlots + 1;

// What a row ends with, row_ptr and y, is on its way to shared memory while the products are made: read after the barrier, they would
// each wait for memory once more.
template <class T, bool WithY>
__global__ void __launch_bounds__(kStreamThreads)
    spmv_stream(Problem<T> p, In<T> in, Out<T> out, const StreamStart* starts /* (blocks + 1) */) {
  using S = scalar_t<T>;
  __shared__ S staged[kStreamStaged<S, WithY>];  // products, then y, then where rows begin
  __shared__ S scratch[kStreamThreads / 32];
  const StreamStart start = starts[blockIdx.x], stop = starts[blockIdx.x + 1];
  const Index first = start.row, last = stop.row, begin = start.entry, end = stop.entry;
  if (first == last) return;  // the whole block: a giant row lies across this tile
  // every row but the last ends within the tile
  const bool long_row = end - begin + last - first > kStreamSlots;
  const int rows = static_cast<int>(last - first) - (long_row ? 1 : 0);
  const Index staged_end = long_row ? in.A.row_ptr[last - 1] : end;
  const int count = static_cast<int>(staged_end - begin);
  S* old = staged + count;
  auto* begins = reinterpret_cast<std::int32_t*>(WithY ? old + rows : old);
  for (int j = static_cast<int>(threadIdx.x); j <= rows; j += kStreamThreads)
    copy_async<4>(begins + j, in.A.row_ptr + first + j, 4);
  if constexpr (WithY) {
    for (int j = static_cast<int>(threadIdx.x); j < rows; j += kStreamThreads) {
      if constexpr (kHoldsSums<T>)
        copy_async<static_cast<int>(sizeof(S))>(old + j, out.y.data + first + j, static_cast<int>(sizeof(S)));
      else
        old[j] = value(out.y.data[first + j]);
    }
  }
  stage_products<kStreamThreads>(in, begin, count, staged);
  cp_async_commit();
  cp_async_wait<0>();
  __syncthreads();
  sum_segments<kStreamThreads>(
      rows, staged, [&](Index j) { return begins[j] - begin; },
      [&](Index j) { return begins[j + 1] - begin; },
      [&](Index j, S sum) { finish_row(p, out.y.data, first + j, sum, WithY ? old[j] : S(0)); });
  if (long_row) {
    S sum = 0;
    for (Index k = staged_end + static_cast<Index>(threadIdx.x); k < end; k += kStreamThreads)
      sum += product(in, k);
    sum = sum_block<kStreamThreads>(sum, scratch);
    if (threadIdx.x == 0) finish_row(p, out.y.data, last - 1, sum);
  }
}

inline Index stream_tiles(Index rows, Index nnz) { return ceil_div(rows + nnz, kStreamTile); }

/// Where the row blocks start, in workspace: the plan of run_stream().
template <class T>
const StreamStart* prepare_stream(const In<T>& in, Context& context) {
  const Index tiles = stream_tiles(in.A.rows, in.A.nnz);
  auto* starts =
      static_cast<StreamStart*>(context.workspace((tiles + 1) * static_cast<Index>(sizeof(StreamStart))));
  launch(spmv_stream_starts, ceil_div(tiles + 1, kStreamThreads), kStreamThreads, 0, context.stream,
         in.A.row_ptr, in.A.rows, starts, tiles);
  return starts;
}

template <class T>
void run_stream(const StreamStart* starts, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                Context& context) {
  const auto kernel = p.beta == scalar_t<T>(0) ? spmv_stream<T, false> : spmv_stream<T, true>;
  launch(kernel, stream_tiles(in.A.rows, in.A.nnz), kStreamThreads, 0, context.stream, p, in, out, starts);
}

}  // namespace spmv
}  // namespace plumb
