// cross_entropy: a row's loss for the class that is right.
#pragma once
#include "reference/formula/formula_of.hpp"

namespace plumb {

/// l[i] = log(sum over j of exp(x[i][j])) - x[i][t[i]]
///
/// Shapes    x (n, c);  t (n), int32 from 0 to below c;  l (n). n may be 0, c is 1 or more.
/// Layout    x row-major, ld >= c.
/// Aliasing  l does not overlap the inputs. l is written and never read.
/// Values    finite, and so large that exponentials overflow unless a maximum is subtracted.
/// Bound     by the formula (docs/formulas.md).
/// Errors    validate() rejects shapes that differ, and a class that is none.
/// Source    Blanchard, D. J. Higham and N. J. Higham (2021).
struct CrossEntropy : FormulaOf<CrossEntropy> {
  static constexpr const char* kName = "cross_entropy";
  static constexpr const char* kSignature = "x: n c, t: n in c -> l: n";
  PLUMB_INPUTS(Matrix x; Indices t;)
  PLUMB_OUTPUTS(Vector l;)
  template <class A>
  static A formula(const A& x, const A& t) {
    const A m = shift(x, "c"), right = sum(where(A::index("c") == t, x, A(0)), "c");
    return log(sum(exp(x - m), "c")) + m - right;
  }
};

}  // namespace plumb
