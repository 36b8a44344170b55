// gemv, rung 4: wide rows are split over several blocks.
//
// Change    a block per row and per piece of its columns, as many pieces as fill the chip; pieces are added
//           by a second kernel, in order, so the result is reproducible. Where there are rows enough, one
//           piece, and one kernel.
// Traffic   compulsory bytes, coalesced, plus one number per piece.
// Fails at  millions of narrow rows, which get a block each: rung 3 is the one for them. Needs bases and ld
//           in multiples of 16 bytes.
// Source    split-k, as in the gemm ladders of CUTLASS.
#include <cstdio>

#include "gpu/gemv/column_split.hpp"

namespace plumb {
namespace {

using namespace gemv;

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  if (in.A.rows == 0) return;
  const Pieces pieces = pieces_of(in.A.rows, in.A.cols);
  char text[80];
  std::snprintf(text, sizeof text, "%lld pieces of %lld columns per row",
                static_cast<long long>(pieces.count), static_cast<long long>(pieces.columns));
  context.explain(text);
  run_column_split<Vector<T>>(pieces, p, in, out, context);
}

PLUMB_REGISTER_WITH(Gemv, "04_column_split", (run<T>, Traits{}.align(16)), float, double);

}  // namespace
}  // namespace plumb
