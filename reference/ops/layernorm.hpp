// layernorm: rows less their mean, divided by their standard deviation.
#pragma once
#include "reference/formula/formula_of.hpp"

namespace plumb {

/// y[i][j] = c[i][j] / sqrt(mean over j of c[i][j]^2 + eps) * w[j] + b[j],  c[i][j] = x[i][j] - mean over j of x[i][j]
///
/// Shapes    x (n, d);  w (d);  b (d);  y (n, d). n may be 0, d is 1 or more.
/// Layout    x and y row-major, ld >= d each.
/// Aliasing  y does not overlap the inputs. y is written and never read.
/// Values    finite; eps > 0.
/// Bound     by the formula (docs/formulas.md). A variance as the mean of squares less the square of the mean is declared,
///           as Arithmetic::one_pass: its errors are relative to both, and where the mean is large little is left.
/// Errors    validate() rejects shapes that differ and an eps that is not above 0.
/// Source    Ba, Kiros and Hinton, "Layer normalization" (2016).
struct LayerNorm : FormulaOf<LayerNorm> {
  static constexpr const char* kName = "layernorm";
  static constexpr const char* kSignature = "x: n d, w: d, b: d, eps>0 -> y: n d";
  static constexpr const char* kMeans[] = {"0", "100"};
  PLUMB_PROBLEM(Scalar eps;)
  PLUMB_INPUTS(Matrix x; Vector w, b;)
  PLUMB_OUTPUTS(Matrix y;)
  template <class A>
  static A formula(const A& x, const A& w, const A& b, const A& eps) {
    const A c = x - mean(x, -1);
    return c / sqrt(mean(c * c, -1) + eps) * w + b;
  }
  template <class A>
  static A one_pass(const A& x, const A& w, const A& b, const A& eps) {
    const A m = mean(x, -1);
    return (x - m) / sqrt(mean(x * x, -1) - m * m + eps) * w + b;
  }
};

}  // namespace plumb
