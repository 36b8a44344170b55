// spmm, rung 11: a group of lanes streams neighbouring rows without a break.
//
// Change    rung 9's batches end with their row, so a row of five is two batches of which one has one entry.
//           Here prepare() deals rows out to groups by entries, and a group takes its entries four at a time
//           whatever rows they belong to; a row that is complete is stored on the way. Indices and values are
//           asked for one batch ahead. Long rows are cut as in rung 7.
// Traffic   as rung 9, and 8 bytes per group.
// Fails at  long rows next to each other that share columns: groups of a warp are far apart then, and read
//           neighbours of B at different times, which slots (rung 10) read together.
// Source    Merrill and Garland, SC'16, for equal shares of rows and entries.
#include "gpu/spmm/ranges.hpp"

namespace plumb {
namespace {

using namespace spmm;

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  return prepare_stream(lanes_for(out.C.cols, vector_length(in, out)), in, out, context);
}

template <class T>
void release(void* plan) {
  delete static_cast<StreamPlan<T>*>(plan);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_ranges(vector_length(in, out), *static_cast<const StreamPlan<T>*>(context.plan), in, out, context);
}

PLUMB_REGISTER_WITH(Spmm, "11_streamed_rows", (run<T>, {}, nullptr, prepare<T>, release<T>), float, double,
                    f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
