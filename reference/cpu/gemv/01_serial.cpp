// gemv, host 01: a dot product per row.
//
// Change    first rung: the definition.
// Traffic   compulsory bytes of A; x from the cache.
// Limits    one core; the chain of dependent adds, 4 cycles each.
// Fails at  nothing, slowly.
#include "reference/core/values.hpp"
#include "reference/ops/gemv.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Gemv::Problem<T>& p, const Gemv::In<T, Space::host>& in, const Gemv::Out<T, Space::host>& out,
         Context&) {
  using V = scalar_t<T>;
  const std::int64_t depth = p.alpha == V(0) ? 0 : in.A.cols;  // alpha == 0 reads neither A nor x
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    V sum = 0;
    for (std::int64_t k = 0; k < depth; ++k) sum += value(in.A(i, k)) * value(in.x[k]);
    out.y[i] = stored<out_t<T>>(p.beta == V(0) ? p.alpha * sum : p.alpha * sum + p.beta * value(out.y[i]));
  }
}

PLUMB_REGISTER(Gemv, "01_serial", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
