// The kernel of rungs 3 and 4: a group of lanes per row. Apart from them because the adaptive rung picks it
// too.
#pragma once
#include "gpu/spmv/common.hpp"

namespace plumb {
namespace spmv {

constexpr int kVectorThreads = 256;

// Lanes of a group read neighbouring entries; groups of a warp take neighbouring rows. No lane leaves before
// the shuffles.
template <class T, int Width>
__global__ void __launch_bounds__(kVectorThreads) spmv_vector_per_row(Problem<T> p, In<T> in, Out<T> out) {
  const Index i = (static_cast<Index>(blockIdx.x) * kVectorThreads + threadIdx.x) / Width;
  const int lane = static_cast<int>(threadIdx.x) % Width;
  const bool mine = i < in.A.rows;
  const Index end = mine ? in.A.row_ptr[i + 1] : 0;
  T sum = T(0);
  for (Index k = mine ? in.A.row_ptr[i] + static_cast<Index>(lane) : 0; k < end; k += Width)
    sum += product(in, k);
  sum = sum_lanes(sum, Width);
  if (mine && lane == 0) finish_row(p, out.y.data, i, sum);
}

template <class T, int Width>
void launch_vector_per_row(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(spmv_vector_per_row<T, Width>, ceil_div(in.A.rows, kVectorThreads / Width), kVectorThreads, 0,
         context.stream, p, in, out);
}

/// Lanes per row for a mean row length: the smallest power of two of 2..32 that covers it, so that one round
/// suffices.
inline int vector_width(Index rows, Index nnz) {
  int width = 2;
  while (width < 32 && width * rows < nnz) width *= 2;
  return width;
}

template <class T>
void run_vector_per_row(int width, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                        Context& context) {
  switch (width) {
    case 2:
      return launch_vector_per_row<T, 2>(p, in, out, context);
    case 4:
      return launch_vector_per_row<T, 4>(p, in, out, context);
    case 8:
      return launch_vector_per_row<T, 8>(p, in, out, context);
    case 16:
      return launch_vector_per_row<T, 16>(p, in, out, context);
    default:
      return launch_vector_per_row<T, 32>(p, in, out, context);
  }
}

}  // namespace spmv
}  // namespace plumb
