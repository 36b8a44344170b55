// The kernel of rung 13: every load of an entry is on its way before the first product. Apart from it because the adaptive rung picks
// among its instances.
#pragma once
#include "gpu/device/host_array.hpp"
#include "gpu/sddmm/steps.hpp"

namespace plumb {
namespace sddmm {

constexpr int kAtOnceThreads = 128;

static __global__ void __launch_bounds__(kThreads)
    sddmm_rows_of_entries(const std::int32_t* row_ptr /* (rows + 1) */, Index rows, Index nnz,
                          std::int32_t* row /* (nnz) */) {
  const Index e = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (e < nnz) row[e] = static_cast<std::int32_t>(row_of(row_ptr, 0, rows, e));
}

/// The row of each entry, in workspace: the plan of run_at_once().
template <class T>
std::int32_t* prepare_at_once(const In<T>& in, Context& context) {
  auto* row = workspace_of<std::int32_t>(in.A.nnz, context);
  if (in.A.nnz > 0) {
    launch(sddmm_rows_of_entries, ceil_div(in.A.nnz, kThreads), kThreads, 0, context.stream, in.A.row_ptr,
           in.A.rows, in.A.nnz, row);
  }
  return row;
}

// Lanes lanes for an entry, Pieces pieces of X and of Y a lane in flight together: all of k, unless it is longer than a warp holds so.
template <class T, int Lanes, int Pieces, bool Aligned>
__global__ void __launch_bounds__(kAtOnceThreads)
    sddmm_at_once(In<T> in, Out<T> out, const std::int32_t* row /* (nnz) */, unsigned x_bytes,
                  unsigned y_bytes) {
  constexpr int kStride = Lanes * kPieceSize<T>;
  const Index e = (static_cast<Index>(blockIdx.x) * kAtOnceThreads + threadIdx.x) / Lanes, terms = in.X.cols;
  const int part = static_cast<int>(threadIdx.x) % Lanes;
  using E = in_t<T>;
  scalar_t<T> sum = 0;
  if (e < in.A.nnz) {
    const E* x = row_at(in.X.data, __ldg(row + e), x_bytes);
    const E* y = row_at(in.Y.data, __ldg(in.A.col + e), y_bytes);
    for (Index at = 0; at < terms; at += Pieces * kStride) {
      Piece<E> of_x[Pieces], of_y[Pieces];
#pragma unroll
      for (int p = 0; p < Pieces; ++p) of_y[p] = load_piece<Aligned>(y, at + p * kStride, part, Lanes, terms);
#pragma unroll
      for (int p = 0; p < Pieces; ++p) of_x[p] = load_piece<Aligned>(x, at + p * kStride, part, Lanes, terms);
#pragma unroll
      for (int p = 0; p < Pieces; ++p) sum = add_product(sum, of_x[p], of_y[p]);
    }
  }
  sum = sum_lanes(sum, Lanes);
  if (e < in.A.nnz && part == 0) out.s.data[e] = stored<out_t<T>>(sum);
}

/// Lanes for an entry that hold `terms` terms with `pieces` pieces of `size` terms each; at most a warp.
inline int at_once_lanes(Index terms, int pieces, int size) {
  int lanes = 2;
  while (lanes < 32 && static_cast<Index>(lanes) * pieces * size < terms) lanes *= 2;
  return lanes;
}

template <int Lanes, int Pieces, class T>
void launch_at_once(const std::int32_t* row, const In<T>& in, const Out<T>& out, Context& context) {
  const auto kernel =
      on_16_bytes(in) ? sddmm_at_once<T, Lanes, Pieces, true> : sddmm_at_once<T, Lanes, Pieces, false>;
  launch(kernel, ceil_div(in.A.nnz * Lanes, kAtOnceThreads), kAtOnceThreads, 0, context.stream, in, out, row,
         row_bytes(in.X), row_bytes(in.Y));
}

template <int Pieces, class T>
void run_at_once(const std::int32_t* row, const In<T>& in, const Out<T>& out, Context& context) {
  switch (at_once_lanes(in.X.cols, Pieces, kPieceSize<T>)) {
    case 2:
      return launch_at_once<2, Pieces>(row, in, out, context);
    case 4:
      return launch_at_once<4, Pieces>(row, in, out, context);
    case 8:
      return launch_at_once<8, Pieces>(row, in, out, context);
    case 16:
      return launch_at_once<16, Pieces>(row, in, out, context);
    default:
      return launch_at_once<32, Pieces>(row, in, out, context);
  }
}

}  // namespace sddmm
}  // namespace plumb
