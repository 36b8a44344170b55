// The kernel of rung 11: panels of 8 or 16 rows multiplied by the fp64 tensor cores. Apart from it because the
// adaptive rung picks it too.
//
// A group's 16 units are the rows of A of an mma, each eight rows of X the columns of a B: no sum crosses lanes
// but inside the mma. The four lanes of a unit or row take 16 bytes each of every 64 (which elements share an
// mma is free, as long as X and Y agree). fp32 becomes fp64 on the way: X once, and each lane keeps what it will
// need of it in shared memory; a row of Y once per panel. Products are then exact, and the sum is rounded to
// fp32 once, at the end.
#pragma once
#include "gpu/sddmm/half_panels.hpp"
#include "gpu/sddmm/panels.hpp"

namespace plumb {
namespace sddmm {

constexpr int kTensorThreads = 128;

/// What is known of rows when a kernel is compiled: that they are as long as the pieces together; that they lie
/// on 16 bytes and are whole pieces; nothing.
enum class Known : std::uint8_t { length, pieces, nothing };

/// Tiles of eight rows of X; pieces of 16 bytes that a lane takes of a row at a time, and those of Y that it
/// asks for together; blocks of a multiprocessor; whether rows are longer than the pieces, and taken in turns.
template <class T, int Tiles, int Pieces, int Flight, int Blocks, bool InTurns, Known OfRows>
struct TensorShape {
  static constexpr int kTiles = Tiles, kPieces = Pieces, kFlight = Flight,
                       kBlocks = OfRows == Known::nothing ? 1 : Blocks;
  static constexpr int kRows = 8 * Tiles, kTerms = Pieces * 4 * kPieceSize<T>;
  static constexpr bool kTurns = InTurns;
  static constexpr Known kKnown = OfRows;
  static constexpr std::size_t kShared =
      static_cast<std::size_t>(Pieces) * kPieceSize<T> * Tiles * kTensorThreads * sizeof(double);
  static_assert(kPieces % kFlight == 0, "whole flights");
};

/// Two elements of X of a step of the mma.
struct alignas(16) Pair {
  double element[2];
};

template <class Shape, class T>
__global__ void __launch_bounds__(kTensorThreads, Shape::kBlocks)
    sddmm_tensor_panels(In<T> in, Out<T> out, Index panels, const std::int32_t* group_ptr /* (panels + 1) */,
                        const std::int32_t* unit_col /* (groups * kPanelUnits) */,
                        const std::uint32_t* group_rows /* (groups * kRows / 2): two rows each */,
                        unsigned x_bytes, unsigned y_bytes) {
  constexpr int kSize = kPieceSize<T>, kLanes = 4, kStride = kLanes * kSize, kTiles = Shape::kTiles;
  constexpr int kPieces = Shape::kPieces, kFlight = Shape::kFlight;
  PLUMB_DYNAMIC_SHARED(Pair, of_x);
  Pair* const x = of_x + threadIdx.x;  // (kPieces, kSize / 2, kTiles), kTensorThreads apart: the thread's own
  const int lane = static_cast<int>(threadIdx.x) % 32, own = lane / kLanes, part = lane % kLanes;
  const Index panel = (static_cast<Index>(blockIdx.x) * kTensorThreads + threadIdx.x) / 32;
  if (panel >= panels) return;  // whole warps
  const int begin = __ldg(group_ptr + panel), end = __ldg(group_ptr + panel + 1);
  if (begin == end) return;
  const auto column = [&](int group, int v) {
    return __ldg(unit_col + static_cast<Index>(group < end ? group : begin) * kPanelUnits + own + 8 * v);
  };
  for (Index at = 0; at == 0 || (Shape::kTurns && at < in.X.cols); at += Shape::kTerms) {
    const auto piece = [&](const T* row, int p) {
      if constexpr (Shape::kKnown == Known::nothing) {
        return load_piece<false>(row, at + p * kStride, part, kLanes, in.X.cols);
      } else {
        const Index first = at + p * kStride + part * kSize;
        return Shape::kKnown == Known::length || first < in.X.cols ? load_pack<kSize>(row + first)
                                                                   : Piece<T>{};
      }
    };
    int next[2] = {column(begin, 0), column(begin, 1)};
    std::int32_t place[kTiles][2];  // of the next entries of the rows whose sums this lane gets
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      const Index first = panel * Shape::kRows + n * 8, row = first + own;
      const T* const x_row =
          row_at(in.X.data, static_cast<int>(row < in.A.rows ? row : in.A.rows - 1), x_bytes);
#pragma unroll
      for (int p = 0; p < kPieces; ++p) {
        const Piece<T> of_row = piece(x_row, p);
#pragma unroll
        for (int j = 0; j < kSize; j += 2)
          x[((p * kSize + j) / 2 * kTiles + n) * kTensorThreads] = {
              {static_cast<double>(of_row.at[j]), static_cast<double>(of_row.at[j + 1])}};
      }
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const Index i = first + 2 * part + r;
        place[n][r] = __ldg(in.A.row_ptr + (i < in.A.rows ? i : in.A.rows));
      }
    }
    for (int group = begin; group < end; ++group) {
      const T* const y[2] = {row_at(in.Y.data, next[0], y_bytes), row_at(in.Y.data, next[1], y_bytes)};
      std::uint32_t both[kTiles];
#pragma unroll
      for (int n = 0; n < kTiles; ++n)
        both[n] = __ldg(group_rows + static_cast<Index>(group) * (Shape::kRows / 2) + 4 * n + part);
      next[0] = column(group + 1, 0), next[1] = column(group + 1, 1);
      double sum[kTiles][4] = {};
#pragma unroll
      for (int first = 0; first < kPieces; first += kFlight) {
        Piece<T> of_y[kFlight][2];
#pragma unroll
        for (int p = 0; p < kFlight; ++p) {
#pragma unroll
          for (int v = 0; v < 2; ++v) of_y[p][v] = piece(y[v], first + p);
        }
#pragma unroll
        for (int p = 0; p < kFlight; ++p) {
#pragma unroll
          for (int j = 0; j < kSize; j += 2) {
            const double a[4] = {static_cast<double>(of_y[p][0].at[j]), static_cast<double>(of_y[p][1].at[j]),
                                 static_cast<double>(of_y[p][0].at[j + 1]),
                                 static_cast<double>(of_y[p][1].at[j + 1])};
#pragma unroll
            for (int n = 0; n < kTiles; ++n) {
              const Pair b = x[(((first + p) * kSize + j) / 2 * kTiles + n) * kTensorThreads];
              mma_m16n8k8_f64(sum[n], a, b.element);
            }
          }
        }
      }
#pragma unroll
      for (int n = 0; n < kTiles; ++n) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          const unsigned holds = both[n] >> 16 * r & 0xffffu;
#pragma unroll
          for (int v = 0; v < 2; ++v) {
            const int unit = own + 8 * v;
            const bool wanted = (holds >> unit & 1u) != 0;
            const std::int32_t e = place[n][r] + __popc(holds & ((1u << unit) - 1));
            T total = static_cast<T>(sum[n][2 * v + r]);
            if (Shape::kTurns && at > 0 && wanted) total += out.s.data[e];
            if (wanted) out.s.data[e] = total;
          }
          place[n][r] += __popc(holds);
        }
      }
    }
  }
}

