// softmax, rung 1: one thread per row.
//
// Change    first rung: the row loop is the grid.
// Traffic   x three times and y once.
// Fails at  few rows, and wide ones: loads of neighbouring threads lie a row apart.
// Source    the definition.
#include "gpu/common/functions.hpp"
#include "gpu/common/rung.hpp"
#include "reference/core/values.hpp"
#include "reference/ops/softmax.hpp"

namespace plumb {
namespace {

constexpr int kThreads = 128;

template <class T>
__global__ void __launch_bounds__(kThreads)
    softmax_thread_per_row(Softmax::In<T, Space::device> in, Softmax::Out<T, Space::device> out) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= in.x.rows) return;
  using V = scalar_t<T>;
  V max = V(0), sum = V(0);
  for (Index j = 0; j < in.x.cols; ++j) max = j == 0 || value(in.x(i, j)) > max ? value(in.x(i, j)) : max;
  for (Index j = 0; j < in.x.cols; ++j) sum += exp_of(value(in.x(i, j)) - max);
  for (Index j = 0; j < in.x.cols; ++j) out.y(i, j) = stored<out_t<T>>(exp_of(value(in.x(i, j)) - max) / sum);
}

template <class T>
void run(const Softmax::Problem<T>&, const Softmax::In<T, Space::device>& in,
         const Softmax::Out<T, Space::device>& out, Context& context) {
  launch(softmax_thread_per_row<T>, ceil_div(in.x.rows, kThreads), kThreads, 0, context.stream, in, out);
}

PLUMB_REGISTER(Softmax, "01_thread_per_row", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
