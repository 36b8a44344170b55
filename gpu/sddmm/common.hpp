// What the rungs of the sddmm ladder share: the row of an entry, 16-byte pieces of a row of X or Y, and sums
// across lanes. Header only, and as lean as the ABI, because every rung includes it.
#pragma once
#include "gpu/common/rung.hpp"
#include "reference/ops/sddmm.hpp"

namespace plumb {
namespace sddmm {

template <class T>
using Problem = Sddmm::Problem<T>;
template <class T>
using In = Sddmm::In<T, Space::device>;
template <class T>
using Out = Sddmm::Out<T, Space::device>;

constexpr int kThreads = 256;

/// The row of entry e: the last one of [low, high) that starts at or before e, so never an empty one. Needs
/// row_ptr[low] <= e < row_ptr[high].
PLUMB_DEVICE Index row_of(const std::int32_t* row_ptr, Index low, Index high, Index e) {
  while (high - low > 1) {
    const Index middle = (low + high) / 2;
    if (__ldg(row_ptr + middle) <= e)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// 16 bytes of a row, whichever of its elements they are.
template <class T>
struct Piece {
  static constexpr int kSize = 16 / sizeof(T);
  T element[kSize];
};

PLUMB_DEVICE Piece<float> load_16(const float* p /* on 16 bytes */) {
  const float4 v = __ldg(reinterpret_cast<const float4*>(p));
  return {{v.x, v.y, v.z, v.w}};
}
PLUMB_DEVICE Piece<double> load_16(const double* p /* on 16 bytes */) {
  const double2 v = __ldg(reinterpret_cast<const double2*>(p));
  return {{v.x, v.y}};
}

/// Lane `part` of `width`'s share of the width * kSize elements of a row that begin at `at`: neighbours in
/// one load where rows lie on 16 bytes, else every width-th element. Elements from `k` on are +0: in X and Y
/// alike, so that they add nothing.
template <bool Aligned, class T>
PLUMB_DEVICE Piece<T> load_piece(const T* row /* (k) */, Index at, int part, int width, Index k) {
  constexpr int kSize = Piece<T>::kSize;
  const Index first = at + part * (Aligned ? kSize : 1);
  if (Aligned && first + kSize <= k) return load_16(row + first);
  Piece<T> piece;
#pragma unroll
  for (int j = 0; j < kSize; ++j) {
    const Index i = first + j * (Aligned ? 1 : width);
    piece.element[j] = i < k ? __ldg(row + i) : T(0);
  }
  return piece;
}

template <class T>
PLUMB_DEVICE T add_product(T sum, const Piece<T>& x, const Piece<T>& y) {
#pragma unroll
  for (int j = 0; j < Piece<T>::kSize; ++j) sum += x.element[j] * y.element[j];
  return sum;
}

/// Whether every row of X and Y begins on 16 bytes.
template <class T>
bool on_16_bytes(const In<T>& in) {
  const auto bytes = [](const DenseView<const T, Space::device>& m) {
    return reinterpret_cast<std::uintptr_t>(m.data) | (static_cast<std::uintptr_t>(m.ld) * sizeof(T));
  };
  return ((bytes(in.X) | bytes(in.Y)) & 15) == 0;
}

}  // namespace sddmm
}  // namespace plumb
