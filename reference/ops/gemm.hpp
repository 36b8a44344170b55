// gemm: C = alpha A B + beta C for dense row-major matrices. Contract only; cases, oracle and bound are in
// gemm.cpp.
#pragma once
#include "reference/core/contract.hpp"

namespace plumb {

/// C[i, j] = alpha * sum_k A[i, k] * B[k, j] + beta * C[i, j]  for k in [0, A.cols).
///
/// Shapes    A (m, k);  B (k, n);  C (m, n). Any of m, n, k may be 0; k == 0 gives beta * C.
/// Layout    row-major, each matrix with its own leading dimension ld >= cols. What lies between cols and ld
///           is not touched.
/// Aliasing  C overlaps neither A nor B, which may be one array. With beta == 0, C is written and never read.
/// Values    beta == 0: NaN in C does not survive. alpha == 0: neither A nor B is read, C = beta * C (0
///           where beta == 0), even where A or B hold NaN. Otherwise NaN and Inf propagate as in IEEE 754: 0 *
///           Inf is NaN, no term is skipped. alpha scales products or their sum, never an operand: 0.5 *
///           subnormal is 0, and Inf times that NaN. The sign of a zero is free.
/// Narrow    types: fp32 sums rounded once, to nearest even. Beyond the largest number: infinity, NaN in e4m3;
///           subnormals are kept, NaN stays NaN (docs/bounds.md#narrow-outputs).
/// Bound     |C[i, j] - ref| <= sum_bound(M, n), M = affine_magnitude(alpha, sum |A[i, k] B[k, j]|,
///           beta C[i, j]) = |alpha| sum + |beta C[i, j]| max(1, sqrt(k) / 4): a kernel may start at beta C.
///           n = k, plus 1 for alpha != 1 and 1 for beta != 0, which round too.
/// Cost      2 m n k flop;  v (m k + k n + m n) bytes, and v m n more where C is read (v = bytes of T).
/// Errors    shapes that do not fit are rejected by validate() before any variant runs; variants assume
///           fitting shapes.
/// Source    N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002), section 3.5.
struct Gemm : Contract<Gemm> {
  static constexpr const char* kName = "gemm";
  static constexpr const char* kSignature = "A: m k, B: k n, alpha, beta -> C: m n";
  static constexpr auto& kDtypes = kMatrixDtypes;
  static constexpr const char* kExtents[] = {"m", "n", "k"};  // parameters of a case

  PLUMB_PROBLEM(Scalar alpha, beta;)
  PLUMB_INPUTS(Matrix A; Matrix B;)
  PLUMB_OUTPUTS(Matrix C;)

  PLUMB_CONTRACT(Gemm)
};

}  // namespace plumb
