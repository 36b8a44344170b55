// log_softmax: logarithm of the softmax of each row. Contract; cases are in log_softmax.cpp.
#pragma once
#include "reference/formula/formula_of.hpp"

namespace plumb {

/// y[i][j] = x[i][j] - m_i - log(s_i),  m_i = max_j x[i][j],  s_i = sum_j exp(x[i][j] - m_i)
///
/// Shapes    x (rows, cols);  y (rows, cols). Either may be 0; widths from 1 to beyond 65,536.
/// Layout    x and y row-major, ld >= cols each.
/// Aliasing  y does not overlap x. y is written and never read; its padding (columns cols..ld-1) is left
///           alone.
/// Values    NaN or +Inf anywhere in a row gives NaN in the whole row, and so does a row of -Inf only. -Inf
///           beside a finite entry gives -Inf there and counts nothing in the sum. Equal entries give
///           -log(cols) to two ulp. Adding a constant to a row changes nothing beyond the bound: x - (m + log
///           s) complies where it is declared, as Arithmetic::by_lse. The sign of a zero is free.
/// Narrow    types: fp32 sums rounded once, to nearest even. Beyond the largest number: infinity, NaN in e4m3;
///           subnormals are kept, NaN stays NaN (docs/bounds.md#narrow-outputs).
/// Bound     by the formula (docs/formulas.md): to first order u (4 |d| + 6 |log s| + 2 W + 8 (1 - 1/s) + R),
///           d = x - m, W = sum_j e_j |d_j| / s with e_j = exp(d_j), R what a sum of e_j / s is granted, 4 sqrt(cols)
///           where they are many. A row of equal entries has exact e_j = 1 and an exact sum.
/// Cost      by the formula, exp counted as one.
/// Errors    validate() rejects shapes that differ.
/// Source    Blanchard, D. J. Higham and N. J. Higham, "Accurately computing the log-sum-exp and softmax
///           functions", IMA J. Numer. Anal. 41 (2021); Milakov and Gimelshein, "Online normalizer
///           calculation for softmax" (2018).
struct LogSoftmax : FormulaOf<LogSoftmax> {
  static constexpr const char* kName = "log_softmax";
  static constexpr const char* kSignature = "x: rows cols -> y: rows cols";

  PLUMB_INPUTS(Matrix x;)
  PLUMB_OUTPUTS(Matrix y;)

  template <class A>
  static A formula(const A& x) {
    const A d = x - shift(x, "cols");
    return d - log(sum(exp(d), "cols"));
  }
  template <class A>
  static A by_lse(const A& x) {
    const A m = shift(x, "cols");
    return x - (m + log(sum(exp(x - m), "cols")));
  }
  // with special values, which formulas do not draw
  static void describe(CaseSpace&);
  static void cases(CaseList&);
  template <class T>
  static void make(const Case&, Instance<LogSoftmax, T>&);
};

}  // namespace plumb
