// spmm: C = A B for a sparse matrix A in CSR, dense row-major B and C. Contract only; cases, oracle and bound
// are in spmm.cpp.
#pragma once
#include "reference/core/contract.hpp"

namespace plumb {

/// C[i][j] = sum_k A.val[k] * B[A.col[k]][j]  for k in [A.row_ptr[i], A.row_ptr[i+1]).
///
/// Shapes    A (rows, cols), nnz = row_ptr[rows];  B (cols, n);  C (rows, n). Any of them may be 0.
/// Layout    zero-based int32 CSR, columns may be unsorted and may repeat (repeats add up); B and C row-major
///           with ld >= n each.
/// Aliasing  C overlaps neither A nor B. C is written and never read; its padding (columns n..ld-1) is left
///           alone.
/// Values    an empty row yields 0 even where B holds NaN; NaN and Inf of the terms propagate as in IEEE
///           754. The sign of a zero is free.
/// Narrow    types: fp32 sums rounded once, to nearest even. Beyond the largest number: infinity, NaN in e4m3;
///           subnormals are kept, NaN stays NaN (docs/bounds.md#narrow-outputs).
/// Bound     |C[i][j] - ref| <= sum_bound(M_ij, n_i), M_ij = sum |val B|, n_i = entries of row i.
/// Cost      2 nnz n flop;  nnz (v + 4) + 4 (rows + 1) + v n (distinct columns + rows) bytes, B read once (v
///           = bytes of T).
/// Errors    a malformed CSR is rejected by validate() before any variant runs; variants assume a valid A.
/// Source    N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002), section 3.5.
struct Spmm : Contract<Spmm> {
  static constexpr const char* kName = "spmm";
  static constexpr const char* kSignature = "A: csr rows cols, B: cols n -> C: rows n";

  PLUMB_INPUTS(Sparse A; Matrix B;)
  PLUMB_OUTPUTS(Matrix C;)

  PLUMB_CONTRACT(Spmm)
};

}  // namespace plumb
