// The kernel of rung 2. Apart from the rung because the adaptive one takes it too.
#pragma once
#include "gpu/bias_relu/common.hpp"

namespace plumb {
namespace bias_relu {

constexpr int kColumns = 32, kRows = 8;
constexpr int kRowsPerThread = 8;
constexpr Index kMostDown = 65535;  // of a grid's y extent

template <class T>
__global__ void __launch_bounds__(kColumns* kRows)
    bias_relu_column_per_thread(Problem<T> p, In<T> in, Out<T> out) {
  const Index j = static_cast<Index>(blockIdx.x) * kColumns + threadIdx.x;
  if (j >= in.x.cols) return;
  const scalar_t<T> b = bias_of(p, in, j);
  const Index stride = static_cast<Index>(gridDim.y) * kRows;
  for (Index i = static_cast<Index>(blockIdx.y) * kRows + threadIdx.y; i < in.x.rows; i += stride) {
    out.y(i, j) = stored<out_t<T>>(activate(value(in.x(i, j)), b, p.cap));
  }
}

template <class T>
void run_columns(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Index across = ceil_div(in.x.cols, kColumns), down = ceil_div(in.x.rows, kRows * kRowsPerThread);
  launch(bias_relu_column_per_thread<T>,
         Grid(static_cast<unsigned>(across), static_cast<unsigned>(down < kMostDown ? down : kMostDown)),
         dim3(kColumns, kRows), 0, context.stream, p, in, out);
}

}  // namespace bias_relu
}  // namespace plumb
