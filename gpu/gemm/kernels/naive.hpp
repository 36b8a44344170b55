// The body of rung 1, which also makes what other rungs leave to it. Header only.
#pragma once
#include "gpu/gemm/common.hpp"

namespace plumb {
namespace gemm {
namespace naive {

constexpr int kTile = 32, kThreads = kTile * kTile;

template <class T>
__global__ void __launch_bounds__(kThreads) gemm_naive(Problem<T> p, In<T> in, Out<T> out) {
  const TileIndex tile = tile_index(ceil_div(out.C.cols, kTile));
  const Index i = tile.m * kTile + threadIdx.y, j = tile.n * kTile + threadIdx.x;
  if (i >= out.C.rows || j >= out.C.cols) return;
  const Index depth = depth_of(p, in);
  scalar_t<T> sum = 0;
  for (Index k = 0; k < depth; ++k) sum += value(in.A(i, k)) * value(in.B(k, j));
  finish(p, &out.C(i, j), sum);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(gemm_naive<T>, ceil_div(out.C.rows, kTile) * ceil_div(out.C.cols, kTile), dim3(kTile, kTile), 0,
         context.stream, p, in, out);
}

}  // namespace naive
}  // namespace gemm
}  // namespace plumb
