// The body of rungs 4 and 6: pieces of a row by blocks, added in their order by a second kernel. Header only.
#pragma once
#include "gpu/device/dependent_launch.hpp"
#include "gpu/device/memory.hpp"
#include "gpu/gemv/vector_loads.hpp"

namespace plumb {
namespace gemv {

constexpr int kSplitThreads = 256;
constexpr Index kLeastPiece = 4096;  // columns: below, a second kernel costs more than the piece saves
constexpr int kBlocksPerMultiprocessor = 4;

// Block number row * pieces + piece. With one piece y is finished here, else the piece's sum is left in
// `partial`.
template <class T, class V>
__global__ void __launch_bounds__(kSplitThreads)
    gemv_column_split(Problem<T> p, In<T> in, Out<T> out, Index pieces, Index piece_columns,
                      T* partial /* (rows, pieces) */) {
  __shared__ T scratch[kSplitThreads / 32];
  let_dependent_begin();
  const Index i = blockIdx.x / pieces, piece = blockIdx.x % pieces;
  const Index cols = columns(p, in);
  const Index begin = piece * piece_columns < cols ? piece * piece_columns : 0;
  const Index end =
      piece * piece_columns < cols ? (begin + piece_columns < cols ? begin + piece_columns : cols) : 0;
  const T share = dot_share<V>(in.A.data + i * in.A.ld, in.x.data, begin, end, static_cast<int>(threadIdx.x),
                               kSplitThreads);
  const T sum = sum_block<kSplitThreads>(share, scratch);
  if (threadIdx.x != 0) return;
  if (pieces == 1)
    finish_row(p, out.y.data, i, sum);
  else
    partial[i * pieces + piece] = sum;
}

template <class T>
__global__ void __launch_bounds__(kSplitThreads)
    gemv_add_pieces(Problem<T> p, Out<T> out, Index pieces, const T* partial /* (rows, pieces) */) {
  const Index i = (static_cast<Index>(blockIdx.x) * kSplitThreads + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (i >= out.y.size) return;  // whole warps
  T sum = T(0);
  wait_for_primary();
  for (Index piece = lane; piece < pieces; piece += 32) sum += partial[i * pieces + piece];
  sum = sum_lanes(sum);
  if (lane == 0) finish_row(p, out.y.data, i, sum);
}

/// How many pieces a row has: as many as fill the chip, none too short.
struct Pieces {
  Index count, columns;
};
inline Pieces pieces_of(Index rows, Index cols) {
  Index count = static_cast<Index>(kBlocksPerMultiprocessor) * device_multiprocessors() / rows;
  const Index most = cols / kLeastPiece;
  if (count > most) count = most;
  if (count < 1) count = 1;
  constexpr Index kWhole = 4;  // so that every piece starts on a 16-byte boundary
  return {count, ceil_div(ceil_div(cols, count), kWhole) * kWhole};
}

template <class V, class T>
void run_column_split(Pieces pieces, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                      Context& context) {
  const Index rows = in.A.rows;
  T* partial = pieces.count == 1
                   ? nullptr
                   : static_cast<T*>(context.workspace(rows * pieces.count * static_cast<Index>(sizeof(T))));
  launch(gemv_column_split<T, V>, rows * pieces.count, kSplitThreads, 0, context.stream, p, in, out,
         pieces.count, pieces.columns, partial);
  if (pieces.count > 1) {
    launch_dependent(gemv_add_pieces<T>, ceil_div(rows, kSplitThreads / 32), kSplitThreads, 0, context.stream,
                     p, out, pieces.count, partial);
  }
}

}  // namespace gemv
}  // namespace plumb
