// The body of rung 11, which rung 14 falls back to: each warp streams its own rows of X through its own
// stages. Header only.
#pragma once
#include "gpu/common/async_copy.hpp"
#include "gpu/skinny_gemm/common.hpp"

namespace plumb {
namespace skinny {

/// Rows and depth of a warp's tile; W's rows in shared memory at a time; columns.
template <int Depth_, int Warps_, int Stages_>
struct Stream {
  static constexpr int kDepth = Depth_, kWarps = Warps_, kStages = Stages_, kRows = 64, kPitch = kDepth + 4,
                       kTile = kRows * kPitch;
  static constexpr std::size_t kShared = sizeof(float) * (kPanel * kCols + kWarps * kStages * kTile);
};

/// V: elements that a copy moves, as X is aligned.
template <class S, int V>
__global__ void __launch_bounds__(32 * S::kWarps, 1)
    skinny_streams(In<float> in, Out<float> out, bool wide_y) {
  PLUMB_DYNAMIC_SHARED(float, shared);
  auto& w = *reinterpret_cast<float(*)[kPanel][kCols]>(shared);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  float* const ring = shared + kPanel * kCols + warp * S::kStages * S::kTile;
  const Index depth = in.X.cols, j0 = static_cast<Index>(blockIdx.y) * kCols;
  // shares of whole eights of rows, so that all end together
  const Index eights = ceil_div(out.Y.rows, 8), shares = static_cast<Index>(gridDim.x) * S::kWarps,
              share = static_cast<Index>(blockIdx.x) * S::kWarps + warp;
  const Index begin = eights * share / shares * 8, stop = eights * (share + 1) / shares * 8,
              end = stop < out.Y.rows ? stop : out.Y.rows;
  constexpr int kPerRow = S::kDepth / V, kRowStep = 32 / kPerRow > 0 ? 32 / kPerRow : 1,
                kAcross = kPerRow > 32 ? kPerRow / 32 : 1;
  const int copy_k = lane % kPerRow * V, copy_row = lane / kPerRow;

  for (Index k0 = 0; k0 == 0 || k0 < depth; k0 += kPanel) {
    if (k0 > 0) __syncthreads();
    stage_w(w, in, k0, j0);
    __syncthreads();
    const int panel = static_cast<int>(depth - k0 < kPanel ? depth - k0 : kPanel);
    const int chunks = panel > S::kDepth ? static_cast<int>(ceil_div(panel, S::kDepth)) : 1;
    const int items = end > begin ? static_cast<int>(ceil_div(end - begin, S::kRows)) * chunks : 0;
    int copied = 0, chunk_copied = 0;
    Index row_copied = begin;
    const auto start_copies = [&](float* stage) {
      if (copied < items) {
        const int left = static_cast<int>(end - row_copied < S::kRows ? end - row_copied : S::kRows);
        const float* from = in.X.data + (row_copied + copy_row) * in.X.ld + k0 + chunk_copied * S::kDepth;
        float* to = stage + copy_row * S::kPitch;
#pragma unroll 8
        for (int r = 0; r < S::kRows; r += kRowStep) {
          const bool mine = copy_row + r < left;
#pragma unroll
          for (int q = 0; q < kAcross; ++q) {
            const int k = copy_k + 32 * V * q, within = panel - chunk_copied * S::kDepth - k;
            copy_inside<V>(to + k, from + k, mine ? within : 0, in.X.data);
          }
          from += kRowStep * in.X.ld, to += kRowStep * S::kPitch;
        }
        ++copied;
        if (++chunk_copied == chunks) chunk_copied = 0, row_copied += S::kRows;
      }
      cp_async_commit();
    };
    for (int s = 0; s < S::kStages - 1; ++s) start_copies(ring + s * S::kTile);
    const int my_row = row_of_lane(lane), my_col = 4 * quarter_of_lane(lane);
    float sum[8][4] = {};
    Index row = begin;
    int chunk = 0, reading = 0, writing = S::kStages - 1;
    for (int item = 0; item < items; ++item) {
      cp_async_wait<S::kStages - 2>();
      __syncwarp();
      start_copies(ring + writing * S::kTile);  // into the stage that all lanes left before
      const float* const x = ring + reading * S::kTile + my_row * S::kPitch;
      const float* const wk = &w[chunk * S::kDepth][my_col];
      writing = reading;
      reading = reading + 1 == S::kStages ? 0 : reading + 1;
#pragma unroll 4
      for (int k = 0; k < S::kDepth; k += 4) {
        Vector<float> xv[8];
#pragma unroll
        for (int r = 0; r < 8; ++r)
          xv[r] = *reinterpret_cast<const Vector<float>*>(x + 8 * r * S::kPitch + k);
#pragma unroll
        for (int l = 0; l < 4; ++l) {
          const Vector<float> v = *reinterpret_cast<const Vector<float>*>(wk + (k + l) * kCols);
#pragma unroll
          for (int r = 0; r < 8; ++r) {
#pragma unroll
            for (int c = 0; c < 4; ++c) sum[r][c] += xv[r].lane[l] * v.lane[c];
          }
        }
      }
      if (++chunk < chunks) continue;
      chunk = 0;
#pragma unroll
      for (int r = 0; r < 8; ++r) {
        const Index i = row + my_row + 8 * r, j = j0 + my_col;
        if (i < end) {
          float* const at = out.Y.data + i * out.Y.ld + j;
          const bool first = k0 == 0;
          if (wide_y && j + 4 <= out.Y.cols) {
            Vector<float> v{sum[r][0], sum[r][1], sum[r][2], sum[r][3]};
            if (!first) {
              const Vector<float> before = *reinterpret_cast<const Vector<float>*>(at);
#pragma unroll
              for (int c = 0; c < 4; ++c) v.lane[c] += before.lane[c];
            }
            *reinterpret_cast<Vector<float>*>(at) = v;
          } else {
#pragma unroll
            for (int c = 0; c < 4; ++c) {
              if (j + c < out.Y.cols) at[c] = first ? sum[r][c] : at[c] + sum[r][c];
            }
          }
        }
#pragma unroll
        for (int c = 0; c < 4; ++c) sum[r][c] = 0.0f;
      }
      row += S::kRows;
    }
    cp_async_wait_all();
  }
}

template <class S>
void run_streams(const In<float>& in, const Out<float>& out, Context& context) {
  const Index tiles = ceil_div(out.Y.rows, 8 * S::kWarps);
  const Grid grid(static_cast<unsigned>(tiles < device_multiprocessors() ? tiles : device_multiprocessors()),
                  static_cast<unsigned>(ceil_div(out.Y.cols, kCols)));
  const std::uintptr_t bits =
      reinterpret_cast<std::uintptr_t>(in.X.data) | static_cast<std::uintptr_t>(in.X.ld * 4);
  launch(bits % 16 == 0  ? skinny_streams<S, 4>
         : bits % 8 == 0 ? skinny_streams<S, 2>
                         : skinny_streams<S, 1>,
         grid, 32 * S::kWarps, S::kShared, context.stream, in, out, rows_on_vectors(out.Y));
}

/// The shape in use.
using Streams = Stream<64, 4, 3>;

}  // namespace skinny
}  // namespace plumb
