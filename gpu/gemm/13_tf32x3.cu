// gemm, rung 13: fp32 by three tf32 products on tensor cores (fp32, declared tf32x3).
//
// Change    each operand is split into two tf32 numbers, x = hi + lo, and hi hi + hi lo + lo hi goes through
//           the tensor cores: 22 bits of each operand, within the fp32 bound. The tensor cores' own sums are
//           truncated, not rounded, which drifts; so each step of 16 starts from zero there and is added to
//           the sums by ordinary fp32 additions.
// Values    tf32 has fp32's range, but splitting does not survive all of it: Inf - Inf is NaN, and the low
//           part of a number below 2^-100 may be lost. A tile that has such an operand, or a sum that is
//           not finite, is computed again by plain fp32 multiply-adds, all of it: right, slow, and the same
//           on every run. So are products of fewer than 16 terms.
// Traffic   that of rung 10.
// Fails at  the rate of products by a warp, about five eighths of what sm_90 reaches with wgmma:
//           three products leave a third of that. Rung 17 answers.
// Source    H. Ootomo and R. Yokota, "Recovering single precision accuracy from Tensor Cores" (2022);
//           CUTLASS, 3xTF32 example.
#include "gpu/device/tf32x3.hpp"
#include "gpu/gemm/kernels/tensor_tile.hpp"

namespace plumb {
namespace {

using namespace gemm;

using Large = TensorShape<float, 128, 128, 32, 2, 4, 1, 4>;
using Halved = TensorShape<float, 64, 128, 32, 1, 4, 2, 4>;

template <int Buffers>
struct ThreeTf32 {
  static constexpr bool kWatches = true, kLoadsFirst = false;
  static constexpr int kBuffers = Buffers, kHalves = 2;
  Tf32Splitter splitter;

  template <int M, int N>
  PLUMB_DEVICE bool outside(const float (&sum)[M][N][4], Index depth) const {
    bool out = depth < kLeastTf32x3Depth || splitter.too_small();
#pragma unroll
    for (int m = 0; m < M; ++m) {
#pragma unroll
      for (int n = 0; n < N; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e) out |= not_finite(sum[m][n][e]);
      }
    }
    return out;
  }

  template <int M, int N>
  PLUMB_DEVICE void multiply_add(float (&sum)[M][N][4], const float (&a)[M][8], const float (&b)[N][4]) {
    unsigned b_hi[2][N][2], b_lo[2][N][2];
#pragma unroll
    for (int f = 0; f < 2; ++f) {
#pragma unroll
      for (int n = 0; n < N; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) splitter.split(b[n][2 * f + e], b_hi[f][n][e], b_lo[f][n][e]);
      }
    }
#pragma unroll
    for (int m = 0; m < M; ++m) {
      float step[N][4] = {};  // N independent chains of six, the small products of each half first
#pragma unroll
      for (int f = 0; f < 2; ++f) {
        unsigned a_hi[4], a_lo[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) splitter.split(a[m][4 * f + e], a_hi[e], a_lo[e]);
#pragma unroll
        for (int n = 0; n < N; ++n) mma_m16n8k8_tf32(step[n], a_lo, b_hi[f][n]);
#pragma unroll
        for (int n = 0; n < N; ++n) mma_m16n8k8_tf32(step[n], a_hi, b_lo[f][n]);
#pragma unroll
        for (int n = 0; n < N; ++n) mma_m16n8k8_tf32(step[n], a_hi, b_hi[f][n]);
      }
#pragma unroll
      for (int n = 0; n < N; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e) sum[m][n][e] += step[n][e];
      }
    }
  }
};

constexpr double kEfficiencyHalved = 0.9;

void run(const Problem<float>& p, const In<float>& in, const Out<float>& out, Context& context) {
  const Index m = out.C.rows, n = out.C.cols;
  if (tile_cost(m, n, Large::BM, Large::BN, 1.0) <=
      tile_cost(m, n, Halved::BM, Halved::BN, kEfficiencyHalved)) {
    context.explain("128 x 128 tiles: fewest rounds for their size");
    run_tensor<float, Large, ThreeTf32<2>>(p, in, out, context);
  } else {
    context.explain(
        "64 x 128 tiles, depth shared by two groups of warps: larger tiles leave multiprocessors idle");
    run_tensor<float, Halved, ThreeTf32<1>>(p, in, out, context);
  }
}

const Register<Gemm, float, Space::device> f32{"13_tf32x3", run,
                                               Traits{}.computes_in(Arithmetic::tf32x3).needs_sm(80)};

}  // namespace
}  // namespace plumb
