// spmm, rung 9: four rows of B in flight per lane.
//
// Change    the loop over the entries of rung 3 takes them four at a time: four indices and values, then four
//           rows of B, then sixteen multiply-adds. The last, broken batch too: a row of five is two round
//           trips, not five.
// Traffic   as rung 3.
// Fails at  as rung 3.
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
  run_rows<4>(v, work, in, out, context);
}

PLUMB_REGISTER(Spmm, "09_batched_gathers", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
