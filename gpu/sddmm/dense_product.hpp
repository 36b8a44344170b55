// All of X Y^T by gemm's tiles, of which the entries are taken: where the pattern has a good share of all pairs. Header only, and apart from
// rung 14 because the adaptive rung picks it.
#pragma once
#include "gpu/device/dependent_launch.hpp"
#include "gpu/gemm/families/multistage_family.hpp"
#include "gpu/gemm/families/tensor_family.hpp"
#include "gpu/sddmm/at_once.hpp"

namespace plumb {
namespace sddmm {

/// Memory for all pairs of rows, at most.
constexpr Index kMostPairBytes = Index{1} << 30;
constexpr int kTurn = 32, kTurnRows = 8;  // the tile and the warps of a block that turns Y

/// The tiles: fp32 64 x 128, fp64 64 x 64; and the chip that they need.
template <class T>
struct TileOfPairs {
  using Shape = gemm::QuarteredWide;
  static constexpr int kMinSm = 80;
};
template <>
struct TileOfPairs<double> {
  using Shape = gemm::Fp64Pair;
  static constexpr int kMinSm = 90;
};

/// How far apart rows of Y^T and of the product lie: whole vectors of 16 bytes.
template <class T>
Index pairs_across(const In<T>& in) {
  return ceil_div(in.Y.rows, kPieceSize<T>) * kPieceSize<T>;
}
template <class T>
double pair_bytes(const In<T>& in) {
  return static_cast<double>(in.X.rows + in.X.cols) * static_cast<double>(pairs_across(in)) * sizeof(in_t<T>);
}

template <class T>
const char* dense_support(const Problem<T>& p, const In<T>& in, const Out<T>& out) {
  return pair_bytes(in) <= kMostPairBytes ? steps_support(p, in, out)
                                          : "all pairs of rows take more than 1 GiB";
}

// turned = Y^T, and zeros in what a row has beyond it: gemm's tiles then copy whole vectors.
template <class T>
__global__ void __launch_bounds__(kTurn* kTurnRows)
    sddmm_turn(DenseView<const T, Space::device> y /* (cols, k) */,
               DenseView<T, Space::device> turned /* (k, cols filled up) */, Index tiles_across) {
  __shared__ T tile[kTurn][kTurn + 1];
  const Index j0 = blockIdx.x % tiles_across * kTurn, k0 = blockIdx.x / tiles_across * kTurn;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
#pragma unroll
  for (int r = ty; r < kTurn; r += kTurnRows)
    tile[r][tx] = j0 + r < y.rows && k0 + tx < y.cols ? y(j0 + r, k0 + tx) : T(0);
  __syncthreads();
#pragma unroll
  for (int r = ty; r < kTurn; r += kTurnRows)
    if (k0 + r < turned.rows && j0 + tx < turned.cols) turned(k0 + r, j0 + tx) = tile[tx][r];
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    sddmm_take(DenseView<const T, Space::device> pairs, const std::int32_t* row /* (nnz) */,
               const std::int32_t* col /* (nnz) */, Index nnz, T* s /* (nnz) */) {
  const Index e = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  wait_for_primary();
  if (e < nnz) s[e] = pairs(__ldg(row + e), __ldg(col + e));
}

/// `row`: prepare_at_once().
template <class T>
void run_dense_product(const std::int32_t* row, const In<T>& in, const Out<T>& out, Context& context) {
  if (in.A.nnz == 0) return;
  const Index across = pairs_across(in), k = in.X.cols, tiles = ceil_div(across, kTurn);
  const DenseView<T, Space::device> turned{workspace_of<T>(k * across, context), k, across, across};
  const DenseView<T, Space::device> pairs{workspace_of<T>(in.X.rows * across, context), in.X.rows, across,
                                          across};
  launch(sddmm_turn<T>, tiles * ceil_div(k, kTurn), dim3(kTurn, kTurnRows), 0, context.stream, in.Y, turned,
         tiles);
  gemm::run_whole<typename TileOfPairs<T>::Shape>(gemm::Problem<T>{T(1), T(0)},
                                                  gemm::In<T>{in.X, {turned.data, k, across, across}},
                                                  gemm::Out<T>{pairs}, context);
  launch_dependent(sddmm_take<T>, ceil_div(in.A.nnz, kThreads), kThreads, 0, context.stream,
                   DenseView<const T, Space::device>{pairs.data, pairs.rows, across, across}, row, in.A.col,
                   in.A.nnz, out.s.data);
}

}  // namespace sddmm
}  // namespace plumb