template <class Shape, class T>
void run_tensor_panels_of(const PanelPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  launch(sddmm_tensor_panels<Shape, T>, ceil_div(plan.panels, kTensorThreads / 32), kTensorThreads,
         Shape::kShared, context.stream, in, out, plan.panels, plan.group_ptr, plan.unit_col, plan.group_rows,
         row_bytes(in.X), row_bytes(in.Y));
}

/// Rows of a panel: 8 where k is short, and the rows of Y that 16 would save cost little.
template <class T>
bool panels_of_16(const In<T>& in) {
  return in.X.cols > 32;
}

template <Known OfRows, class T>
void run_tensor_panels_for_k(const PanelPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr int kLine = 8 / kPieceSize<T>;  // pieces of 32 terms
  if (in.X.cols <= 32)
    return run_tensor_panels_of<TensorShape<T, 1, kLine, 2, 6, false, OfRows>>(plan, in, out, context);
  if (in.X.cols <= 64)
    return run_tensor_panels_of<TensorShape<T, 2, 2 * kLine, 4, 4, false, OfRows>>(plan, in, out, context);
  if (OfRows == Known::length || in.X.cols <= 128)
    return run_tensor_panels_of<TensorShape<T, 2, 4 * kLine, 4, 3, false, OfRows>>(plan, in, out, context);
  if constexpr (OfRows != Known::length)
    run_tensor_panels_of<TensorShape<T, 2, 4 * kLine, 4, 2, true, OfRows>>(plan, in, out, context);
}

template <class T>
PanelPlan count_tensor_panels(const In<T>& in, Context& context) {
  return panels_of_16(in) ? count_panels<16>(in, context) : count_panels<8>(in, context);
}
template <class T>
PanelPlan fill_tensor_panels(const PanelPlan& counted, const In<T>& in, Context& context) {
  return panels_of_16(in) ? fill_panels<16>(counted, in, context) : fill_panels<8>(counted, in, context);
}

template <class T>
void run_fp64_panels(const PanelPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  const Index k = in.X.cols;
  if (!on_16_bytes(in) || k % kPieceSize<T> != 0)
    run_tensor_panels_for_k<Known::nothing>(plan, in, out, context);
  else if (k == 32 || k == 64 || k == 128)
    run_tensor_panels_for_k<Known::length>(plan, in, out, context);
  else
    run_tensor_panels_for_k<Known::pieces>(plan, in, out, context);
}

template <class T>
void run_tensor_panels(const PanelPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  if constexpr (sizeof(in_t<T>) == 2)
    run_half_panels(plan, in, out, context);
  else
    run_fp64_panels(plan, in, out, context);
  run_giant_rows(plan, in, out, context);
}

}  // namespace sddmm
}  // namespace plumb
