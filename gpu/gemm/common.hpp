// What the rungs of the gemm ladder share: names, the end of an element, guarded loads, tiles of a
// one-dimensional grid. Header only.
#pragma once
#include "gpu/common/rung.hpp"
#include "reference/core/values.hpp"
#include "reference/ops/gemm.hpp"

namespace plumb {
namespace gemm {

template <class T>
using Problem = Gemm::Problem<T>;
template <class T>
using In = Gemm::In<T, Space::device>;
template <class T>
using Out = Gemm::Out<T, Space::device>;

/// Terms per element: none where alpha is 0, so that NaN in A or B cannot come through.
template <class T>
PLUMB_HOST_DEVICE Index depth_of(const Problem<T>& p, const In<T>& in) {
  return p.alpha == scalar_t<T>(0) ? 0 : in.A.cols;
}

/// C[at] = alpha sum + beta C[at]; C is not read where beta is 0.
template <class T>
PLUMB_DEVICE void finish(const Problem<T>& p, out_t<T>* at, scalar_t<T> sum) {
  using V = scalar_t<T>;
  *at = stored<out_t<T>>(p.alpha * sum + (p.beta == V(0) ? V(0) : p.beta * value(*at)));
}

/// The tile of C that a block of a one-dimensional grid works on: tiles of a row of tiles follow each other.
/// The grid's y and z end at 65,535 tiles, its x at 2^31 - 1: tall matrices need the latter.
struct TileIndex {
  Index m, n;
};
PLUMB_DEVICE TileIndex tile_index(Index tiles_n) {
  const auto b = static_cast<unsigned>(blockIdx.x), n = static_cast<unsigned>(tiles_n);
  return {static_cast<Index>(b / n), static_cast<Index>(b % n)};
}

/// a(row, col), or zero outside of the rows and of `cols` columns, which may be fewer than the matrix has.
template <class T>
PLUMB_DEVICE T load_or_zero(const DenseView<const T, Space::device>& a, Index row, Index col, Index rows,
                            Index cols) {
  return row < rows && col < cols ? a(row, col) : T(0);
}

/// 16 bytes of elements.
template <class T>
struct alignas(16) Vector {
  static constexpr int kLanes = 16 / sizeof(T);
  T lane[kLanes];
};

/// As load_or_zero for the vector at (row, col), which lies on a 16-byte boundary: whole where it fits, by
/// elements at the edge.
template <class T>
PLUMB_DEVICE Vector<T> load_vector_or_zero(const DenseView<const T, Space::device>& a, Index row, Index col,
                                           Index rows, Index cols) {
  constexpr int kLanes = Vector<T>::kLanes;
  if (row < rows && col + kLanes <= cols)
    return *reinterpret_cast<const Vector<T>*>(a.data + row * a.ld + col);
  Vector<T> v;
#pragma unroll
  for (int l = 0; l < kLanes; ++l) v.lane[l] = load_or_zero(a, row, col + l, rows, cols);
  return v;
}

}  // namespace gemm
}  // namespace plumb
