// log_softmax, rung 1: one thread per row.
//
// Change    first rung: the row loop is the grid. Three passes over the row: maximum, sum, result.
// Traffic   x three times and y once, in loads that lie a row apart: a sector each, of which the caches must
//           keep the rest.
// Fails at  wide rows and few rows alike. Rung 2 answers that.
// Source    the definition.
#include "gpu/log_softmax/common.hpp"

namespace plumb {
namespace {

using namespace log_softmax;

constexpr int kThreads = 128, kPartial = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) log_softmax_thread_per_row(In<T> in, Out<T> out) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= in.x.rows) return;
  T m = lowest<T>(), s = T(0);
  for (Index j = 0; j < in.x.cols; ++j) m = larger(m, in.x(i, j));
  for (Index j0 = 0; j0 < in.x.cols;
       j0 += kPartial) {  // sums of sums: one running sum of 65,537 terms drifts
    const Index end = j0 + kPartial < in.x.cols ? j0 + kPartial : in.x.cols;
    T part = T(0);
    for (Index j = j0; j < end; ++j) part += exp_of(in.x(i, j) - m);
    s += part;
  }
  const T log_sum = log_of(s);
  for (Index j = 0; j < in.x.cols; ++j) out.y(i, j) = finish(in.x(i, j), m, log_sum);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch(log_softmax_thread_per_row<T>, ceil_div(in.x.rows, kThreads), kThreads, 0, context.stream, in, out);
}

PLUMB_REGISTER(LogSoftmax, "01_thread_per_row", run, float, double);

}  // namespace
}  // namespace plumb
