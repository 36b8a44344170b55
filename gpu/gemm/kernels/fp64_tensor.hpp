// The products of rungs 14, 16 and 23: fp64 on tensor cores. Header only.
#pragma once
#include "gpu/gemm/kernels/tensor_tile.hpp"

namespace plumb {
namespace gemm {

/// Math of gemm_tensor: m16n8k8 in fp64, which is the operator's own arithmetic; m16n8k16 with two halves.
template <int Buffers, int Halves = 1>
struct Fp64Products {
  static constexpr bool kWatches = false, kLoadsFirst = true;
  static constexpr int kHalves = Halves, kBuffers = Buffers;
  template <int M, int N>
  PLUMB_DEVICE bool outside(const double (&)[M][N][4], Index) const {
    return false;
  }
  template <int M, int N>
  PLUMB_DEVICE void multiply_add(double (&sum)[M][N][4], const double (&a)[M][4 * Halves],
                                 const double (&b)[N][2 * Halves]) {
#if PLUMB_SM_AT_LEAST(90)
#pragma unroll
    for (int m = 0; m < M; ++m) {
#pragma unroll
      for (int n = 0; n < N; ++n) {
        if constexpr (Halves == 1)
          mma_m16n8k8_f64(sum[m][n], a[m], b[n]);
        else
          mma_m16n8k16_f64(sum[m][n], a[m], b[n]);
      }
    }
#endif
  }
};

/// With a second set of fragments, loaded ahead.
using FragmentsAhead = Fp64Products<2>;
using DeepFragmentsAhead = Fp64Products<2, 2>;

/// 32 x 32 by four warps, steps of 32 along K, five stages: few barriers and 16 terms a product, for tiles of which a multiprocessor has one or
/// two.
using Fp64Deep = TensorShape<double, 32, 32, 32, 2, 2, 1, 5, 2>;

/// The products by which a shape makes its sums.
template <class S>
struct Fp64MathOf {
  using Type = FragmentsAhead;
};
template <>
struct Fp64MathOf<Fp64Deep> {
  using Type = DeepFragmentsAhead;
};
template <class S>
using Fp64Math = typename Fp64MathOf<S>::Type;

}  // namespace gemm
}  // namespace plumb
