// edge_softmax, host 01: three loops per row: maximum, sum, result.
//
// Change    first rung: the definition.
// Traffic   A three times, the second and third from the cache.
// Limits    calls of exp.
// Fails at  nothing, slowly.
#include "reference/cpu/edge_softmax/row.hpp"
#include "reference/ops/edge_softmax.hpp"

namespace plumb {
namespace {

template <class T>
void run(const EdgeSoftmax::Problem<T>&, const EdgeSoftmax::In<T, Space::host>& in,
         const EdgeSoftmax::Out<T, Space::host>& out, Context&) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) write_edge_row(in, out, i);
}

PLUMB_REGISTER(EdgeSoftmax, "01_serial", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
