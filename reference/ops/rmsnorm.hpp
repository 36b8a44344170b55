// rmsnorm: rows divided by the root of the mean of their squares.
#pragma once
#include "reference/formula/formula_of.hpp"

namespace plumb {

/// y[i][j] = x[i][j] w[j] / sqrt(mean over j of x[i][j]^2 + eps)
///
/// Shapes    x (n, d);  w (d);  y (n, d). n may be 0, d is 1 or more.
/// Layout    x and y row-major, ld >= d each.
/// Aliasing  y does not overlap x or w. y is written and never read.
/// Values    finite; eps > 0.
/// Bound     by the formula (docs/formulas.md), any order of the sum.
/// Errors    validate() rejects shapes that differ and an eps that is not above 0.
/// Source    Zhang and Sennrich, "Root mean square layer normalization", NeurIPS 2019.
struct RmsNorm : FormulaOf<RmsNorm> {
  static constexpr const char* kName = "rmsnorm";
  static constexpr const char* kSignature = "x: n d, w: d, eps>0 -> y: n d";
  PLUMB_PROBLEM(Scalar eps;)
  PLUMB_INPUTS(Matrix x; Vector w;)
  PLUMB_OUTPUTS(Matrix y;)
  template <class A>
  static A formula(const A& x, const A& w, const A& eps) {
    return x * w / sqrt(mean(x * x, -1) + eps);
  }
};

}  // namespace plumb
