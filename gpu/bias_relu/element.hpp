// The kernel of rung 1. Apart from the rung because the adaptive one takes it too.
#pragma once
#include "gpu/bias_relu/common.hpp"

namespace plumb {
namespace bias_relu {

constexpr int kElementThreads = 256;

template <class T>
__global__ void __launch_bounds__(kElementThreads)
    bias_relu_thread_per_element(Problem<T> p, In<T> in, Out<T> out) {
  const Index at = static_cast<Index>(blockIdx.x) * kElementThreads + threadIdx.x;
  if (at >= in.x.rows * in.x.cols) return;
  const Index i = at / in.x.cols, j = at % in.x.cols;
  out.y(i, j) = stored<out_t<T>>(activate(value(in.x(i, j)), bias_of(p, in, j), p.cap));
}

template <class T>
void run_elements(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(bias_relu_thread_per_element<T>, ceil_div(in.x.rows * in.x.cols, kElementThreads), kElementThreads,
         0, context.stream, p, in, out);
}

}  // namespace bias_relu
}  // namespace plumb
