// gat_layer, host 01: a row at once: its weights, then its mean of features.
//
// Change    first rung: the definition.
// Traffic   A once, rows of h for each entry.
// Limits    gathers of h.
// Fails at  nothing, slowly.
#include "reference/cpu/gat_layer/row.hpp"
#include "reference/ops/gat_layer.hpp"

namespace plumb {
namespace {

template <class T>
void run(const GatLayer::Problem<T>&, const GatLayer::In<T, Space::host>& in,
         const GatLayer::Out<T, Space::host>& out, Context&) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) write_gat_row(in, out, i);
}

PLUMB_REGISTER(GatLayer, "01_serial", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
