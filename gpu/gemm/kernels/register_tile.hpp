// The body of rungs 6 and 7: a 64 x 64 tile of C by 128 threads, 4 x 8 elements each in registers. Header
// only.
#pragma once
#include "gpu/gemm/common.hpp"

namespace plumb {
namespace gemm {

struct RegisterTile {
  static constexpr int kTile = 64, kDepth = 16, kRows = 4, kCols = 8,
                       kThreads = kTile / kRows * (kTile / kCols);
};

/// Loads of one tile by elements, neighbouring threads along a row of the matrix. A comes to lie transposed:
/// a[k][row].
template <class T>
struct ByElement {
  static PLUMB_DEVICE void load(const In<T>& in, Index i0, Index j0, Index k0, Index depth,
                                T (&a)[RegisterTile::kDepth][RegisterTile::kTile + 4],
                                T (&b)[RegisterTile::kDepth][RegisterTile::kTile]) {
    using S = RegisterTile;
    const int t = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int e = 0; e < S::kTile * S::kDepth; e += S::kThreads) {
      const int ar = (e + t) / S::kDepth, ak = (e + t) % S::kDepth, bk = (e + t) / S::kTile,
                bc = (e + t) % S::kTile;
      a[ak][ar] = load_or_zero(in.A, i0 + ar, k0 + ak, in.A.rows, depth);
      b[bk][bc] = load_or_zero(in.B, k0 + bk, j0 + bc, depth, in.B.cols);
    }
  }
};

/// The same by 16 bytes.
template <class T>
struct ByVector {
  static PLUMB_DEVICE void load(const In<T>& in, Index i0, Index j0, Index k0, Index depth,
                                T (&a)[RegisterTile::kDepth][RegisterTile::kTile + 4],
                                T (&b)[RegisterTile::kDepth][RegisterTile::kTile]) {
    using S = RegisterTile;
    constexpr int kLanes = Vector<T>::kLanes, kPerRowA = S::kDepth / kLanes, kPerRowB = S::kTile / kLanes;
    const int t = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int v = 0; v < S::kTile * kPerRowA; v += S::kThreads) {
      const int ar = (v + t) / kPerRowA, ak = (v + t) % kPerRowA * kLanes;
      const Vector<T> av = load_vector_or_zero(in.A, i0 + ar, k0 + ak, in.A.rows, depth);
#pragma unroll
      for (int l = 0; l < kLanes; ++l) a[ak + l][ar] = av.lane[l];
      const int bk = (v + t) / kPerRowB, bc = (v + t) % kPerRowB * kLanes;
      *reinterpret_cast<Vector<T>*>(&b[bk][bc]) =
          load_vector_or_zero(in.B, k0 + bk, j0 + bc, depth, in.B.cols);
    }
  }
};

/// Thread (ty, tx) of 16 x 8 makes rows ty + 16 r and columns tx + 8 c (by elements), so that a warp's loads
/// of a tile's row use different banks.
template <class T, template <class> class Load>
__global__ void __launch_bounds__(RegisterTile::kThreads)
    gemm_register_tile(Problem<T> p, In<T> in, Out<T> out) {
  using S = RegisterTile;
  constexpr int kAcross = S::kTile / S::kCols, kDown = S::kTile / S::kRows;
  __shared__ __align__(16)
      T a[S::kDepth][S::kTile + 4];  // 4 more: otherwise the transposing stores of a warp hit two banks
  __shared__ __align__(16) T b[S::kDepth][S::kTile];
  const TileIndex tile = tile_index(ceil_div(out.C.cols, S::kTile));
  const int tx = static_cast<int>(threadIdx.x) % kAcross, ty = static_cast<int>(threadIdx.x) / kAcross;
  const Index i0 = tile.m * S::kTile, j0 = tile.n * S::kTile, depth = depth_of(p, in);
  T sum[S::kRows][S::kCols] = {};
  for (Index k = 0; k < depth; k += S::kDepth) {
    Load<T>::load(in, i0, j0, k, depth, a, b);
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < S::kDepth; ++kk) {
      T ar[S::kRows], br[S::kCols];
#pragma unroll
      for (int r = 0; r < S::kRows; ++r) ar[r] = a[kk][ty + kDown * r];
#pragma unroll
      for (int c = 0; c < S::kCols; ++c) br[c] = b[kk][tx + kAcross * c];
#pragma unroll
      for (int r = 0; r < S::kRows; ++r) {
#pragma unroll
        for (int c = 0; c < S::kCols; ++c) sum[r][c] += ar[r] * br[c];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < S::kRows; ++r) {
#pragma unroll
    for (int c = 0; c < S::kCols; ++c) {
      const Index i = i0 + ty + kDown * r, j = j0 + tx + kAcross * c;
      if (i < out.C.rows && j < out.C.cols) finish(p, &out.C(i, j), sum[r][c]);
    }
  }
}

template <class T, template <class> class Load>
void run_register_tile(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  using S = RegisterTile;
  launch(gemm_register_tile<T, Load>, ceil_div(out.C.rows, S::kTile) * ceil_div(out.C.cols, S::kTile),
         S::kThreads, 0, context.stream, p, in, out);
}

}  // namespace gemm
}  // namespace plumb
