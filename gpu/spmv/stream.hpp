// CSR-Stream, the kernel of rung 7: blocks of whole rows whose entries fit shared memory. Apart from it
// because the adaptive rung picks it too.
#pragma once
#include "gpu/spmv/common.hpp"

namespace plumb {
namespace spmv {

constexpr int kStreamThreads = 256;
constexpr int kStreamTile = 2048;  // entries staged by a block, and the most rows it takes

/// Sums segments of a tile's staged products: segment j of [0, count) is at [begin(j), end(j)) of `staged`;
/// done(j, sum) is called by one thread each. One to 32 lanes work on a segment, by how many there are; all
/// threads of the block call it.
template <int Threads, class T, class Begin, class End, class Done>
PLUMB_DEVICE void sum_segments(Index count, const T* staged, Begin begin, End end, Done done) {
  int width = 32;
  while (width > 1 && count * width > Threads) width /= 2;
  const int lane = static_cast<int>(threadIdx.x) % width;
  // the trip count is the same for all threads: the shuffles need every lane
  for (Index base = 0; base < count; base += Threads / width) {
    const Index j = base + static_cast<int>(threadIdx.x) / width;
    const int stop = j < count ? static_cast<int>(end(j)) : 0;
    T sum = T(0);
    for (int s = j < count ? static_cast<int>(begin(j)) + lane : 0; s < stop; s += width) sum += staged[s];
    sum = sum_lanes(sum, width);
    if (j < count && lane == 0) done(j, sum);
  }
}

// starts[b]: first row i with row_ptr[i] + i >= b * kStreamTile. Counting a row as one more entry bounds the
// rows of a block too.
static __global__ void __launch_bounds__(kStreamThreads)
    spmv_stream_starts(const std::int32_t* row_ptr /* (rows + 1) */, Index rows,
                       Index* starts /* (tiles + 1) */, Index tiles) {
  const Index b = static_cast<Index>(blockIdx.x) * kStreamThreads + threadIdx.x;
  if (b > tiles) return;
  starts[b] = b == tiles
                  ? rows
                  : first_at_least(rows, b * kStreamTile, [row_ptr](Index i) { return row_ptr[i] + i; });
}

template <class T>
__global__ void __launch_bounds__(kStreamThreads)
    spmv_stream(Problem<T> p, In<T> in, Out<T> out, const Index* starts /* (blocks + 1) */) {
  __shared__ T staged[kStreamTile];
  __shared__ T scratch[kStreamThreads / 32];
  const Index first = starts[blockIdx.x], last = starts[blockIdx.x + 1];
  if (first == last) return;  // the whole block: a giant row lies across this tile
  const Index begin = in.A.row_ptr[first], end = in.A.row_ptr[last];
  // every row but the last ends within the tile; the last may be longer than any tile
  const Index last_begin = in.A.row_ptr[last - 1];
  const bool long_row = end - begin > kStreamTile || last - first == 1;
  const Index staged_end = long_row ? last_begin : end;
  stage_products<kStreamThreads>(in, begin, static_cast<int>(staged_end - begin), staged);
  __syncthreads();
  const Index rows = last - first - (long_row ? 1 : 0);
  sum_segments<kStreamThreads>(
      rows, staged, [&](Index j) { return in.A.row_ptr[first + j] - begin; },
      [&](Index j) { return in.A.row_ptr[first + j + 1] - begin; },
      [&](Index j, T sum) { finish_row(p, out.y.data, first + j, sum); });
  if (long_row) {
    T sum = T(0);
    for (Index k = last_begin + static_cast<Index>(threadIdx.x); k < end; k += kStreamThreads)
      sum += product(in, k);
    sum = sum_block<kStreamThreads>(sum, scratch);
    if (threadIdx.x == 0) finish_row(p, out.y.data, last - 1, sum);
  }
}

inline Index stream_tiles(Index rows, Index nnz) { return ceil_div(rows + nnz, kStreamTile); }

/// Where the row blocks start, in workspace: the plan of run_stream().
template <class T>
const Index* prepare_stream(const In<T>& in, Context& context) {
  const Index tiles = stream_tiles(in.A.rows, in.A.nnz);
  auto* starts = static_cast<Index*>(context.workspace((tiles + 1) * static_cast<Index>(sizeof(Index))));
  launch(spmv_stream_starts, ceil_div(tiles + 1, kStreamThreads), kStreamThreads, 0, context.stream,
         in.A.row_ptr, in.A.rows, starts, tiles);
  return starts;
}

template <class T>
void run_stream(const Index* starts, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                Context& context) {
  launch(spmv_stream<T>, stream_tiles(in.A.rows, in.A.nnz), kStreamThreads, 0, context.stream, p, in, out,
         starts);
}

}  // namespace spmv
}  // namespace plumb
