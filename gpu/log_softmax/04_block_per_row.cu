// log_softmax, rung 4: one block per row.
//
// Change    256 threads on a row, so that wide rows, and few of them, occupy the chip; maximum and sum meet
//           in shared memory.
// Traffic   x three times and y once, coalesced; the second and third time from the caches, where the row
//           fits.
// Fails at  narrow rows, where a block of 256 waits at its barriers over a few elements: rung 3 is for those;
//           and at reading three times, which rung 5 answers.
// Source    the ladder's own step.
#include "gpu/log_softmax/common.hpp"

namespace plumb {
namespace {

using namespace log_softmax;

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) log_softmax_block_per_row(In<T> in, Out<T> out) {
  __shared__ T scratch[kThreads / 32];
  const Index i = blockIdx.x;
  T m = lowest<T>(), s = T(0);
  for (Index j = threadIdx.x; j < in.x.cols; j += kThreads) m = larger(m, in.x(i, j));
  m = max_block<kThreads>(m, scratch);
  for (Index j = threadIdx.x; j < in.x.cols; j += kThreads) s += exp_of(in.x(i, j) - m);
  const T log_sum = log_of(sum_block<kThreads>(s, scratch));
  for (Index j = threadIdx.x; j < in.x.cols; j += kThreads) out.y(i, j) = finish(in.x(i, j), m, log_sum);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch(log_softmax_block_per_row<T>, in.x.cols == 0 ? Index{0} : in.x.rows, kThreads, 0, context.stream, in,
         out);
}

PLUMB_REGISTER(LogSoftmax, "04_block_per_row", run, float, double);

}  // namespace
}  // namespace plumb
