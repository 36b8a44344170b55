// spmm, rung 3: 16 bytes a lane, and as many lanes a row as its width needs.
//
// Change    a lane holds four columns in fp32, two in fp64; a row of 16 needs 4 lanes in fp32, so a warp
//           works on eight rows at once. Where a base, a leading dimension or the width is no multiple of 16
//           bytes, lanes move 8 or 4; where they move one element and there are more than 32 columns, a lane has
//           up to four that lie 32 apart, so that indices are read once for all of them (rows of 251, fp32).
// Traffic   as rung 1, with a quarter of the instructions.
// Fails at  rows of unequal length: the eight of a warp end together. Rung 6 answers that. One load in flight
//           per lane: rung 9.
#include "gpu/spmm/rows.hpp"

namespace plumb {
namespace {

using namespace spmm;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const int v = vector_length(in, out);
  Rows<T> work;
  work.lanes = lanes_for(out.C.cols, v);
  work.count = out.C.rows;
  run_rows<1>(v, work, in, out, context);
}

PLUMB_REGISTER(Spmm, "03_vector_loads", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
