// The kernels of rung 7: pieces of a row by blocks, their maxima and sums merged by a second kernel. Apart from the rung because the
// adaptive one takes them too.
#pragma once
#include "gpu/device/dependent_launch.hpp"
#include "gpu/device/memory.hpp"
#include "gpu/log_softmax/online.hpp"

namespace plumb {
namespace log_softmax {

constexpr Index kLeastPiece = 2048;  // columns: below, a second kernel costs more than the piece saves
constexpr int kBlocksPerMultiprocessor = 4;

/// How many pieces a row has: as many as fill the chip, none too short.
struct Pieces {
  Index count, columns;
};
inline Pieces pieces_of(Index rows, Index cols) {
  Index count =
      static_cast<Index>(kBlocksPerMultiprocessor) * device_multiprocessors() / (rows > 0 ? rows : 1);
  const Index most = cols / kLeastPiece;
  count = count < most ? count : most;
  count = count > 1 ? count : 1;
  constexpr Index kLine = 32;  // elements, so that pieces begin on whole sectors where rows do
  return {count, ceil_div(ceil_div(cols, count), kLine) * kLine};
}

/// Where a block's piece lies: block number row * pieces + piece.
struct PieceOfRow {
  Index row, begin, end;
};
PLUMB_DEVICE PieceOfRow piece_of_block(Pieces pieces, Index cols) {
  const Index begin = blockIdx.x % pieces.count * pieces.columns, end = begin + pieces.columns;
  return {blockIdx.x / pieces.count, begin < cols ? begin : cols, end < cols ? end : cols};
}

template <class T>
__global__ void __launch_bounds__(kOnlineThreads)
    log_softmax_run_pieces(In<T> in, Pieces pieces, scalar_t<T>* m /* (rows, pieces) */,
                           scalar_t<T>* s /* (rows, pieces) */) {
  using S = scalar_t<T>;
  __shared__ S maxima[kOnlineThreads / 32], sums[kOnlineThreads / 32];
  let_dependent_begin();
  const PieceOfRow at = piece_of_block(pieces, in.x.cols);
  const Running<S> all =
      merge_block(running_share(in.x.data + at.row * in.x.ld, at.begin, at.end), maxima, sums);
  if (threadIdx.x == 0) m[blockIdx.x] = all.m, s[blockIdx.x] = all.s;
}

template <class T>
__global__ void __launch_bounds__(kOnlineThreads)
    log_softmax_finish_pieces(In<T> in, Out<T> out, Pieces pieces, const scalar_t<T>* m /* (rows, pieces) */,
                              const scalar_t<T>* s /* (rows, pieces) */) {
  using S = scalar_t<T>;
  __shared__ S maxima[kOnlineThreads / 32], sums[kOnlineThreads / 32];
  const PieceOfRow at = piece_of_block(pieces, in.x.cols);
  Running<S> mine;
  wait_for_primary();
  for (Index p = threadIdx.x; p < pieces.count; p += kOnlineThreads)
    mine.merge(m[at.row * pieces.count + p], s[at.row * pieces.count + p]);
  const Running<S> row = merge_block(mine, maxima, sums);
  finish_range(in.x.data + at.row * in.x.ld, out.y.data + at.row * out.y.ld, at.begin, at.end, row.m,
               log_of(row.s));
}

template <class T>
void run_pieces(Pieces pieces, const In<T>& in, const Out<T>& out, Context& context) {
  const Index blocks = in.x.cols == 0 ? 0 : in.x.rows * pieces.count;
  auto* m =
      static_cast<scalar_t<T>*>(context.workspace(2 * blocks * static_cast<Index>(sizeof(scalar_t<T>))));
  launch(log_softmax_run_pieces<T>, blocks, kOnlineThreads, 0, context.stream, in, pieces, m, m + blocks);
  launch_dependent(log_softmax_finish_pieces<T>, blocks, kOnlineThreads, 0, context.stream, in, out, pieces,
                   m, m + blocks);
}

}  // namespace log_softmax
}  // namespace plumb
