// gelu: x times the normal distribution function, by erf.
#pragma once
#include "reference/formula/formula_of.hpp"

namespace plumb {

/// y[i][j] = x[i][j] (1 + erf(x[i][j] / sqrt(2))) / 2
///
/// Shapes    x, y (n, d). Either may be 0.
/// Layout    row-major, ld >= d each.
/// Aliasing  y does not overlap x. y is written and never read.
/// Values    finite.
/// Bound     by the formula (docs/formulas.md). The form with tanh is another function.
/// Errors    validate() rejects shapes that differ.
/// Source    Hendrycks and Gimpel, "Gaussian error linear units" (2016).
struct Gelu : FormulaOf<Gelu> {
  static constexpr const char* kName = "gelu";
  static constexpr const char* kSignature = "x: n d -> y: n d";
  static constexpr const char* kSpreads[] = {"1", "4"};
  static constexpr const char* kMeans[] = {"0"};
  PLUMB_INPUTS(Matrix x;)
  PLUMB_OUTPUTS(Matrix y;)
  template <class A>
  static A formula(const A& x) {
    return gelu(x);
  }
};

}  // namespace plumb
