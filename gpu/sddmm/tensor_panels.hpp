// The kernel of rung 11: the panels of rung 9 multiplied by the fp64 tensor cores. Apart from it because the
// adaptive rung picks it too.
//
// A group's 16 units are the rows of A of an mma, the panel's eight rows of X the columns of B: no sum crosses
// lanes but inside the mma. The four lanes of a unit or row take 16 bytes each of every 64 (which elements share
// an mma is free, as long as X and Y agree). Elements of fp32 become fp64 in registers: their products are then
// exact and the sum is rounded once, to the element type, at the end.
#pragma once
#include "gpu/runtime/mma.hpp"
#include "gpu/sddmm/panels.hpp"

namespace plumb {
namespace sddmm {

constexpr int kTensorThreads = 128;

// kPieces of X in a lane's registers, if they are all of it (else they are read anew for every group), and
// kFlight pieces of a row of Y asked for together.
template <class T, int kPieces, bool Held, int kFlight, bool Aligned>
__global__ void __launch_bounds__(kTensorThreads)
    sddmm_tensor_panels(In<T> in, Out<T> out, Index panels, const std::int32_t* group_ptr /* (panels + 1) */,
                        const std::int32_t* unit_col /* (groups * kPanelUnits) */,
                        const std::uint16_t* group_rows /* (groups * kPanelRows) */, unsigned y_bytes) {
  constexpr int kSize = Piece<T>::kSize, kLanes = 4, kStride = kLanes * kSize;
  static_assert(kPieces % kFlight == 0, "whole flights");
  const int lane = static_cast<int>(threadIdx.x) % 32, own = lane / kLanes, part = lane % kLanes;
  const Index panel = (static_cast<Index>(blockIdx.x) * kTensorThreads + threadIdx.x) / 32;
  if (panel >= panels) return;  // whole warps
  const Index terms = in.X.cols, rows = in.A.rows;
  const Index x_row = panel * kPanelRows + own;
  const T* x = in.X.data + (x_row < rows ? x_row : rows - 1) * in.X.ld;
  double held[kPieces][kSize];
  const auto hold = [&](Index at) {
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      const Piece<T> piece = load_piece<Aligned>(x, at + p * kStride, part, kLanes, terms);
#pragma unroll
      for (int j = 0; j < kSize; ++j) held[p][j] = static_cast<double>(piece.element[j]);
    }
  };
  if (Held) hold(0);
  Index place[2];  // of the two rows whose sums this lane gets
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const Index i = panel * kPanelRows + 2 * part + r;
    place[r] = i < rows ? __ldg(in.A.row_ptr + i) : 0;
  }
  const Index end = __ldg(group_ptr + panel + 1);
  for (Index group = __ldg(group_ptr + panel); group < end; ++group) {
    const std::int32_t* column = unit_col + group * kPanelUnits + own;
    const T* y[2] = {row_at(in.Y.data, __ldg(column), y_bytes),
                     row_at(in.Y.data, __ldg(column + kPanelUnits / 2), y_bytes)};
    double sum[4] = {};
    Index at = 0;
    do {
      if (!Held) hold(at);
#pragma unroll
      for (int first = 0; first < kPieces; first += kFlight) {
        Piece<T> of_y[kFlight][2];
#pragma unroll
        for (int p = 0; p < kFlight; ++p) {
#pragma unroll
          for (int v = 0; v < 2; ++v)
            of_y[p][v] = load_piece<Aligned>(y[v], at + (first + p) * kStride, part, kLanes, terms);
        }
#pragma unroll
        for (int p = 0; p < kFlight; ++p) {
#pragma unroll
          for (int j = 0; j < kSize; j += 2) {
            const double a[4] = {static_cast<double>(of_y[p][0].element[j]),
                                 static_cast<double>(of_y[p][1].element[j]),
                                 static_cast<double>(of_y[p][0].element[j + 1]),
                                 static_cast<double>(of_y[p][1].element[j + 1])};
            const double b[2] = {held[first + p][j], held[first + p][j + 1]};
            mma_m16n8k8_f64(sum, a, b);
          }
        }
      }
      at += kPieces * kStride;
    } while (!Held && at < terms);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const unsigned holds = __ldg(group_rows + group * kPanelRows + 2 * part + r);
#pragma unroll
      for (int v = 0; v < 2; ++v) {
        const int unit = own + v * (kPanelUnits / 2);
        if ((holds >> unit & 1u) != 0)
          out.s.data[place[r] + __popc(holds & ((1u << unit) - 1))] = static_cast<T>(sum[2 * v + r]);
      }
      place[r] += __popc(holds);
    }
  }
}

template <int kPieces, bool Held, int kFlight, bool Aligned, class T>
void run_tensor_panels_of(const PanelPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  launch(sddmm_tensor_panels<T, kPieces, Held, kFlight, Aligned>, ceil_div(plan.panels, kTensorThreads / 32),
         kTensorThreads, 0, context.stream, in, out, plan.panels, plan.group_ptr, plan.unit_col,
         plan.group_rows, static_cast<unsigned>(in.Y.ld * static_cast<Index>(sizeof(T))));
}

template <bool Aligned, class T>
void run_tensor_panels_for_k(const PanelPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr int kStride = 4 * Piece<T>::kSize, kMost = 32 / Piece<T>::kSize;  // pieces: 64 registers of X
  if (in.X.cols <= kMost / 4 * kStride)
    return run_tensor_panels_of<kMost / 4, true, 2, Aligned>(plan, in, out, context);
  if (in.X.cols <= kMost / 2 * kStride)
    return run_tensor_panels_of<kMost / 2, true, 4, Aligned>(plan, in, out, context);
  if (in.X.cols <= kMost * kStride)
    return run_tensor_panels_of<kMost, true, 4, Aligned>(plan, in, out, context);
  run_tensor_panels_of<kMost / 2, false, 4, Aligned>(plan, in, out, context);
}

template <class T>
void run_tensor_panels(const PanelPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  if (on_16_bytes(in))
    run_tensor_panels_for_k<true>(plan, in, out, context);
  else
    run_tensor_panels_for_k<false>(plan, in, out, context);
}

}  // namespace sddmm
}  // namespace plumb
