// spmm, rung 12: columns in panels of B that stay in the second-level cache.
//
// Change    rung 11 with fewer lanes where B is larger than the cache: all rows take the first columns of C,
//           then the next. Only where a panel of at least 128 bytes of a row then fits three fifths of the
//           cache: narrower ones pay more for indices than they save.
// Traffic   indices and values once per panel; B from the cache, and from memory once.
// Fails at  matrices whose rows use neighbouring columns of A: B is reused from the cache as it is.
#include <cstdio>

#include "gpu/spmm/ranges.hpp"

namespace plumb {
namespace {

using namespace spmm;

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  return prepare_stream(panel_lanes<T>(in.A.cols, out.C.cols, vector_length(in, out), device_l2_bytes()), in,
                        out, context);
}

template <class T>
void release(void* plan) {
  delete static_cast<StreamPlan<T>*>(plan);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const auto& plan = *static_cast<const StreamPlan<T>*>(context.plan);
  const int v = vector_length(in, out);
  char text[64];
  std::snprintf(text, sizeof text, "panels of %d columns", plan.work.lanes * v);
  context.explain(text);
  run_ranges(v, plan, in, out, context);
}

PLUMB_REGISTER_WITH(Spmm, "12_column_panels", (run<T>, {}, nullptr, prepare<T>, release<T>), float, double);

}  // namespace
}  // namespace plumb
