// The kernel of rung 2, which rungs 3 and 8 take too. Header only.
#pragma once
#include "gpu/log_softmax/common.hpp"

namespace plumb {
namespace log_softmax {

constexpr int kWarpRowThreads = 256;

template <class T>
__global__ void __launch_bounds__(kWarpRowThreads) log_softmax_warp_per_row(In<T> in, Out<T> out) {
  const Index i = (static_cast<Index>(blockIdx.x) * kWarpRowThreads + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (i >= in.x.rows) return;  // whole warps
  using S = scalar_t<T>;
  S m = lowest<S>(), s = 0;
  for (Index j = lane; j < in.x.cols; j += 32) m = larger(m, value(in.x(i, j)));
  m = max_lanes(m);
  for (Index j = lane; j < in.x.cols; j += 32) s += exp_of(value(in.x(i, j)) - m);
  const S log_sum = log_of(sum_lanes(s));
  for (Index j = lane; j < in.x.cols; j += 32)
    out.y(i, j) = stored<out_t<T>>(finish(value(in.x(i, j)), m, log_sum));
}

template <class T>
void run_warp_per_row(const In<T>& in, const Out<T>& out, Context& context) {
  launch(log_softmax_warp_per_row<T>, ceil_div(in.x.rows, kWarpRowThreads / 32), kWarpRowThreads, 0,
         context.stream, in, out);
}

}  // namespace log_softmax
}  // namespace plumb
