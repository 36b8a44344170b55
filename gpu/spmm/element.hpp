// The kernel of rung 1: one thread per element of C. Apart from it because rung 13 picks it too.
#pragma once
#include "gpu/spmm/common.hpp"

namespace plumb {
namespace spmm {

constexpr int kElementColumns = 32, kElementRows = 8;  // of a block

template <class T>
__global__ void __launch_bounds__(kElementColumns* kElementRows)
    spmm_thread_per_element(In<T> in, Out<T> out) {
  const Index i = static_cast<Index>(blockIdx.x) * kElementRows + threadIdx.y;
  if (i >= out.C.rows) return;
  for (Index j = static_cast<Index>(blockIdx.y) * kElementColumns + threadIdx.x; j < out.C.cols;
       j += static_cast<Index>(gridDim.y) * kElementColumns) {
    scalar_t<T> sum = 0;
    for (Index k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k)
      sum += value(in.A.val[k]) * value(in.B(in.A.col[k], j));
    out.C(i, j) = stored<out_t<T>>(sum);
  }
}

template <class T>
void run_elements(const In<T>& in, const Out<T>& out, Context& context) {
  launch(spmm_thread_per_element<T>,
         grid_of(ceil_div(out.C.rows, kElementRows), ceil_div(out.C.cols, kElementColumns)),
         dim3(kElementColumns, kElementRows), 0, context.stream, in, out);
}

}  // namespace spmm
}  // namespace plumb
