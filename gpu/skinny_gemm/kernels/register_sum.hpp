// The body of rung 2: a thread per row, a column after the other, each summed in a register. Header only.
#pragma once
#include "gpu/skinny_gemm/common.hpp"
#include "reference/core/values.hpp"

namespace plumb {
namespace skinny {

template <class T>
__global__ void __launch_bounds__(kThreads) skinny_register_sum(In<T> in, Out<T> out) {
  const Index row = row_of_thread();
  if (row >= out.Y.rows) return;
  for (Index j = 0; j < out.Y.cols; ++j) {
    scalar_t<T> sum = 0;
    for (Index k = 0; k < in.X.cols; ++k) sum += value(in.X(row, k)) * value(in.W(k, j));
    out.Y(row, j) = stored<out_t<T>>(sum);
  }
}

template <class T>
void run_register_sum(const In<T>& in, const Out<T>& out, Context& context) {
  launch(skinny_register_sum<T>, out.Y.cols == 0 ? Index{0} : ceil_div(out.Y.rows, kThreads), kThreads, 0,
         context.stream, in, out);
}

}  // namespace skinny
}  // namespace plumb
