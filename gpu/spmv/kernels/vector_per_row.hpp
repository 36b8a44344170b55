// The kernel of rungs 3 and 4, a group of lanes per row, and the choice of its width, which rungs 5 and 6 share.
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
  scalar_t<T> sum = 0;
  for (Index k = mine ? in.A.row_ptr[i] + static_cast<Index>(lane) : 0; k < end; k += Width)
    sum += product(in, k);
  sum = sum_lanes(sum, Width);
  if (mine && lane == 0) finish_row(p, out.y.data, i, sum);
}

/// Lanes per row for a mean row length: the smallest power of two of 2..32 that covers it, so that one round
/// suffices.
inline int vector_width(Index rows, Index nnz) {
  int width = 2;
  while (width < 32 && width * rows < nnz) width *= 2;
  return width;
}

template <int N>
struct Lanes {
  static constexpr int value = N;
};

/// start(Lanes<width>{}) for a width that vector_width() gives: what is known at run time becomes a template's.
template <class Start>
void with_lanes(int width, Start start) {
  switch (width) {
    case 2:
      return start(Lanes<2>{});
    case 4:
      return start(Lanes<4>{});
    case 8:
      return start(Lanes<8>{});
    case 16:
      return start(Lanes<16>{});
    default:
      return start(Lanes<32>{});
  }
}

template <class T>
void run_vector_per_row(int width, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                        Context& context) {
  with_lanes(width, [&](auto lanes) {
    constexpr int kWidth = decltype(lanes)::value;
    launch(spmv_vector_per_row<T, kWidth>, ceil_div(in.A.rows, kVectorThreads / kWidth), kVectorThreads, 0,
           context.stream, p, in, out);
  });
}

}  // namespace spmv
}  // namespace plumb
