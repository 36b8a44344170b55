// rmsnorm, rung 1: one thread per row.
//
// Change    first rung: the row loop is the grid.
// Traffic   x twice and y once.
// Fails at  few rows, and wide ones: loads of neighbouring threads lie a row apart.
// Source    the definition.
#include "gpu/common/functions.hpp"
#include "gpu/common/rung.hpp"
#include "reference/core/values.hpp"
#include "reference/ops/rmsnorm.hpp"

namespace plumb {
namespace {

constexpr int kThreads = 128;

template <class T>
__global__ void __launch_bounds__(kThreads)
    rmsnorm_thread_per_row(RmsNorm::Problem<T> p, RmsNorm::In<T, Space::device> in,
                           RmsNorm::Out<T, Space::device> out) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= in.x.rows) return;
  using V = scalar_t<T>;
  V squares = V(0);
  for (Index j = 0; j < in.x.cols; ++j) squares += value(in.x(i, j)) * value(in.x(i, j));
  const V root = root_of(squares / static_cast<V>(in.x.cols) + p.eps);
  for (Index j = 0; j < in.x.cols; ++j)
    out.y(i, j) = stored<out_t<T>>(value(in.x(i, j)) * value(in.w[j]) / root);
}

template <class T>
void run(const RmsNorm::Problem<T>& p, const RmsNorm::In<T, Space::device>& in,
         const RmsNorm::Out<T, Space::device>& out, Context& context) {
  launch(rmsnorm_thread_per_row<T>, ceil_div(in.x.rows, kThreads), kThreads, 0, context.stream, p, in, out);
}

PLUMB_REGISTER(RmsNorm, "01_thread_per_row", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
