// gemv: y = alpha A x + beta y for a dense row-major matrix. Contract only; cases, oracle and bound are in
// gemv.cpp.
#pragma once
#include "reference/core/contract.hpp"

namespace plumb {

/// y[i] = alpha * sum_k A[i, k] * x[k] + beta * y[i]  for k in [0, A.cols).
///
/// Shapes    A (rows, cols);  x (cols);  y (rows). Any of them may be 0; cols == 0 gives beta * y.
/// Layout    A row-major with its leading dimension ld >= cols; x and y contiguous.
/// Aliasing  y overlaps neither A nor x. With beta == 0, y is written and never read.
/// Values    beta == 0: NaN in y does not survive. alpha == 0: neither A nor x is read, y = beta * y (0
///           where beta == 0). Otherwise NaN and Inf propagate as in IEEE 754: 0 * Inf is NaN, no term is
///           skipped. alpha scales products or their sum, never an operand: 0.5 * subnormal is 0, and Inf
///           times that NaN. The sign of a zero is free.
/// Narrow    types: fp32 sums rounded once, to nearest even. Beyond the largest number: infinity, NaN in e4m3;
///           subnormals are kept, NaN stays NaN (docs/bounds.md#narrow-outputs).
/// Bound     |y[i] - ref| <= sum_bound(M, n), M = affine_magnitude(alpha, sum |A[i, k] x[k]|, beta y[i])
///           = |alpha| sum + |beta y[i]| max(1, sqrt(cols) / 4): a kernel may start at beta y. n = cols, plus
///           1 for alpha != 1 and 1 for beta != 0, which round too.
/// Cost      2 rows cols flop;  v (rows cols + cols + rows) bytes, and v rows more where y is read (v = bytes
///           of T).
/// Errors    shapes that do not fit are rejected by validate() before any variant runs; variants assume
///           fitting shapes.
/// Source    N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002), section 3.5.
struct Gemv : Contract<Gemv> {
  static constexpr const char* kName = "gemv";
  static constexpr const char* kSignature = "A: rows cols, x: cols, alpha, beta -> y: rows";

  PLUMB_PROBLEM(Scalar alpha, beta;)
  PLUMB_INPUTS(Matrix A; Vector x;)
  PLUMB_OUTPUTS(Vector y;)

  PLUMB_CONTRACT(Gemv)
};

}  // namespace plumb
