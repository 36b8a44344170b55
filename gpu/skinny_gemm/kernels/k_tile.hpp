// The body of rung 6: a thread per row, K in tiles of registers. Header only.
#pragma once
#include "gpu/skinny_gemm/common.hpp"

namespace plumb {
namespace skinny {

constexpr int kTileDepth = 16;

template <class T>
__global__ void __launch_bounds__(kThreads) skinny_k_tile(In<T> in, Out<T> out) {
  row_by_tiles<T, kTileDepth>(in, out, [&](T(&x)[kTileDepth], Index row, Index k) {
#pragma unroll
    for (int kk = 0; kk < kTileDepth; ++kk) x[kk] = k + kk < in.X.cols ? in.X(row, k + kk) : T(0);
  });
}

template <class T>
void run_k_tile(const In<T>& in, const Out<T>& out, Context& context) {
  launch_rows<T>(skinny_k_tile<T>, in, out, kCols, context);
}

}  // namespace skinny
}  // namespace plumb
