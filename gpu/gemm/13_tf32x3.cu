// gemm, rung 13: fp32 by three tf32 products on tensor cores (fp32, declared tf32x3).
//
// Change    each operand is split into two tf32 numbers, x = hi + lo, and hi hi + hi lo + lo hi goes through the tensor cores: 22 bits
//           of each operand, within the fp32 bound. The tensor cores' own sums are truncated, not rounded, which drifts; so each step
//           of 8 starts from zero there and is added to the sums by ordinary fp32 additions.
// Values    tf32 has fp32's range, but splitting does not survive all of it: Inf - Inf is NaN, and the low part of a number below
//           2^-100 may be lost. A tile that meets such an operand, or a sum that is not finite, is computed again by plain fp32
//           multiply-adds, all of it: right, slow, and the same on every run.
// Traffic   that of rung 10.
// Limits    @LIMITS@
// Fails at  the rate of mma.sync, about five eighths of what wgmma reaches on sm_90: three products leave about a third of that.
// Source    H. Ootomo and R. Yokota, "Recovering single precision accuracy from Tensor Cores" (2022); CUTLASS, 3xTF32 example.
#include "gpu/gemm/tensor_tile.hpp"

namespace plumb {
namespace {

using namespace gemm;

using Large = TensorShape<float, 128, 128, 32, 2, 4, 1, 4>;
using Halved = TensorShape<float, 64, 128, 32, 1, 4, 2, 4>;

/// x as hi + lo, and whether x is outside the range where that loses nothing that the bound allows for.
PLUMB_DEVICE bool split(float x, unsigned& hi, unsigned& lo) {
  constexpr unsigned kSmall = (127u - 100u) << 23, kBig = (127u + 126u) << 23;  // 2^-100, 2^126
  hi = to_tf32(x);
  lo = to_tf32(x - __uint_as_float(hi));
  const unsigned size = __float_as_uint(x) & 0x7fffffffu;
  return size != 0 && size - kSmall >= kBig - kSmall;
}

struct ThreeTf32 {
  static constexpr bool kWatches = true;
  static constexpr int kBuffers = 2;
  bool met_outside = false;

  template <int M, int N>
  PLUMB_DEVICE bool outside(const float (&sum)[M][N][4]) const {
    bool out = met_outside;
#pragma unroll
    for (int m = 0; m < M; ++m) {
#pragma unroll
      for (int n = 0; n < N; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e) out |= (__float_as_uint(sum[m][n][e]) & 0x7f800000u) == 0x7f800000u;
      }
    }
    return out;
  }

  template <int M, int N>
  PLUMB_DEVICE void multiply_add(float (&sum)[M][N][4], const float (&a)[M][4], const float (&b)[N][2]) {
    unsigned b_hi[N][2], b_lo[N][2];
#pragma unroll
    for (int n = 0; n < N; ++n) {
#pragma unroll
      for (int e = 0; e < 2; ++e) met_outside |= split(b[n][e], b_hi[n][e], b_lo[n][e]);
    }
#pragma unroll
    for (int m = 0; m < M; ++m) {
      unsigned a_hi[4], a_lo[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) met_outside |= split(a[m][e], a_hi[e], a_lo[e]);
      float step[N][4] = {};  // N independent chains of three: the small products first
#pragma unroll
      for (int n = 0; n < N; ++n) mma_m16n8k8_tf32(step[n], a_lo, b_hi[n]);
#pragma unroll
      for (int n = 0; n < N; ++n) mma_m16n8k8_tf32(step[n], a_hi, b_lo[n]);
#pragma unroll
      for (int n = 0; n < N; ++n) mma_m16n8k8_tf32(step[n], a_hi, b_hi[n]);
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
  if (tile_cost(m, n, Large::BM, Large::BN, 1.0) <= tile_cost(m, n, Halved::BM, Halved::BN, kEfficiencyHalved)) {
    context.explain("128 x 128 tiles: fewest rounds for their size");
    run_tensor<float, Large, ThreeTf32>(p, in, out, context);
  } else {
    context.explain("64 x 128 tiles, depth shared by two groups of warps: larger tiles leave multiprocessors idle");
    run_tensor<float, Halved, ThreeTf32>(p, in, out, context);
  }
}

const Register<Gemm, float, Space::device> f32{"13_tf32x3", run, Traits{}.computes_in(Arithmetic::tf32x3).needs_sm(80)};

}  // namespace
}  // namespace plumb
