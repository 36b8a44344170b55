// The body of rung 5: a group of lanes for a row, as many as its length has work for. Header only.
#pragma once
#include "gpu/gemv/vector_loads.hpp"

namespace plumb {
namespace gemv {

constexpr int kLanesThreads = 256;

template <class T, class V>
__global__ void __launch_bounds__(kLanesThreads)
    gemv_lanes(Problem<T> p, In<T> in, Out<T> out, int log_lanes) {
  const int lanes = 1 << log_lanes;
  const Index thread = static_cast<Index>(blockIdx.x) * kLanesThreads + threadIdx.x, i = thread >> log_lanes;
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  const bool mine = i < in.A.rows;  // lanes without a row take part in the sums
  const T share =
      mine ? dot_share<V>(in.A.data + i * in.A.ld, in.x.data, 0, columns(p, in), lane, lanes) : T(0);
  const T sum = sum_lanes(share, lanes);
  if (mine && lane == 0) finish_row(p, out.y.data, i, sum);
}

/// Lanes for rows of `cols`, each with `loads` of V: a power of two up to 32.
template <class V>
int lanes_of(Index cols, Index loads) {
  int lanes = 1;
  while (lanes < 32 && lanes * V::kLanes * loads < cols) lanes *= 2;
  return lanes;
}

template <class V, class T>
void run_lanes(int lanes, const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  int log_lanes = 0;
  while (1 << log_lanes < lanes) ++log_lanes;
  launch(gemv_lanes<T, V>, ceil_div(in.A.rows * lanes, kLanesThreads), kLanesThreads, 0, context.stream, p,
         in, out, log_lanes);
}

}  // namespace gemv
}  // namespace plumb
