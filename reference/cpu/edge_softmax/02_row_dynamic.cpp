// edge_softmax, host 02: rows by threads, in pieces of 64.
//
// Change    against 01: an OpenMP loop over rows.
// Traffic   A three times, the second and third from the cache.
// Limits    calls of exp.
// Fails at  one long row: it has one core.
#include "reference/cpu/edge_softmax/row.hpp"
#include "reference/ops/edge_softmax.hpp"

namespace plumb {
namespace {

template <class T>
void run(const EdgeSoftmax::Problem<T>&, const EdgeSoftmax::In<T, Space::host>& in,
         const EdgeSoftmax::Out<T, Space::host>& out, Context&) {
#pragma omp parallel for schedule(dynamic, 64)
  for (std::int64_t i = 0; i < in.A.rows; ++i) write_edge_row(in, out, i);
}

PLUMB_REGISTER(EdgeSoftmax, "02_row_dynamic", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
