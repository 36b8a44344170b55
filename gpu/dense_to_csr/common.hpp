// What the rungs of the dense_to_csr ladder share: loads and counts. Header only, and as lean as
// the ABI, because every rung includes it.
#pragma once
#include "gpu/common/rung.hpp"
#include "reference/ops/dense_to_csr.hpp"

namespace plumb {
namespace dense_to_csr {

template <class T>
using Problem = DenseToCsr::Problem<T>;
template <class T>
using In = DenseToCsr::In<T, Space::device>;
template <class T>
using Out = DenseToCsr::Out<T, Space::device>;

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

/// Neighbours in a row: 16 bytes of them where rows lie on 16 bytes, else one.
template <class T, int N>
struct Piece {
  T element[N];
};
template <class T>
constexpr int kVector = 16 / sizeof(T);

PLUMB_DEVICE Piece<float, 4> load_16(const float* p /* on 16 bytes */) {
  const float4 v = __ldcs(reinterpret_cast<const float4*>(p));
  return {{v.x, v.y, v.z, v.w}};
}
PLUMB_DEVICE Piece<double, 2> load_16(const double* p /* on 16 bytes */) {
  const double2 v = __ldcs(reinterpret_cast<const double2*>(p));
  return {{v.x, v.y}};
}

/// Elements [first, first + N) of a row; 0, which is not counted, from `cols` on.
template <int N, class T>
PLUMB_DEVICE Piece<T, N> load_piece(const T* row /* (cols) */, Index first, Index cols) {
  if constexpr (N > 1) {
    if (first + N <= cols) return load_16(row + first);
  }
  Piece<T, N> piece;
#pragma unroll
  for (int j = 0; j < N; ++j) piece.element[j] = first + j < cols ? row[first + j] : T(0);
  return piece;
}

template <int N, class T>
PLUMB_DEVICE int count_non_zeros(const Piece<T, N>& piece) {
  int count = 0;
#pragma unroll
  for (int j = 0; j < N; ++j) count += piece.element[j] != T(0);  // true for NaN, false for -0
  return count;
}

/// Whether every row begins on 16 bytes.
template <class T>
bool on_16_bytes(const In<T>& in) {
  return ((reinterpret_cast<std::uintptr_t>(in.x.data) | (static_cast<std::uintptr_t>(in.x.ld) * sizeof(T))) &
          15) == 0;
}

}  // namespace dense_to_csr
}  // namespace plumb
