// spmv: y = alpha A x + beta y for a sparse matrix A in CSR. Contract only; cases, oracle and bound are in spmv.cpp.
#pragma once
#include "reference/core/contract.hpp"

namespace plumb {

/// y[i] = alpha * sum_k A.val[k] * x[A.col[k]] + beta * y[i]  for k in [A.row_ptr[i], A.row_ptr[i+1]).
///
/// Shapes    A (rows, cols), nnz = row_ptr[rows];  x (cols);  y (rows). Any of them may be 0.
/// Layout    zero-based int32 CSR. Columns may be unsorted and may repeat; repeats add up.
/// Aliasing  y overlaps neither A nor x. With beta == 0, y is written and never read.
/// Values    an empty row yields beta * y[i], and 0 where beta == 0, even where x holds NaN. beta == 0: NaN in y does
///           not survive. alpha == 0: neither A's values nor x count, y = beta * y (0 where beta == 0), even where they
///           hold NaN. Otherwise NaN and Inf of the terms propagate as in IEEE 754, and alpha scales the sum of a row.
///           The sign of a zero is free.
/// Narrow    types: fp32 sums rounded once, to nearest even. Beyond the largest number: infinity, NaN in e4m3;
///           subnormals are kept, NaN stays NaN (docs/bounds.md#narrow-outputs).
/// Bound     |y[i] - ref[i]| <= sum_bound(M_i, n_i), M_i = affine_magnitude(alpha, sum |val x|, beta y[i])
///           = |alpha| sum + |beta y[i]| max(1, sqrt(n_i) / 4): a kernel may start at beta y. n_i = entries of row i (+ 1).
/// Cost      2 nnz flop;  nnz (v + 4) + 4 (rows + 1) + v (distinct columns + rows) bytes, x read once (v = bytes of T);
///           v rows more where y is read. A row without entries moves nothing where beta == 1.
/// Errors    a malformed CSR is rejected by validate() before any variant runs; variants assume a valid A.
/// Source    N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002), section 3.1.
struct Spmv : Contract<Spmv> {
  static constexpr const char* kName = "spmv";
  static constexpr const char* kSignature = "A: csr rows cols, x: cols, alpha, beta -> y: rows";

  PLUMB_PROBLEM(Scalar alpha, beta;)
  PLUMB_INPUTS(Sparse A; Vector x;)
  PLUMB_OUTPUTS(Vector y;)

  PLUMB_CONTRACT(Spmv)
};

}  // namespace plumb
