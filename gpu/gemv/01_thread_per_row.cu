// gemv, rung 1: one thread per row.
//
// Change    first rung: the parallel loop is the row loop.
// Traffic   compulsory bytes, but a warp's loads lie one leading dimension apart: a sector each, of which the
//           cache must keep the rest.
// Fails at  everywhere but on narrow matrices, where the cache keeps the sectors. Rung 2 answers that.
// Source    the definition.
#include "gpu/gemv/common.hpp"

namespace plumb {
namespace {

using namespace gemv;

constexpr int kThreads = 128;

template <class T>
__global__ void __launch_bounds__(kThreads) gemv_thread_per_row(Problem<T> p, In<T> in, Out<T> out) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= in.A.rows) return;
  const Index cols = columns(p, in);
  T sum = T(0);
  for (Index k = 0; k < cols; ++k) sum += in.A(i, k) * in.x[k];
  finish_row(p, out.y.data, i, sum);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(gemv_thread_per_row<T>, ceil_div(in.A.rows, kThreads), kThreads, 0, context.stream, p, in, out);
}

PLUMB_REGISTER(Gemv, "01_thread_per_row", run, float, double);

}  // namespace
}  // namespace plumb
