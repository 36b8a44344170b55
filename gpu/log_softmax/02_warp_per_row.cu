// log_softmax, rung 2: one warp per row.
//
// Change    lanes take neighbouring elements; shuffles combine their maxima and sums.
// Traffic   x three times and y once, coalesced; the second and third time from the caches, where the row
//           fits.
// Limits    fp32 / fp64: 30 / 58 registers, no spills (sm_90, nvcc 13.0, ptxas -v). 8 / 4 blocks of 256 per
//           SM.
// Fails at  rows that the first-level cache loses between passes, and rows of fewer than 32, where lanes
//           idle. Rung 3 answers both.
// Source    the ladder's own step.
#include "gpu/log_softmax/common.hpp"

namespace plumb {
namespace {

using namespace log_softmax;

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) log_softmax_warp_per_row(In<T> in, Out<T> out) {
  const Index i = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (i >= in.x.rows) return;  // whole warps
  T m = lowest<T>(), s = T(0);
  for (Index j = lane; j < in.x.cols; j += 32) m = larger(m, in.x(i, j));
  m = max_lanes(m);
  for (Index j = lane; j < in.x.cols; j += 32) s += exp_of(in.x(i, j) - m);
  const T log_sum = log_of(sum_lanes(s));
  for (Index j = lane; j < in.x.cols; j += 32) out.y(i, j) = finish(in.x(i, j), m, log_sum);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch(log_softmax_warp_per_row<T>, ceil_div(in.x.rows, kThreads / 32), kThreads, 0, context.stream, in,
         out);
}

const Register<LogSoftmax, float, Space::device> f32{"02_warp_per_row", run<float>};
const Register<LogSoftmax, double, Space::device> f64{"02_warp_per_row", run<double>};

}  // namespace
}  // namespace plumb
