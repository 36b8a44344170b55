// The kernel of rung 8: 16-bit elements by pairs. Header only.
#pragma once
#include "gpu/common/rung.hpp"
#include "reference/ops/transpose.hpp"

namespace plumb {
namespace transpose {

constexpr int kPairTile = 64, kPairs = kPairTile / 2, kPairWarps = 8;

/// Whether pairs of a matrix' elements lie on their size.
template <class T, Space S>
bool in_pairs(const DenseView<T, S>& a) {
  return reinterpret_cast<std::uintptr_t>(a.data) % 4 == 0 && a.ld % 2 == 0;
}

/// The lower halves of two words, and the upper ones.
PLUMB_DEVICE unsigned low_halves(unsigned a, unsigned b) { return (a & 0xffffu) | b << 16; }
PLUMB_DEVICE unsigned high_halves(unsigned a, unsigned b) { return a >> 16 | (b & 0xffff0000u); }

/// Two elements of a row from column j on; 0 past its end.
template <class T>
PLUMB_DEVICE unsigned pair_at(const DenseView<const T, Space::device>& a, std::int64_t i, std::int64_t j) {
  if (i >= a.rows || j >= a.cols) return 0;
  const T* const p = &a(i, j);
  return j + 1 < a.cols ? __ldg(reinterpret_cast<const unsigned*>(p))
                        : __ldg(reinterpret_cast<const unsigned short*>(p));
}

// A thread turns squares of 2 x 2 elements: two words of two rows of A become two words of two rows of B.
template <class T>
__global__ void __launch_bounds__(kPairs* kPairWarps)
    transpose_pair_tile(DenseView<const T, Space::device> A /* (rows, cols) */,
                        DenseView<T, Space::device> B /* (cols, rows) */, std::int64_t tiles_across) {
  static_assert(sizeof(T) == 2, "two elements are a word");
  __shared__ unsigned tile[kPairTile][kPairs + 1];  // rows of B
  const std::int64_t i0 = blockIdx.x / tiles_across * kPairTile, j0 = blockIdx.x % tiles_across * kPairTile;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  constexpr int kSquares = kPairs / kPairWarps;
  unsigned upper[kSquares], lower[kSquares];
#pragma unroll
  for (int s = 0; s < kSquares; ++s) {
    const std::int64_t i = i0 + 2 * (ty + s * kPairWarps);
    upper[s] = pair_at(A, i, j0 + 2 * tx), lower[s] = pair_at(A, i + 1, j0 + 2 * tx);
  }
#pragma unroll
  for (int s = 0; s < kSquares; ++s) {
    tile[2 * tx][ty + s * kPairWarps] = low_halves(upper[s], lower[s]);
    tile[2 * tx + 1][ty + s * kPairWarps] = high_halves(upper[s], lower[s]);
  }
  __syncthreads();
  const std::int64_t i = i0 + 2 * tx;
#pragma unroll
  for (int r = 0; r < kPairTile / kPairWarps; ++r) {
    const int j = ty + r * kPairWarps;
    if (j0 + j >= B.rows || i >= B.cols) continue;
    T* const to = &B(j0 + j, i);
    const unsigned pair = tile[j][tx];
    if (i + 1 < B.cols)
      *reinterpret_cast<unsigned*>(to) = pair;
    else
      *reinterpret_cast<unsigned short*>(to) = static_cast<unsigned short>(pair);
  }
}

template <class T>
void run_pair_tiles(const Transpose::In<T, Space::device>& in, const Transpose::Out<T, Space::device>& out,
                    Context& context) {
  const std::int64_t across = ceil_div(in.A.cols, kPairTile), down = ceil_div(in.A.rows, kPairTile);
  launch(transpose_pair_tile<T>, across * down, dim3(kPairs, kPairWarps), 0, context.stream, in.A, out.B,
         across);
}

}  // namespace transpose
}  // namespace plumb
