// Rung 19's products by FMA: the lanes of a warp are 8 rows by 4 quarters of columns. Header only.
#pragma once
#include "gpu/skinny_gemm/common.hpp"

namespace plumb {
namespace skinny {
namespace whole_rows {

template <class S, int Terms>
class LaneSums;

/// Warps that make products, and of each of their lanes: R rows, 8 apart, and C columns.
template <class T_, int Warps, int R_, int C_>
struct Lanes {
  using T = T_;
  template <int Terms>
  using Sums = LaneSums<Lanes, Terms>;
  static constexpr bool kFragments = false;
  static constexpr int kWarps = Warps, R = R_, C = C_, V = Vector<T>::kLanes;
  static constexpr int kRows = 8 * R, kColumns = 4 * C;  // of a warp
  static constexpr int kSumPitch = kColumns + V;         // of the sums in shared memory
  static constexpr int kStep = 4;                        // terms of which warps have whole multiples
  /// Elements of W in shared memory, and what puts W there; see stage_w().
  static PLUMB_HOST_DEVICE Index of_w(Index k) { return k * kColumns; }
  static PLUMB_DEVICE void stage(T* w, int k, const In<T>& in, Index j0) {
    stage_w<kColumns>(w, k, in, 0, j0);
  }
  /// Elements from one row to the next, so that the rows that a warp reads at once lie in different banks.
  static Index apart(Index k) { return k / V % 2 == 0 ? k + V : k; }
  static bool reads_vectors(Index k, Index pitch) { return k % V == 0 && pitch % V == 0; }
  /// Of 8 rows so far apart, those that lie in the same banks.
  static Index rows_in_a_bank(Index pitch) {
    Index same = 1;
    while (same < 8 && pitch / V % (2 * same) == 0) same *= 2;
    return same;
  }
};

/// Calls part(c, Piece&) for the lane's columns in a row of shared memory: fours, 16 apart, and two in the end where C is no multiple of
/// four. The lanes of a warp are 8 rows by 4 quarters of such columns.
template <class S, class T, class Part>
PLUMB_DEVICE void for_runs(T* row, int quarter, Part part) {
  constexpr int kFours = S::C / 4 * 4, V = S::V;
#pragma unroll
  for (int c = 0; c < kFours; c += V)
    part(c, *reinterpret_cast<Piece<T, V>*>(row + 4 * (c - c % 4 + quarter) + c % 4));
  if constexpr (kFours < S::C) part(kFours, *reinterpret_cast<Piece<T, 2>*>(row + 4 * kFours + 2 * quarter));
}

/// The sums of one lane. Terms: read from a row at once.
template <class S, int Terms>
class LaneSums {
 public:
  using T = typename S::T;
  PLUMB_DEVICE explicit LaneSums(int lane) : row_(row_of_lane(lane)), quarter_(quarter_of_lane(lane)) {}

  /// Adds terms [from, end) of a warp's rows, `mine` of them: the last one stands for those past the end, whose sums are not kept.
  PLUMB_DEVICE void add(const T* rows, int mine, int pitch, const T* w, int from, int end) {
    const T* x[S::R];
#pragma unroll
    for (int r = 0; r < S::R; ++r) {
      const int at = row_ + 8 * r;
      x[r] = rows + (at < mine ? at : mine - 1) * pitch;
    }
#pragma unroll 4
    for (int at = from; at < end; at += Terms) add_terms(x, w, at);
  }
  PLUMB_DEVICE void put(T* to, int pitch) {
#pragma unroll
    for (int r = 0; r < S::R; ++r) {
      for_runs<S>(to + (row_ + 8 * r) * pitch, quarter_, [&](int c, auto& piece) {
#pragma unroll
        for (int i = 0; i < static_cast<int>(sizeof piece / sizeof(T)); ++i) piece.lane[i] = sum_[r][c + i];
      });
    }
  }

 private:
  PLUMB_DEVICE void add_terms(const T* const (&x)[S::R], const T* w, int k) {
    Piece<T, Terms> of_x[S::R];
#pragma unroll
    for (int r = 0; r < S::R; ++r) of_x[r] = *reinterpret_cast<const Piece<T, Terms>*>(x[r] + k);
#pragma unroll
    for (int l = 0; l < Terms; ++l) {
      T of_w[S::C];
      for_runs<S>(const_cast<T*>(w) + (k + l) * S::kColumns, quarter_, [&](int c, const auto& piece) {
        const auto v = piece;
#pragma unroll
        for (int i = 0; i < static_cast<int>(sizeof v / sizeof(T)); ++i) of_w[c + i] = v.lane[i];
      });
#pragma unroll
      for (int r = 0; r < S::R; ++r) {
#pragma unroll
        for (int c = 0; c < S::C; ++c) sum_[r][c] += of_x[r].lane[l] * of_w[c];
      }
    }
  }

  int row_, quarter_;
  T sum_[S::R][S::C] = {};
};

}  // namespace whole_rows
}  // namespace skinny
}  // namespace plumb
