// gat_layer, host 02: rows by threads, in pieces of 64.
//
// Change    against 01: an OpenMP loop over rows.
// Traffic   A once, rows of h for each entry.
// Limits    gathers of h.
// Fails at  one long row: it has one core.
#include "reference/cpu/gat_layer/row.hpp"
#include "reference/ops/gat_layer.hpp"

namespace plumb {
namespace {

template <class T>
void run(const GatLayer::Problem<T>&, const GatLayer::In<T, Space::host>& in,
         const GatLayer::Out<T, Space::host>& out, Context&) {
#pragma omp parallel for schedule(dynamic, 64)
  for (std::int64_t i = 0; i < in.A.rows; ++i) write_gat_row(in, out, i);
}

PLUMB_REGISTER(GatLayer, "02_row_dynamic", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
