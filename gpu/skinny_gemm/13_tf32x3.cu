// skinny_gemm, rung 13: fp32 by three tf32 products on tensor cores, streamed as in rung 12 (fp32, declared
// tf32x3).
//
// Change    a warp holds W split into two tf32 numbers, w = hi + lo, as fragments in registers; X comes
//           through its own stages, is split on its way from there, and hi hi + hi lo + lo hi goes through
//           the tensor cores, which leaves the schedulers to the copies. Each step of 16 starts from zero
//           there and is added by ordinary fp32 additions, because the tensor cores truncate their sums.
// Values    an item of 16 rows that has an operand below 2^-100, where the low part is lost, or a sum
//           that is not finite is made again by plain multiply-adds; so is all where K is below 16.
// Traffic   compulsory for up to 16 columns, coalesced; W once per warp.
// Fails at  K beyond 128: W is loaded and split anew for each panel and 16 rows; N beyond 16: X is read
//           again.
// Source    H. Ootomo and R. Yokota, "Recovering single precision accuracy from Tensor Cores" (2022).
#include "gpu/device/tf32x3.hpp"
#include "gpu/skinny_gemm/kernels/row_copies.hpp"

namespace plumb {
namespace {

using namespace skinny;

/// V: elements that a copy moves, as X is aligned.
template <class S, int V>
__global__ void __launch_bounds__(S::kThreads, 1) skinny_tf32x3(In<float> in, Out<float> out, bool wide_y) {
  PLUMB_DYNAMIC_SHARED(float, shared);
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
  const int my_warp = static_cast<int>(threadIdx.x) / 32;
  float* const ring = shared + my_warp * S::kStages * S::kTile;
  const Index warp = static_cast<Index>(blockIdx.x) * S::kWarps + my_warp,
              warps = static_cast<Index>(gridDim.x) * S::kWarps;
  const Index begin = out.Y.rows * warp / warps, end = out.Y.rows * (warp + 1) / warps;
  const Index j0 = static_cast<Index>(blockIdx.y) * kCols, depth = in.X.cols;
  if (begin >= end) return;  // whole warps; there are no barriers

  unsigned w_hi[kPanel / 16][2][4], w_lo[kPanel / 16][2][4];
  Tf32Splitter of_x, of_w;
  // elements 4 t + e of a step of 16 are positions t (e even) and t + 4 (odd) of its half e / 2
  const auto load_w = [&](Index k0) {
#pragma unroll
    for (int s = 0; s < kPanel / 16; ++s) {
#pragma unroll
      for (int n = 0; n < 2; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const Index k = k0 + 16 * s + 4 * t + e, j = j0 + 8 * n + g;
          of_w.split(k < depth && j < in.W.cols ? in.W(k, j) : 0.0f, w_hi[s][n][e], w_lo[s][n][e]);
        }
      }
    }
  };
  RowCopies<float, S, V> copies(in.X, begin, end);
  for (int s = 0; s < S::kStages - 1; ++s) copies.start(ring + s * S::kTile);
  load_w(0);
  int reading = 0, writing = S::kStages - 1;
  float sum[2][4] = {};
  for (Index row = begin; row < end; row += S::kRows) {
    for (Index panel = 0; panel < copies.panels; ++panel) {
      if (copies.panels > 1) load_w(panel * kPanel);
#pragma unroll
      for (int c = 0; c < S::kChunks; ++c) {
        cp_async_wait<S::kStages - 2>();
        __syncwarp();
        copies.start(ring + writing * S::kTile);  // into the stage that all lanes left before
        const float* const x = ring + reading * S::kTile + g * S::kPitch + 4 * t;
        writing = reading;
        reading = reading + 1 == S::kStages ? 0 : reading + 1;
#pragma unroll
        for (int s = 0; s < S::kDepth / 16; ++s) {
          const int ws = c * (S::kDepth / 16) + s;
          const Vector<float> row_of[2] = {
              *reinterpret_cast<const Vector<float>*>(x + 16 * s),
              *reinterpret_cast<const Vector<float>*>(x + 8 * S::kPitch + 16 * s)};
          unsigned hi[2][4], lo[2][4];
#pragma unroll
          for (int e = 0; e < 4; ++e) {
#pragma unroll
            for (int h = 0; h < 2; ++h)
              of_x.split(row_of[h].lane[e], hi[e / 2][2 * (e % 2) + h], lo[e / 2][2 * (e % 2) + h]);
          }
          // the tensor cores truncate their sums: each step of 16 begins there at zero
          float step[2][4] = {};
#pragma unroll
          for (int f = 0; f < 2; ++f) {
#pragma unroll
            for (int n = 0; n < 2; ++n) {
              const unsigned b_hi[2] = {w_hi[ws][n][2 * f], w_hi[ws][n][2 * f + 1]};
              const unsigned b_lo[2] = {w_lo[ws][n][2 * f], w_lo[ws][n][2 * f + 1]};
              mma_m16n8k8_tf32(step[n], lo[f], b_hi);
              mma_m16n8k8_tf32(step[n], hi[f], b_lo);
              mma_m16n8k8_tf32(step[n], hi[f], b_hi);
            }
          }
#pragma unroll
          for (int n = 0; n < 2; ++n) {
#pragma unroll
            for (int e = 0; e < 4; ++e) sum[n][e] += step[n][e];
          }
        }
      }
    }
    bool outside = depth < kLeastTf32x3Depth || of_x.too_small() || of_w.too_small();
#pragma unroll
    for (int n = 0; n < 2; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) outside |= not_finite(sum[n][e]);
    }
    outside = __any_sync(0xffffffffu, outside);
    of_x = Tf32Splitter{};
#pragma unroll
    for (int n = 0; n < 2; ++n) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const Index i = row + g + 8 * h, j = j0 + 8 * n + 2 * t;
        float y[2] = {sum[n][2 * h], sum[n][2 * h + 1]};
        sum[n][2 * h] = sum[n][2 * h + 1] = 0.0f;
        if (i >= end) continue;
        if (outside) {
          for (int e = 0; e < 2; ++e) {
            y[e] = 0.0f;
            for (Index k = 0; k < depth && j + e < out.Y.cols; ++k) y[e] += in.X(i, k) * in.W(k, j + e);
          }
        }
        float* const at = out.Y.data + i * out.Y.ld + j;
        if (wide_y && j + 1 < out.Y.cols) {
          *reinterpret_cast<float2*>(at) = float2{y[0], y[1]};
        } else {
          if (j < out.Y.cols) at[0] = y[0];
          if (j + 1 < out.Y.cols) at[1] = y[1];
        }
      }
    }
  }
  cp_async_wait_all();
}

template <class S>
void start(const In<float>& in, const Out<float>& out, Context& context) {
  const int width = copy_width(in);
  const bool wide_y = reinterpret_cast<std::uintptr_t>(out.Y.data) % 8 == 0 && out.Y.ld % 2 == 0;
  launch_row_stages<S>(width == 4   ? skinny_tf32x3<S, 4>
                       : width == 2 ? skinny_tf32x3<S, 2>
                                    : skinny_tf32x3<S, 1>,
                       in, out, wide_y, context);
}

void run(const SkinnyGemm::Problem<float>&, const In<float>& in, const Out<float>& out, Context& context) {
  start<RowStages<float, 64, 16, 3>>(in, out, context);
}

// sm_80 has not the shared memory
const Register<SkinnyGemm, float, Space::device> f32{"13_tf32x3", run,
                                                     Traits{}.computes_in(Arithmetic::tf32x3).needs_sm(90)};

}  // namespace
}  // namespace plumb
