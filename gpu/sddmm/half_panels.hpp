// Panels of 16-bit elements by tensor cores: what rung 11 runs for f16 and bf16. Header only.
//
// As in tensor_panels.hpp a group's 16 units are the rows of A of an mma, each eight rows of X the columns of a B, and the four lanes of a unit
// or row take 16 bytes each of every 64. Of 16-bit elements these are the words that two mma take: X stays in registers as it was loaded, if it
// is short enough, and Y goes from memory to the mma. Sums are fp32.
#pragma once
#include "gpu/device/mma_half.hpp"
#include "gpu/sddmm/panels.hpp"

namespace plumb {
namespace sddmm {

constexpr int kHalfPanelThreads = 128, kHalfTerms = 32;  // terms of a chunk: 16 bytes of four lanes

/// Tiles of eight rows of X; chunks of Y in flight together, all of k where X is Held in registers; whether rows lie on 16 bytes.
template <class T, int Tiles, int Chunks, bool Held, bool Aligned>
__global__ void __launch_bounds__(kHalfPanelThreads)
    sddmm_half_panels(In<T> in, Out<T> out, Index panels, const std::int32_t* group_ptr /* (panels + 1) */,
                      const std::int32_t* unit_col /* (groups * kPanelUnits) */,
                      const std::uint32_t* group_rows /* (groups * kRows / 2): two rows each */,
                      unsigned x_bytes, unsigned y_bytes) {
  using E = in_t<T>;
  constexpr int kRows = 8 * Tiles, kLanes = 4;
  const int lane = static_cast<int>(threadIdx.x) % 32, own = lane / kLanes, part = lane % kLanes;
  const Index panel = (static_cast<Index>(blockIdx.x) * kHalfPanelThreads + threadIdx.x) / 32;
  if (panel >= panels) return;  // whole warps
  const int begin = __ldg(group_ptr + panel), end = __ldg(group_ptr + panel + 1);
  if (begin == end) return;
  const Index terms = in.X.cols;
  const auto piece = [&](const E* row, Index at) {
    return detail::as<uint4>(load_piece<Aligned>(row, at, part, kLanes, terms));
  };
  const auto row_of_x = [&](int n) {
    const Index row = panel * kRows + n * 8 + own;
    return row_at(in.X.data, static_cast<int>(row < in.A.rows ? row : in.A.rows - 1), x_bytes);
  };
  uint4 x[Chunks][Tiles];
  std::int32_t place[Tiles][2];  // of the next entries of the rows whose sums this lane gets
#pragma unroll
  for (int n = 0; n < Tiles; ++n) {
#pragma unroll
    for (int c = 0; Held && c < Chunks; ++c) x[c][n] = piece(row_of_x(n), c * kHalfTerms);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const Index i = panel * kRows + n * 8 + 2 * part + r;
      place[n][r] = __ldg(in.A.row_ptr + (i < in.A.rows ? i : in.A.rows));
    }
  }
  const auto column = [&](int group, int v) {
    return __ldg(unit_col + static_cast<Index>(group < end ? group : begin) * kPanelUnits + own + 8 * v);
  };
  int next[2] = {column(begin, 0), column(begin, 1)};
  for (int group = begin; group < end; ++group) {
    const E* const y[2] = {row_at(in.Y.data, next[0], y_bytes), row_at(in.Y.data, next[1], y_bytes)};
    std::uint32_t both[Tiles];
#pragma unroll
    for (int n = 0; n < Tiles; ++n)
      both[n] = __ldg(group_rows + static_cast<Index>(group) * (kRows / 2) + 4 * n + part);
    next[0] = column(group + 1, 0), next[1] = column(group + 1, 1);
    float sum[Tiles][4] = {};
    for (Index at = 0; at == 0 || (!Held && at < terms); at += Chunks * kHalfTerms) {
      uint4 of_y[Chunks][2];
#pragma unroll
      for (int c = 0; c < Chunks; ++c) {
#pragma unroll
        for (int v = 0; v < 2; ++v) of_y[c][v] = piece(y[v], at + c * kHalfTerms);
      }
#pragma unroll
      for (int c = 0; c < Chunks; ++c) {
        const unsigned a[2][4] = {{of_y[c][0].x, of_y[c][1].x, of_y[c][0].y, of_y[c][1].y},
                                  {of_y[c][0].z, of_y[c][1].z, of_y[c][0].w, of_y[c][1].w}};
#pragma unroll
        for (int n = 0; n < Tiles; ++n) {
          const uint4 b = Held ? x[c][n] : piece(row_of_x(n), at + c * kHalfTerms);
          const unsigned first[2] = {b.x, b.y}, second[2] = {b.z, b.w};
          mma_m16n8k16(sum[n], a[0], first, E{});
          mma_m16n8k16(sum[n], a[1], second, E{});
        }
      }
    }
#pragma unroll
    for (int n = 0; n < Tiles; ++n) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const unsigned holds = both[n] >> 16 * r & 0xffffu;
#pragma unroll
        for (int v = 0; v < 2; ++v) {
          const int unit = own + 8 * v;
          if ((holds >> unit & 1u) == 0) continue;
          out.s.data[place[n][r] + __popc(holds & ((1u << unit) - 1))] = stored<out_t<T>>(sum[n][2 * v + r]);
        }
        place[n][r] += __popc(holds);
      }
    }
  }
}

template <int Tiles, int Chunks, bool Held, class T>
void run_half_panels_of(const PanelPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  const auto kernel = on_16_bytes(in) ? sddmm_half_panels<T, Tiles, Chunks, Held, true>
                                      : sddmm_half_panels<T, Tiles, Chunks, Held, false>;
  launch(kernel, ceil_div(plan.panels, kHalfPanelThreads / 32), kHalfPanelThreads, 0, context.stream, in, out,
         plan.panels, plan.group_ptr, plan.unit_col, plan.group_rows, row_bytes(in.X), row_bytes(in.Y));
}

/// Of panels of 8 rows where k is up to 32, else of 16.
template <class T>
void run_half_panels(const PanelPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  if (in.X.cols <= 32) return run_half_panels_of<1, 1, true>(plan, in, out, context);
  if (in.X.cols <= 64) return run_half_panels_of<2, 2, true>(plan, in, out, context);
  if (in.X.cols <= 128) return run_half_panels_of<2, 4, true>(plan, in, out, context);
  run_half_panels_of<2, 4, false>(plan, in, out, context);
}

}  // namespace sddmm
}  // namespace plumb
