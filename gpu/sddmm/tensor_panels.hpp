// The kernel of rung 11: the panels of rung 9 multiplied by the fp64 tensor cores. Apart from it because the
// adaptive rung picks it too.
//
// A group's 16 units are the rows of A of an mma, the panel's eight rows of X the columns of B: no sum
// crosses lanes but inside the mma. The four lanes of a unit or row take 16 bytes each of every 64 (which
// elements share an mma is free, as long as X and Y agree). Elements of fp32 become fp64 in registers: their
// products are then exact, and the sum is rounded to fp32 once, at the end.
#pragma once
#include "gpu/runtime/mma.hpp"
#include "gpu/sddmm/panels.hpp"

namespace plumb {
namespace sddmm {

constexpr int kTensorThreads = 128;

/// Keeps the compiler from converting an element of X ahead of the loop over groups, which would take twice
/// the registers.
PLUMB_DEVICE void convert_late(float& x) {
#if !defined(PLUMB_SIMT)
  asm volatile("" : "+f"(x));
#else
  (void)x;
#endif
}
PLUMB_DEVICE void convert_late(double&) {}

/// Pieces of 16 bytes of X in a lane's registers; whether they are all of it, else they are read anew for
/// every group; pieces of a row of Y asked for together; blocks of a multiprocessor; and whether rows lie on
/// 16 bytes.
template <int Pieces, bool IsHeld, int Flight, int Blocks, bool IsAligned>
struct TensorShape {
  static constexpr int kPieces = Pieces, kFlight = Flight, kBlocks = IsAligned ? Blocks : 1;
  static constexpr bool kHeld = IsHeld, kAligned = IsAligned;
  static_assert(kPieces % kFlight == 0, "whole flights");
};

template <class Shape, class T>
__global__ void __launch_bounds__(kTensorThreads, Shape::kBlocks)
    sddmm_tensor_panels(In<T> in, Out<T> out, Index panels, const std::int32_t* group_ptr /* (panels + 1) */,
                        const std::int32_t* unit_col /* (groups * kPanelUnits) */,
                        const std::uint32_t* group_rows /* (groups * kPanelRows / 2): two rows each */,
                        unsigned y_bytes) {
  constexpr int kSize = Piece<T>::kSize, kLanes = 4, kStride = kLanes * kSize;
  constexpr int kPieces = Shape::kPieces, kFlight = Shape::kFlight;
  const int lane = static_cast<int>(threadIdx.x) % 32, own = lane / kLanes, part = lane % kLanes;
  const Index panel = (static_cast<Index>(blockIdx.x) * kTensorThreads + threadIdx.x) / 32;
  if (panel >= panels) return;  // whole warps
  const Index terms = in.X.cols, rows = in.A.rows;
  const Index x_row = panel * kPanelRows + own;
  const T* x = in.X.data + (x_row < rows ? x_row : rows - 1) * in.X.ld;
  T held[kPieces][kSize];
  const auto hold = [&](Index at) {
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      const Piece<T> piece = load_piece<Shape::kAligned>(x, at + p * kStride, part, kLanes, terms);
#pragma unroll
      for (int j = 0; j < kSize; ++j) held[p][j] = piece.element[j];
    }
  };
  if (Shape::kHeld) hold(0);
  int place[2];  // of the two rows whose sums this lane gets
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const Index i = panel * kPanelRows + 2 * part + r;
    place[r] = i < rows ? __ldg(in.A.row_ptr + i) : 0;
  }
  int group = __ldg(group_ptr + panel);
  const int end = __ldg(group_ptr + panel + 1);
  if (group == end) return;
  const auto column = [&](int of, int v) {
    return __ldg(unit_col + static_cast<Index>(of) * kPanelUnits + own + v * (kPanelUnits / 2));
  };
  int next[2] = {column(group, 0), column(group, 1)};
  for (; group < end; ++group) {
    const T* y[2] = {row_at(in.Y.data, next[0], y_bytes), row_at(in.Y.data, next[1], y_bytes)};
    const unsigned both = __ldg(group_rows + static_cast<Index>(group) * (kPanelRows / 2) + part);
    const int after = group + 1 < end ? group + 1 : group;
    next[0] = column(after, 0), next[1] = column(after, 1);
    double sum[4] = {};
    Index at = 0;
    do {
      if (!Shape::kHeld) hold(at);
      if (kPieces * kSize >= 32) {
#pragma unroll
        for (int p = 0; p < kPieces; ++p) {
#pragma unroll
          for (int j = 0; j < kSize; ++j) convert_late(held[p][j]);
        }
      }
#pragma unroll
      for (int first = 0; first < kPieces; first += kFlight) {
        Piece<T> of_y[kFlight][2];
#pragma unroll
        for (int p = 0; p < kFlight; ++p) {
#pragma unroll
          for (int v = 0; v < 2; ++v)
            of_y[p][v] = load_piece<Shape::kAligned>(y[v], at + (first + p) * kStride, part, kLanes, terms);
        }
#pragma unroll
        for (int p = 0; p < kFlight; ++p) {
#pragma unroll
          for (int j = 0; j < kSize; j += 2) {
            const double a[4] = {static_cast<double>(of_y[p][0].element[j]),
                                 static_cast<double>(of_y[p][1].element[j]),
                                 static_cast<double>(of_y[p][0].element[j + 1]),
                                 static_cast<double>(of_y[p][1].element[j + 1])};
            const double b[2] = {static_cast<double>(held[first + p][j]),
                                 static_cast<double>(held[first + p][j + 1])};
            mma_m16n8k8_f64(sum, a, b);
          }
        }
      }
      at += kPieces * kStride;
    } while (!Shape::kHeld && at < terms);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const unsigned holds = both >> 16 * r & 0xffffu;
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

template <class Shape, class T>
void run_tensor_panels_of(const PanelPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  launch(sddmm_tensor_panels<Shape, T>, ceil_div(plan.panels, kTensorThreads / 32), kTensorThreads, 0,
         context.stream, in, out, plan.panels, plan.group_ptr, plan.unit_col, plan.group_rows,
         static_cast<unsigned>(in.Y.ld * static_cast<Index>(sizeof(T))));
}

template <bool Aligned, class T>
void run_tensor_panels_for_k(const PanelPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr int kLine = 8 / Piece<T>::kSize;  // pieces of 32 terms
  if (in.X.cols <= 32)
    return run_tensor_panels_of<TensorShape<kLine, true, 2, 6, Aligned>>(plan, in, out, context);
  if (in.X.cols <= 64)
    return run_tensor_panels_of<TensorShape<2 * kLine, true, 4, 4, Aligned>>(plan, in, out, context);
  if (in.X.cols <= 128) {
    constexpr int kBlocks = sizeof(T) == 4 ? 4 : 3;
    return run_tensor_panels_of<TensorShape<4 * kLine, true, 4, kBlocks, Aligned>>(plan, in, out, context);
  }
  run_tensor_panels_of<TensorShape<2 * kLine, false, 4, 3, Aligned>>(plan, in, out, context);
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
