// The body of rung 12: fragments of W in registers, X through stages of a warp's own. Header only.
#pragma once
#include "gpu/skinny_gemm/kernels/row_copies.hpp"

namespace plumb {
namespace skinny {

using FragmentStages = RowStages<double, 64, 8, 3>;

/// V: elements that a copy moves, as X is aligned.
template <int V>
__global__ void __launch_bounds__(FragmentStages::kThreads, 1)
    skinny_streamed_fragments(In<double> in, Out<double> out, bool wide_y) {
#if PLUMB_SM_AT_LEAST(90)
  PLUMB_DYNAMIC_SHARED(double, shared);
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
  const int my_warp = static_cast<int>(threadIdx.x) / 32;
  double* const ring = shared + my_warp * FragmentStages::kStages * FragmentStages::kTile;
  const Index warp = static_cast<Index>(blockIdx.x) * FragmentStages::kWarps + my_warp,
              warps = static_cast<Index>(gridDim.x) * FragmentStages::kWarps;
  const Index begin = out.Y.rows * warp / warps, end = out.Y.rows * (warp + 1) / warps;
  const Index j0 = static_cast<Index>(blockIdx.y) * kCols, depth = in.X.cols;
  if (begin >= end) return;  // whole warps; there are no barriers

  double w[FragmentStages::kChunks][FragmentStages::kDepth / 8][2][2];
  const auto load_w = [&](Index k0) {
#pragma unroll
    for (int s = 0; s < kPanel / 8; ++s) {
#pragma unroll
      for (int n = 0; n < 2; ++n) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const Index k = k0 + 8 * s + 2 * t + h, j = j0 + 8 * n + g;
          w[s / (FragmentStages::kDepth / 8)][s % (FragmentStages::kDepth / 8)][n][h] =
              k < depth && j < in.W.cols ? in.W(k, j) : 0.0;
        }
      }
    }
  };
  RowCopies<double, FragmentStages, V> copies(in.X, begin, end);
  for (int s = 0; s < FragmentStages::kStages - 1; ++s) copies.start(ring + s * FragmentStages::kTile);
  load_w(0);
  int reading = 0, writing = FragmentStages::kStages - 1;
  double sum[2][4] = {};
  for (Index row = begin; row < end; row += FragmentStages::kRows) {
    for (Index panel = 0; panel < copies.panels; ++panel) {
      if (copies.panels > 1) load_w(panel * kPanel);
#pragma unroll
      for (int c = 0; c < FragmentStages::kChunks; ++c) {
        cp_async_wait<FragmentStages::kStages - 2>();
        __syncwarp();
        copies.start(ring + writing * FragmentStages::kTile);  // into the stage that all lanes left before
        const double* const x = ring + reading * FragmentStages::kTile + g * FragmentStages::kPitch + 2 * t;
        writing = reading;
        reading = reading + 1 == FragmentStages::kStages ? 0 : reading + 1;
#pragma unroll
        for (int s = 0; s < FragmentStages::kDepth / 8; ++s) {
          const double2 upper = *reinterpret_cast<const double2*>(x + 8 * s),
                        lower = *reinterpret_cast<const double2*>(x + 8 * FragmentStages::kPitch + 8 * s);
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

inline void run_streamed_fragments(const In<double>& in, const Out<double>& out, Context& context) {
  launch_row_stages<FragmentStages>(
      copy_width(in) == 2 ? skinny_streamed_fragments<2> : skinny_streamed_fragments<1>, in, out,
      rows_on_vectors(out.Y), context);
}

}  // namespace skinny
}  // namespace plumb
