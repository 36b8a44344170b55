// log_softmax, rung 7: a row in pieces, a block each.
//
// Change    rung 5's pairs of maximum and sum, of pieces of a row by blocks; a second kernel merges the pairs of a row, always in the same
//           order, and writes the piece. So a single wide row occupies the chip. As many pieces as fill it, of at least 2,048 columns.
// Traffic   x twice and y once; the second time from the cache where x fits it; a pair for each piece.
// Fails at  many rows, which fill the chip by themselves: a row is one piece then, and rung 5's kernel is taken.
// Source    Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018); pieces as in gemv's rung 4.
#include "gpu/log_softmax/pieces.hpp"

namespace plumb {
namespace {

using namespace log_softmax;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const Pieces pieces = pieces_of(in.x.rows, in.x.cols);
  if (pieces.count > 1)
    run_pieces(pieces, in, out, context);
  else
    run_online(in, out, context);
}

PLUMB_REGISTER(LogSoftmax, "07_rows_in_pieces", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
