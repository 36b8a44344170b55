// Rung 19's products by fp64 tensor cores: a warp's fragments are 16 rows by 8 columns. Header only.
#pragma once
#include "gpu/skinny_gemm/common.hpp"

namespace plumb {
namespace skinny {
namespace whole_rows {

template <class S, int Terms>
class FragmentSums;

/// Warps that make products, and the fragments of each: R of 16 rows by C of 8 columns.
template <int Warps, int R_, int C_>
struct Fragments {
  using T = double;
  template <int Terms>
  using Sums = FragmentSums<Fragments, Terms>;
  static constexpr bool kFragments = true;
  static constexpr int kWarps = Warps, R = R_, C = C_, V = 2;
  static constexpr int kRows = 16 * R, kColumns = 8 * C;  // of a warp
  static constexpr int kSumPitch =
      kColumns + (24 - kColumns % 16) % 16;  // of the sums in shared memory: as apart()
  static constexpr int kStep = 8;            // terms of a fragment
  // W in pairs of terms, one column after the other; two pairs more, so that the 8 that a quarter of a warp reads lie in different banks
  static constexpr int kPairs = kColumns + 2;
  static PLUMB_HOST_DEVICE Index of_w(Index k) { return (k + kStep - 1) / kStep * kStep * kPairs; }
  /// Zeros past W's ends, also of the terms that fill up the last fragment. All threads of the block take part; no barrier.
  static PLUMB_DEVICE void stage(double* w, int k, const In<double>& in, Index j0) {
    each_of_w<kColumns>((k + kStep - 1) / kStep * kStep, in, 0, j0,
                        [w](int term, int column, double element) {
                          w[(term / 2 * kPairs + column) * 2 + term % 2] = element;
                        });
  }
  /// Elements from one row to the next, so that two neighbours lie in different banks.
  static Index apart(Index k) { return k + (24 - k % 16) % 16; }
  static bool reads_vectors(Index, Index pitch) { return pitch % V == 0; }
  /// Of two rows so far apart, those that lie in the same banks.
  static Index rows_in_a_bank(Index pitch) { return pitch % 16 == 8 ? 1 : 2; }
};

/// The sums of one lane. Terms: read from a row at once, 1 or 2.
template <class S, int Terms>
class FragmentSums {
 public:
  PLUMB_DEVICE explicit FragmentSums(int lane) : row_(lane / 4), at_(lane % 4) {}

  /// Adds terms [from, end) of a warp's rows, `mine` of them: the last one stands for those past the end, whose sums are not kept.
  PLUMB_DEVICE void add(const double* rows, int mine, int pitch, const double* w, int from, int end) {
    const double* x[2 * S::R];
#pragma unroll
    for (int r = 0; r < 2 * S::R; ++r) {
      const int at = row_ + 8 * r;
      x[r] = rows + (at < mine ? at : mine - 1) * pitch + 2 * at_;
    }
    int k = from;
#pragma unroll 2
    for (; k + S::kStep <= end; k += S::kStep) step(x, w, k, 2);
    if (k < end) step(x, w, k, end - k - 2 * at_);
  }
  PLUMB_DEVICE void put(double* to, int pitch) {
#pragma unroll
    for (int r = 0; r < 2 * S::R; ++r) {
#pragma unroll
      for (int c = 0; c < S::C; ++c) {
        const Piece<double, 2> pair{{sum_[r / 2][c][r % 2 * 2], sum_[r / 2][c][r % 2 * 2 + 1]}};
        *reinterpret_cast<Piece<double, 2>*>(to + (row_ + 8 * r) * pitch + 8 * c + 2 * at_) = pair;
      }
    }
  }

 private:
  /// A fragment's terms from k on. The lane has two of them, 2 `at_` further; `left`: how many of these there are.
  PLUMB_DEVICE void step(const double* const (&x)[2 * S::R], const double* w, int k, int left) {
    double a[S::R][4];
#pragma unroll
    for (int r = 0; r < 2 * S::R; ++r) {
      const Piece<double, 2> pair = two(x[r] + k, left);
      a[r / 2][r % 2] = pair.lane[0], a[r / 2][2 + r % 2] = pair.lane[1];
    }
#pragma unroll
    for (int c = 0; c < S::C; ++c) {
      const auto of_w =
          *reinterpret_cast<const Piece<double, 2>*>(w + ((k / 2 + at_) * S::kPairs + 8 * c + row_) * 2);
      const double b[2] = {of_w.lane[0], of_w.lane[1]};
#pragma unroll
      for (int r = 0; r < S::R; ++r) mma_m16n8k8_f64(sum_[r][c], a[r], b);
    }
  }
  static PLUMB_DEVICE Piece<double, 2> two(const double* x, int left) {
    if (Terms == 2 && left >= 2) return *reinterpret_cast<const Piece<double, 2>*>(x);
    return {{left > 0 ? x[0] : 0.0, left > 1 ? x[1] : 0.0}};
  }

  int row_, at_;
  double sum_[S::R][S::C][4] = {};
};

}  // namespace whole_rows
}  // namespace skinny
}  // namespace plumb
