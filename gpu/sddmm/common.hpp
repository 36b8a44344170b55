// What the rungs of the sddmm ladder share: the row of an entry, 16-byte pieces of a row of X or Y, and sums
// across lanes. Header only, and as lean as the ABI, because every rung includes it.
#pragma once
#include "gpu/common/packs.hpp"
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
template <class E>
using Piece = Pack<E, kPackOf<E>>;
/// Elements of a piece of X or Y.
template <class T>
constexpr int kPieceSize = kPackOf<in_t<T>>;

/// Lane `part` of `width`'s share of the width * kSize elements of a row that begin at `at`: neighbours in
/// one load where rows lie on 16 bytes, else every width-th element. Elements from `k` on are +0: in X and Y
/// alike, so that they add nothing.
template <bool Aligned, class E>
PLUMB_DEVICE Piece<E> load_piece(const E* row /* (k) */, Index at, int part, int width, Index k) {
  constexpr int kSize = kPackOf<E>;
  const Index first = at + part * (Aligned ? kSize : 1);
  if (Aligned && first + kSize <= k) return load_pack<kSize>(row + first);
  Piece<E> piece;
#pragma unroll
  for (int j = 0; j < kSize; ++j) {
    const Index i = first + j * (Aligned ? 1 : width);
    piece.at[j] = i < k ? load_pack<1>(row + i).at[0] : E{};
  }
  return piece;
}

template <class E>
PLUMB_DEVICE value_t<E> add_product(value_t<E> sum, const Piece<E>& x, const Piece<E>& y) {
#pragma unroll
  for (int j = 0; j < kPackOf<E>; ++j) sum += value(x.at[j]) * value(y.at[j]);
  return sum;
}

/// Whether every row of X and Y begins on 16 bytes.
template <class T>
bool on_16_bytes(const In<T>& in) {
  const auto bytes = [](const DenseView<const in_t<T>, Space::device>& m) {
    return reinterpret_cast<std::uintptr_t>(m.data) | (static_cast<std::uintptr_t>(m.ld) * sizeof(in_t<T>));
  };
  return ((bytes(in.X) | bytes(in.Y)) & 15) == 0;
}

}  // namespace sddmm
}  // namespace plumb
