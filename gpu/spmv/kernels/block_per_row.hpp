// The body of rung 2: a block per row. Header only.
#pragma once
#include "gpu/spmv/common.hpp"

namespace plumb {
namespace spmv {

constexpr int kRowThreads = 128;

template <class T>
__global__ void __launch_bounds__(kRowThreads) spmv_block_per_row(Problem<T> p, In<T> in, Out<T> out) {
  __shared__ scalar_t<T> scratch[kRowThreads / 32];
  const Index i = blockIdx.x;
  const Index end = in.A.row_ptr[i + 1];
  scalar_t<T> sum = 0;
  for (Index k = in.A.row_ptr[i] + static_cast<Index>(threadIdx.x); k < end; k += kRowThreads)
    sum += product(in, k);
  sum = sum_block<kRowThreads>(sum, scratch);
  if (threadIdx.x == 0) finish_row(p, out.y.data, i, sum);
}

template <class T>
void run_block_per_row(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(spmv_block_per_row<T>, in.A.rows, kRowThreads, 0, context.stream, p, in, out);
}

}  // namespace spmv
}  // namespace plumb
