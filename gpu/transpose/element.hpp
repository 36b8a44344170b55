// One thread per element: the body of rung 1, and what rung 6 takes for thin matrices. Header only.
#pragma once
#include "gpu/common/rung.hpp"
#include "reference/ops/transpose.hpp"

namespace plumb {
namespace transpose {

constexpr int kElementThreads = 256;

// Threads are numbered along the rows of A, or, AlongB, of B: the matrix that they go along is moved in whole lines.
template <class T, bool AlongB>
__global__ void __launch_bounds__(kElementThreads)
    transpose_elements(DenseView<const T, Space::device> A /* (rows, cols) */,
                       DenseView<T, Space::device> B /* (cols, rows) */) {
  const Index at = static_cast<Index>(blockIdx.x) * kElementThreads + threadIdx.x;
  if (at >= A.rows * A.cols) return;
  const Index along = AlongB ? A.rows : A.cols, i = at / along, j = at % along;
  if (AlongB)
    B(i, j) = A(j, i);
  else
    B(j, i) = A(i, j);
}

template <class T, bool AlongB>
void run_elements(const Transpose::In<T, Space::device>& in, const Transpose::Out<T, Space::device>& out,
                  Context& context) {
  launch((transpose_elements<T, AlongB>), ceil_div(in.A.rows * in.A.cols, kElementThreads), kElementThreads,
         0, context.stream, in.A, out.B);
}

}  // namespace transpose
}  // namespace plumb
