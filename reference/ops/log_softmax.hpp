// log_softmax: logarithm of the softmax of each row. Contract and derivation of the bound; cases and oracle
// are in log_softmax.cpp.
#pragma once
#include "reference/core/contract.hpp"

namespace plumb {

/// y[i][j] = x[i][j] - m_i - log(s_i),  m_i = max_j x[i][j],  s_i = sum_j exp(x[i][j] - m_i)
///
/// Shapes    x (rows, cols);  y (rows, cols). Either may be 0; widths from 1 to beyond 65,536.
/// Layout    x and y row-major, ld >= cols each.
/// Aliasing  y does not overlap x. y is written and never read; its padding (columns cols..ld-1) is left
///           alone.
/// Values    NaN or +Inf anywhere in a row gives NaN in the whole row, and so does a row of -Inf only. -Inf
///           beside a finite entry gives -Inf there and counts nothing in the sum. Equal entries give
///           -log(cols) to one ulp. Adding a constant to a row changes nothing beyond the bound: x - (m + log
///           s) complies where it is declared, as Arithmetic::by_lse. The sign of a zero is free.
/// Narrow    types: fp32 sums rounded once, to nearest even. Beyond the largest number: infinity, NaN in e4m3;
///           subnormals are kept, NaN stays NaN (docs/bounds.md#narrow-outputs).
/// Bound     |y - ref| <= u (2 |d| + 3 |y| + 4 |log s| + W + 8 + min(n - 1, 4 sqrt(n - 1))), d = x - m, n =
///           cols, W = sum_j e_j |d_j| / s with e_j = exp(d_j). To first order in u:
///             d is rounded once: u |d|. Its error d_j u in the argument makes e_j wrong by a factor 1 + u
///             |d_j|, and the terms of s weigh by their size: u W. A library exp is good to 2 ulp, 4 u,
///             allowed twice because one-read variants rescale their running sum: 8 u. Summing n positive
///             terms: n - 1 roundings, u min(n - 1, 4 sqrt(n - 1)) as in sum_bound. All these are relative to
///             s, and log turns them into absolute ones. A library log is good to 2 ulp: 4 u |log s|. The
///             last subtraction: u |y|; the oracle's own rounding: u |y|. Far from the maximum only u |d| + u
///             |y| are left, and they reach their worst case: each is allowed once more, so that a correct
///             kernel stays below half of the bound.
///             Where the e_j are few values, or nearly equal, the roundings of the sum repeat and add up. The
///             drift that follows from the e_j themselves is added (drift_of_sum), and never more than n - 1
///             in all. In the fill few n - 1 stand in place of the random walk: rows there may also be ordered so that
///             each of many threads has equal terms.
///             Arithmetic::by_lse, y = x - (m + log s) as kernels have it that keep one number per row: the sum m
///             + log s is rounded, and every y has that error: u |m + log s|, allowed twice.
///           A row of equal entries has exact e_j = 1 and an exact sum: 2 u |y|, one ulp, is all that is
///           allowed there.
/// Cost      5 rows cols flop (comparison, exp, add, two subtractions), exp counted as one;  2 v rows cols
///           bytes (v = bytes of T).
/// Errors    validate() rejects shapes that differ.
/// Source    Blanchard, D. J. Higham and N. J. Higham, "Accurately computing the log-sum-exp and softmax
///           functions", IMA J. Numer. Anal. 41 (2021); Milakov and Gimelshein, "Online normalizer
///           calculation for softmax" (2018).
struct LogSoftmax : Contract<LogSoftmax> {
  static constexpr const char* kName = "log_softmax";
  static constexpr const char* kSignature = "x: rows cols -> y: rows cols";

  PLUMB_INPUTS(Matrix x;)
  PLUMB_OUTPUTS(Matrix y;)

  PLUMB_CONTRACT(LogSoftmax)
  /// The factors that the bound multiplies by u, without the sum's share: 2 |d| + 3 |y| + 4 |log s| + W + 8,
  /// where d <= 0 <= log s. The GCN (reference/models), whose rows end in this function, uses it too.
  template <class W>
  static W magnitude(W d, W y, W log_sum, W weight) {
    return -2 * d + 3 * (y < 0 ? -y : y) + 4 * log_sum + weight + 8;
  }
};

}  // namespace plumb
