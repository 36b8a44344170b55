// The body of rung 9: W as fp64 tensor-core fragments in registers, X streamed past it. Header only.
#pragma once
#include "gpu/skinny_gemm/common.hpp"

namespace plumb {
namespace skinny {
namespace fragments {

/// Rows per step, steps in flight, warps per block; one block per multiprocessor.
constexpr int kRows = 16, kAhead = 8, kWarps = 8;

/// Where a warp is: a panel of K for 16 of its rows.
struct Item {
  Index row, k;
};

/// Steps: of 8 along K per panel. Tiles: of 8 columns. Plain: every vector is aligned and every panel full,
/// so nothing is compared.
template <int Steps, int Tiles, bool Plain>
__global__ void __launch_bounds__(32 * kWarps, 1)
    skinny_tensor_fragments(In<double> in, Out<double> out, bool wide_y) {
  static_assert(Steps % kAhead == 0, "the ring of steps keeps its places from panel to panel");
#if PLUMB_SM_AT_LEAST(90)
  constexpr int kPanelDepth = 8 * Steps;
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
  const Index warp = static_cast<Index>(blockIdx.x) * kWarps + threadIdx.x / 32,
              warps = static_cast<Index>(gridDim.x) * kWarps;
  const Index begin = out.Y.rows * warp / warps, end = out.Y.rows * (warp + 1) / warps;
  const Index j0 = static_cast<Index>(blockIdx.y) * 8 * Tiles, depth = in.X.cols;
  if (begin >= end) return;  // whole warps; there are no barriers

  double w[Steps][Tiles][2];
  const auto load_w = [&](Index k0) {
#pragma unroll
    for (int s = 0; s < Steps; ++s) {
#pragma unroll
      for (int n = 0; n < Tiles; ++n) {
        const Index k = k0 + 8 * s + 2 * t, j = j0 + 8 * n + g;
        w[s][n][0] = k < depth && j < in.W.cols ? in.W(k, j) : 0.0;
        w[s][n][1] = k + 1 < depth && j < in.W.cols ? in.W(k + 1, j) : 0.0;
      }
    }
  };
  const auto load_x = [&](double2(&x)[2], const Item& item, int step) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      Index row = item.row + g + 8 * h;
      if (row >= end) row = end - 1;  // a row of this warp once more: its product is not kept
      const Index k = item.k + 8 * step + 2 * t;
      const double* const at = in.X.data + row * in.X.ld + k;
      if (Plain) {
        x[h] = __ldcs(reinterpret_cast<const double2*>(at));
      } else {
        x[h].x = k < depth ? at[0] : 0.0;
        x[h].y = k + 1 < depth ? at[1] : 0.0;
      }
    }
  };
  const auto next_of = [&](Item item) {
    item.k += kPanelDepth;
    if (item.k >= depth) item.k = 0, item.row += kRows;
    return item;
  };

  const bool one_panel = depth <= kPanelDepth;
  Item item{begin, 0};
  load_w(0);
  double2 x[kAhead][2];
#pragma unroll
  for (int s = 0; s < kAhead; ++s) load_x(x[s], item, s);
  double sum[Tiles][4] = {};
  while (item.row < end) {
    const Item next = next_of(item);
    if (!one_panel) load_w(item.k);
#pragma unroll
    for (int s = 0; s < Steps; ++s) {
      const double a[4] = {x[s % kAhead][0].x, x[s % kAhead][1].x, x[s % kAhead][0].y, x[s % kAhead][1].y};
#pragma unroll
      for (int n = 0; n < Tiles; ++n) mma_m16n8k8_f64(sum[n], a, w[s][n]);
      if (s + kAhead < Steps) {
        load_x(x[s % kAhead], item, s + kAhead);
      } else if (next.row < end) {
        load_x(x[s % kAhead], next, s + kAhead - Steps);
      }
    }
    if (next.row != item.row) {
#pragma unroll
      for (int n = 0; n < Tiles; ++n) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const Index row = item.row + g + 8 * h, j = j0 + 8 * n + 2 * t;
          double* const at = out.Y.data + row * out.Y.ld + j;
          if (row < end && wide_y && j + 1 < out.Y.cols) {
            *reinterpret_cast<double2*>(at) = double2{sum[n][2 * h], sum[n][2 * h + 1]};
          } else if (row < end) {
            if (j < out.Y.cols) at[0] = sum[n][2 * h];
            if (j + 1 < out.Y.cols) at[1] = sum[n][2 * h + 1];
          }
          sum[n][2 * h] = sum[n][2 * h + 1] = 0.0;
        }
      }
    }
    item = next;
  }
#endif
}

template <int Steps, int Tiles, bool Plain>
void start(const In<double>& in, const Out<double>& out, bool wide_y, Context& context) {
  const Index shares = ceil_div(out.Y.rows, kRows * kWarps),
              blocks = shares < device_multiprocessors() ? shares : device_multiprocessors();
  launch(skinny_tensor_fragments<Steps, Tiles, Plain>,
         Grid(static_cast<unsigned>(blocks), static_cast<unsigned>(ceil_div(out.Y.cols, 8 * Tiles))),
         32 * kWarps, 0, context.stream, in, out, wide_y);
}

inline void run_fragments(const In<double>& in, const Out<double>& out, Context& context) {
  const Index k = in.X.cols;
  const bool aligned = rows_on_vectors(in.X), wide_y = rows_on_vectors(out.Y), narrow = out.Y.cols <= 8;
  if (aligned && k > 0 && k % 128 == 0) {
    narrow ? start<16, 1, true>(in, out, wide_y, context) : start<16, 2, true>(in, out, wide_y, context);
  } else if (aligned && k > 0 && k % 64 == 0) {
    narrow ? start<8, 1, true>(in, out, wide_y, context) : start<8, 2, true>(in, out, wide_y, context);
  } else {
    start<16, 2, false>(in, out, wide_y, context);
  }
}

}  // namespace fragments
}  // namespace skinny
}  // namespace plumb
