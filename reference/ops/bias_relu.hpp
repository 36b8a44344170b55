// bias_relu: bias, rectifier and cap of a dense layer. Contract only; cases, oracle and bound are in
// bias_relu.cpp.
#pragma once
#include "reference/core/contract.hpp"

namespace plumb {

/// y[i][j] = min(max(x[i][j] + b_j, 0), cap)
///
/// Shapes    x (rows, cols);  y (rows, cols);  b (cols): one bias per column, or b (0): b_j = Problem::bias
///           for every j. Any of them may be 0.
/// Layout    x and y row-major, ld >= cols each.
/// Aliasing  y overlaps neither x nor b. y is written and never read; its padding (columns cols..ld-1) is
///           left alone.
/// Values    NaN in x or b, and -Inf + Inf, give NaN, whatever the cap; cap may be +Inf, and then +Inf stays
///           +Inf. The sign of a zero is free.
/// Narrow    types: fp32 sums rounded once, to nearest even. Beyond the largest number: infinity, NaN in e4m3;
///           subnormals are kept, NaN stays NaN (docs/bounds.md#narrow-outputs).
/// Bound     |y - ref| <= u (|x| + |b|): one rounding, and max and min have Lipschitz constant 1; 0 where x + b
///           is below 0 or above cap by (|x| + |b|) / 32 + 2^-22, so that every arithmetic is clamped. The
///           reference is the correctly rounded sum, so exact fills are compared bit for bit, also with a
///           bias like -0.3.
/// Cost      3 rows cols flop (an add and two comparisons);  2 v rows cols + v size(b) bytes (v = bytes of
///           T).
/// Errors    validate() rejects shapes that differ, a cap that is negative or NaN, and a b of neither cols
///           nor 0 elements.
/// Source    Kepner, Alford, Gadepally et al., "Sparse Deep Neural Network Graph Challenge", HPEC 2019 (cap =
///           32).
struct BiasRelu : Contract<BiasRelu> {
  static constexpr const char* kName = "bias_relu";
  static constexpr const char* kSignature = "x: rows cols, b: cols, bias, cap -> y: rows cols";

  PLUMB_PROBLEM(Scalar bias;  // for every column, where b has no elements
                Scalar cap;)  // >= 0; +Inf: no cap
  PLUMB_INPUTS(Matrix x; Vector b;)
  PLUMB_OUTPUTS(Matrix y;)

  PLUMB_CONTRACT(BiasRelu)
  /// Makes of a problem its n-th neighbour, over the same arrays of the same shapes; false: it has no more. Those
  /// behind the first differ from it in as few members as may be.
  template <class T>
  static bool make_other(Problem<T>&, int n);
};

}  // namespace plumb
