// swiglu: a gate's sigmoid linear unit times a value.
#pragma once
#include "reference/formula/formula_of.hpp"

namespace plumb {

/// y[i][j] = a[i][j] / (1 + exp(-a[i][j])) * b[i][j]
///
/// Shapes    a, b, y (n, d). Either may be 0.
/// Layout    row-major, ld >= d each.
/// Aliasing  y does not overlap a or b. y is written and never read.
/// Values    finite. Where the exponential is beyond the range, y is 0.
/// Bound     by the formula (docs/formulas.md).
/// Errors    validate() rejects shapes that differ.
/// Source    Shazeer, "GLU variants improve transformer" (2020).
struct SwiGlu : FormulaOf<SwiGlu> {
  static constexpr const char* kName = "swiglu";
  static constexpr const char* kSignature = "a: n d, b: n d -> y: n d";
  PLUMB_INPUTS(Matrix a, b;)
  PLUMB_OUTPUTS(Matrix y;)
  template <class A>
  static A formula(const A& a, const A& b) {
    return silu(a) * b;
  }
};

}  // namespace plumb
