// rmsnorm, rung 1: one thread per row.
//
// Change    first rung: the row loop is the grid.
// Traffic   x twice and y once.
// Fails at  few rows, and wide ones: loads of neighbouring threads lie a row apart.
// Source    the definition.
#include "gpu/common/rung.hpp"
#include "reference/ops/rmsnorm.hpp"

namespace plumb {
namespace {

constexpr int kThreads = 128;

PLUMB_DEVICE float root_of(float x) { return sqrtf(x); }
PLUMB_DEVICE double root_of(double x) { return sqrt(x); }

template <class T>
__global__ void __launch_bounds__(kThreads)
    rmsnorm_thread_per_row(RmsNorm::Problem<T> p, RmsNorm::In<T, Space::device> in,
                           RmsNorm::Out<T, Space::device> out) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= in.x.rows) return;
  T squares = T(0);
  for (Index j = 0; j < in.x.cols; ++j) squares += in.x(i, j) * in.x(i, j);
  const T root = root_of(squares / static_cast<T>(in.x.cols) + p.eps);
  for (Index j = 0; j < in.x.cols; ++j) out.y(i, j) = in.x(i, j) * in.w[j] / root;
}

template <class T>
void run(const RmsNorm::Problem<T>& p, const RmsNorm::In<T, Space::device>& in,
         const RmsNorm::Out<T, Space::device>& out, Context& context) {
  launch(rmsnorm_thread_per_row<T>, ceil_div(in.x.rows, kThreads), kThreads, 0, context.stream, p, in, out);
}

PLUMB_REGISTER(RmsNorm, "01_thread_per_row", run, float, double);

}  // namespace
}  // namespace plumb
