// The kernels of rungs 8 and 9: 16-bit elements by twos and by fours. Header only.
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

constexpr int kFourTile = 128, kFours = kFourTile / 4, kFourWarps = 8;

/// Whether fours of a matrix' elements lie on their size.
template <class T, Space S>
bool in_fours(const DenseView<T, S>& a) {
  return reinterpret_cast<std::uintptr_t>(a.data) % 8 == 0 && a.ld % 4 == 0;
}

/// Four elements of a row from column j on, of those that there are; 0 past its end.
template <class T>
PLUMB_DEVICE uint2 four_at(const DenseView<const T, Space::device>& a, std::int64_t i, std::int64_t j) {
  if (i >= a.rows || j >= a.cols) return make_uint2(0, 0);
  if (j + 4 <= a.cols) return __ldg(reinterpret_cast<const uint2*>(&a(i, j)));
  return make_uint2(pair_at(a, i, j), pair_at(a, i, j + 2));
}

/// The first `left` of four elements.
template <class T>
PLUMB_DEVICE void store_four(T* to, uint2 four, std::int64_t left) {
  if (left >= 4) {
    store_global(reinterpret_cast<uint2*>(to), four);
    return;
  }
  for (int e = 0; e < left; ++e)
    reinterpret_cast<unsigned short*>(to)[e] =
        static_cast<unsigned short>((e < 2 ? four.x : four.y) >> 16 * (e % 2));
}

// A thread turns squares of 4 x 4 elements. The squares of a row of the tile are rotated in shared memory, so that neither the threads that put
// them down nor those that take rows of B meet in a bank.
template <class T>
__global__ void __launch_bounds__(kFours* kFourWarps)
    transpose_four_tile(DenseView<const T, Space::device> A /* (rows, cols) */,
                        DenseView<T, Space::device> B /* (cols, rows) */, std::int64_t tiles_across) {
  static_assert(sizeof(T) == 2, "four elements are two words");
  __shared__ uint2 tile[kFourTile][kFours];  // rows of B
  const std::int64_t i0 = blockIdx.x / tiles_across * kFourTile, j0 = blockIdx.x % tiles_across * kFourTile;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  constexpr int kSquares = kFours / kFourWarps;
  const auto place = [](int row, int square) { return square ^ (row / 4 & 15); };
  uint2 held[kSquares][4];
#pragma unroll
  for (int s = 0; s < kSquares; ++s) {
#pragma unroll
    for (int r = 0; r < 4; ++r) held[s][r] = four_at(A, i0 + 4 * (ty + s * kFourWarps) + r, j0 + 4 * tx);
  }
#pragma unroll
  for (int s = 0; s < kSquares; ++s) {
    const uint2(&h)[4] = held[s];
    const int at = place(4 * tx, ty + s * kFourWarps);
    tile[4 * tx][at] = make_uint2(low_halves(h[0].x, h[1].x), low_halves(h[2].x, h[3].x));
    tile[4 * tx + 1][at] = make_uint2(high_halves(h[0].x, h[1].x), high_halves(h[2].x, h[3].x));
    tile[4 * tx + 2][at] = make_uint2(low_halves(h[0].y, h[1].y), low_halves(h[2].y, h[3].y));
    tile[4 * tx + 3][at] = make_uint2(high_halves(h[0].y, h[1].y), high_halves(h[2].y, h[3].y));
  }
  __syncthreads();
  const std::int64_t i = i0 + 4 * tx;
#pragma unroll
  for (int r = 0; r < kFourTile / kFourWarps; ++r) {
    const int j = ty + r * kFourWarps;
    if (j0 + j < B.rows && i < B.cols) store_four(&B(j0 + j, i), tile[j][place(j, tx)], B.cols - i);
  }
}

template <class T>
void run_four_tiles(const Transpose::In<T, Space::device>& in, const Transpose::Out<T, Space::device>& out,
                    Context& context) {
  const std::int64_t across = ceil_div(in.A.cols, kFourTile), down = ceil_div(in.A.rows, kFourTile);
  launch(transpose_four_tile<T>, across * down, dim3(kFours, kFourWarps), 0, context.stream, in.A, out.B,
         across);
}

}  // namespace transpose
}  // namespace plumb
