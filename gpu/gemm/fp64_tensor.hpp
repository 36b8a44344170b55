// The products of rungs 14 and 16: fp64 on tensor cores. Header only.
#pragma once
#include "gpu/gemm/tensor_tile.hpp"

namespace plumb {
namespace gemm {

/// Math of gemm_tensor: m16n8k8 in fp64, which is the operator's own arithmetic.
template <int Buffers>
struct Fp64Products {
  static constexpr bool kWatches = false;
  static constexpr int kHalves = 1, kBuffers = Buffers;
  template <int M, int N>
  PLUMB_DEVICE bool outside(const double (&)[M][N][4], Index) const {
    return false;
  }
  template <int M, int N>
  PLUMB_DEVICE void multiply_add(double (&sum)[M][N][4], const double (&a)[M][4], const double (&b)[N][2]) {
#if PLUMB_SM_AT_LEAST(90)
#pragma unroll
    for (int m = 0; m < M; ++m) {
#pragma unroll
      for (int n = 0; n < N; ++n) mma_m16n8k8_f64(sum[m][n], a[m], b[n]);
    }
#endif
  }
};

/// With a second set of fragments, loaded ahead.
using FragmentsAhead = Fp64Products<2>;

}  // namespace gemm
}  // namespace plumb
