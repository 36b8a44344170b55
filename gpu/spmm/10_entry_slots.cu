// spmm, rung 10: the groups of a warp share the entries of a row, as many as the mean row feeds.
//
// Change    rung 9's groups have a row each; here up to four of them, neighbours, have one together and take
//           its entries in turn, where the mean row has six or more for each. Their sums are added by
//           shuffles, half the columns at a time. Neighbouring groups read neighbouring entries: indices and
//           values come 32 bytes at once, and so does B where columns are neighbours.
// Traffic   as rung 9, fewer sectors.
// Fails at  skewed rows, whose mean says little: rung 13. (Indices and values loaded once per row and passed
//           on by shuffles, in place of loads that a group's lanes share, were slower on eight of nine
//           matrices on an H200: the loads hit the first-level cache.)
#include <cstdio>

#include "gpu/spmm/rows.hpp"

namespace plumb {
namespace {

using namespace spmm;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const int v = vector_length(in, out);
  Rows<T> work;
  work.lanes = lanes_for(out.C.cols, v);
  work.slots = slots_for(in.A.rows, in.A.nnz, work.lanes);
  work.count = out.C.rows;
  char text[64];
  std::snprintf(text, sizeof text, "%d lanes, %d slots per row", work.lanes, work.slots);
  context.explain(text);
  run_shaped_rows(v, work, in, out, context);
}

PLUMB_REGISTER(Spmm, "10_entry_slots", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
