// bias_gelu_residual: the end of a layer in one pass: bias, activation, and what by-passes the layer.
#pragma once
#include "reference/formula/formula_of.hpp"

namespace plumb {

/// y[i][j] = gelu(x[i][j] + b[j]) + r[i][j],  gelu(t) = t (1 + erf(t / sqrt(2))) / 2
///
/// Shapes    x, r, y (n, d);  b (d). Either extent may be 0.
/// Layout    row-major, ld >= d each.
/// Aliasing  y does not overlap the inputs. y is written and never read.
/// Values    finite.
/// Bound     by the formula (docs/formulas.md).
/// Errors    validate() rejects shapes that differ.
/// Source    He et al. (2016); Hendrycks and Gimpel (2016).
struct BiasGeluResidual : FormulaOf<BiasGeluResidual> {
  static constexpr const char* kName = "bias_gelu_residual";
  static constexpr const char* kSignature = "x: n d, b: d, r: n d -> y: n d";
  static constexpr const char* kSpreads[] = {"1", "4"};
  static constexpr const char* kMeans[] = {"0"};
  PLUMB_INPUTS(Matrix x; Vector b; Matrix r;)
  PLUMB_OUTPUTS(Matrix y;)
  template <class A>
  static A formula(const A& x, const A& b, const A& r) {
    return gelu(x + b) + r;
  }
};

}  // namespace plumb
