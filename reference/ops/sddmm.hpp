// sddmm: products of dense rows, sampled at the places of a sparse pattern. Contract only; cases, oracle and
// bound are in sddmm.cpp.
#pragma once
#include "reference/core/contract.hpp"

namespace plumb {

/// s[e] = sum_k X[i][k] * Y[A.col[e]][k]  for e in [A.row_ptr[i], A.row_ptr[i+1]):  S = mask(A) .* (X Y^T).
///
/// Shapes    A (rows, cols), nnz = row_ptr[rows];  X (rows, k);  Y (cols, k);  s (nnz). Any of them may be 0.
/// Layout    zero-based int32 CSR, columns may be unsorted and may repeat (each repeat gets the same value);
///           X and Y row-major, ld >= k each. s is the value array of A's pattern, entry for entry.
/// Aliasing  s overlaps none of the inputs; X and Y may be one array. s is written and never read.
/// Values    only A's pattern counts: its values do not multiply and are not read. k == 0 yields 0; NaN
///           and Inf of the terms propagate as in IEEE 754. The sign of a zero is free.
/// Narrow    types: fp32 sums rounded once, to nearest even. Beyond the largest number: infinity, NaN in e4m3;
///           subnormals are kept, NaN stays NaN (docs/bounds.md#narrow-outputs).
/// Bound     |s[e] - ref| <= sum_bound_of_many_scales(M_e, k), M_e = sum_k |X[i][k] Y[col][k]|.
/// Cost      2 nnz k flop;  4 nnz + 4 (rows + 1) + v k (used rows of X + used rows of Y) + v nnz bytes (v =
///           bytes of T).
/// Errors    a malformed CSR is rejected by validate() before any variant runs; variants assume a valid A.
/// Source    Nisa, Sukumaran-Rajam, Kurt, Hong and Sadayappan, "Sampled dense matrix multiplication for
///           high-performance machine learning", HiPC 2018; N. J. Higham, Accuracy and Stability (2002),
///           section 3.1.
struct Sddmm : Contract<Sddmm> {
  static constexpr const char* kName = "sddmm";
  static constexpr const char* kSignature = "A: csr rows cols, X: rows k, Y: cols k -> s: A";

  PLUMB_INPUTS(Sparse A; Matrix X; Matrix Y;)
  PLUMB_OUTPUTS(Vector s;)

  PLUMB_CONTRACT(Sddmm)
};

}  // namespace plumb
