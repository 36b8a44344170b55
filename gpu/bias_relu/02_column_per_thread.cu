// bias_relu, rung 2: a thread keeps its column and walks down the rows.
//
// Change    the bias is loaded once per thread, and no division is left: the next row is one addition away.
// Traffic   compulsory bytes, coalesced where rows are wide.
// Fails at  rows narrower than a warp: lanes beyond the last column idle. Rung 3 answers that.
// Source    grid-stride loops: M. Harris, "CUDA Pro Tip" (2013).
#include "gpu/bias_relu/column.hpp"

namespace plumb {
namespace {

using namespace bias_relu;

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  run_columns(p, in, out, context);
}

PLUMB_REGISTER(BiasRelu, "02_column_per_thread", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
