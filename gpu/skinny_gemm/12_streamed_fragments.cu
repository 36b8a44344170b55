// skinny_gemm, rung 12: rung 9's fragments of W, X through shared memory in long pieces of rows (fp64).
//
// Change    rung 9 loads X straight to the lanes, 64 bytes of each of 8 rows at once. Here each warp copies
//           16 rows by 64 into three stages of its own, 512 contiguous bytes of a row, two stages ahead, so
//           that memory reads long pieces and twice as many bytes are in flight; fragments come from
//           there.
// Traffic   compulsory, coalesced; W once per warp.
// Limits    fp64: 226 to 230 registers, no spills (sm_90, nvcc 13.0, ptxas -v). 1 block of 256 threads per
//           SM, 216 KiB of dynamic shared memory, 131 KB of X in flight. H200, 281,903 x 128 x 16: 84.1 to
//           87.1 us, where cuBLAS takes 83.5; rung 9: 91.3 to 97.9 us. With each copy told to let X leave the
//           second-level cache first: 91.2 us.
// Fails at  as rung 9: K beyond 128, N beyond 16.
// Source    as rungs 9 and 10.
#include "gpu/skinny_gemm/row_copies.hpp"

namespace plumb {
namespace {

using namespace skinny;
using S = RowStages<double, 64, 8, 3>;

/// V: elements that a copy moves, as X is aligned.
template <int V>
__global__ void __launch_bounds__(S::kThreads, 1)
    skinny_streamed_fragments(In<double> in, Out<double> out, bool wide_y) {
#if PLUMB_SM_AT_LEAST(90)
  PLUMB_DYNAMIC_SHARED(double, shared);
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
  const int my_warp = static_cast<int>(threadIdx.x) / 32;
  double* const ring = shared + my_warp * S::kStages * S::kTile;
  const Index warp = static_cast<Index>(blockIdx.x) * S::kWarps + my_warp,
              warps = static_cast<Index>(gridDim.x) * S::kWarps;
  const Index begin = out.Y.rows * warp / warps, end = out.Y.rows * (warp + 1) / warps;
  const Index j0 = static_cast<Index>(blockIdx.y) * kCols, depth = in.X.cols;
  if (begin >= end) return;  // whole warps; there are no barriers

  double w[S::kChunks][S::kDepth / 8][2][2];
  const auto load_w = [&](Index k0) {
#pragma unroll
    for (int s = 0; s < kPanel / 8; ++s) {
#pragma unroll
      for (int n = 0; n < 2; ++n) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const Index k = k0 + 8 * s + 2 * t + h, j = j0 + 8 * n + g;
          w[s / (S::kDepth / 8)][s % (S::kDepth / 8)][n][h] = k < depth && j < in.W.cols ? in.W(k, j) : 0.0;
        }
      }
    }
  };
  RowCopies<double, S, V> copies(in.X, begin, end);
  for (int s = 0; s < S::kStages - 1; ++s) copies.start(ring + s * S::kTile);
  load_w(0);
  int reading = 0, writing = S::kStages - 1;
  double sum[2][4] = {};
  for (Index row = begin; row < end; row += S::kRows) {
    for (Index panel = 0; panel < copies.panels; ++panel) {
      if (copies.panels > 1) load_w(panel * kPanel);
#pragma unroll
      for (int c = 0; c < S::kChunks; ++c) {
        cp_async_wait<S::kStages - 2>();
        __syncwarp();
        copies.start(ring + writing * S::kTile);  // into the stage that all lanes left before
        const double* const x = ring + reading * S::kTile + g * S::kPitch + 2 * t;
        writing = reading;
        reading = reading + 1 == S::kStages ? 0 : reading + 1;
#pragma unroll
        for (int s = 0; s < S::kDepth / 8; ++s) {
          const double2 upper = *reinterpret_cast<const double2*>(x + 8 * s),
                        lower = *reinterpret_cast<const double2*>(x + 8 * S::kPitch + 8 * s);
          const double a[4] = {upper.x, lower.x, upper.y, lower.y};
#pragma unroll
          for (int n = 0; n < 2; ++n) mma_m16n8k8_f64(sum[n], a, w[c][s][n]);
        }
      }
    }
#pragma unroll
    for (int n = 0; n < 2; ++n) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const Index i = row + g + 8 * h, j = j0 + 8 * n + 2 * t;
        double* const at = out.Y.data + i * out.Y.ld + j;
        if (i < end && wide_y && j + 1 < out.Y.cols) {
          *reinterpret_cast<double2*>(at) = double2{sum[n][2 * h], sum[n][2 * h + 1]};
        } else if (i < end) {
          if (j < out.Y.cols) at[0] = sum[n][2 * h];
          if (j + 1 < out.Y.cols) at[1] = sum[n][2 * h + 1];
        }
        sum[n][2 * h] = sum[n][2 * h + 1] = 0.0;
      }
    }
  }
  cp_async_wait_all();
#endif
}

void run(const SkinnyGemm::Problem<double>&, const In<double>& in, const Out<double>& out, Context& context) {
  launch_row_stages<S>(copy_width(in) == 2 ? skinny_streamed_fragments<2> : skinny_streamed_fragments<1>, in,
                       out, rows_on_vectors(out.Y), context);
}

const Register<SkinnyGemm, double, Space::device> f64{"12_streamed_fragments", run, Traits{}.needs_sm(90)};

}  // namespace
}  // namespace plumb
