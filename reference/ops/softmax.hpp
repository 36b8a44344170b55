// softmax of each row.
#pragma once
#include "reference/formula/formula_of.hpp"

namespace plumb {

/// y[i][j] = exp(x[i][j] - m_i) / sum over k of exp(x[i][k] - m_i),  m_i = max over k of x[i][k]
///
/// Shapes    x (n, d);  y (n, d). n may be 0, d is 1 or more.
/// Layout    x and y row-major, ld >= d each.
/// Aliasing  y does not overlap x. y is written and never read.
/// Values    finite. Adding a constant to a row changes nothing.
/// Bound     by the formula (docs/formulas.md): any order of the sum, and sums that are rescaled as the maximum rises.
/// Errors    validate() rejects shapes that differ.
/// Source    Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
struct Softmax : FormulaOf<Softmax> {
  static constexpr const char* kName = "softmax";
  static constexpr const char* kSignature = "x: n d -> y: n d";
  PLUMB_INPUTS(Matrix x;)
  PLUMB_OUTPUTS(Matrix y;)
  template <class A>
  static A formula(const A& x) {
    const A e = exp(x - shift(x, -1));
    return e / sum(e, -1);
  }
};

}  // namespace plumb
