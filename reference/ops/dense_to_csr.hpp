// dense_to_csr: the non-zeros of a dense matrix, in CSR. Contract only; cases and oracle are in
// dense_to_csr.cpp.
#pragma once
#include "reference/core/contract.hpp"

namespace plumb {

/// row_ptr[i+1] - row_ptr[i] = number of j with x[i][j] != 0;  col and val hold these j, ascending, and their
/// x[i][j].
///
/// Shapes    x (rows, cols);  row_ptr (rows + 1);  col (nnz), val (nnz) with nnz = the number of non-zeros:
///           the outputs are sized exactly, so col.size tells a variant nnz beforehand. Any of them but
///           row_ptr may be 0.
/// Layout    x row-major, ld >= cols; the padding is no part of the matrix. Zero-based int32 CSR, row_ptr[0]
///           = 0.
/// Aliasing  the outputs overlap neither x nor each other. They are written and never read before that.
/// Values    an entry counts when x != 0: NaN, infinities and subnormals do, -0 does not. Values are copied,
///           not computed.
/// Narrow    types: bits are moved; no value is flushed, and e4m3's NaN stays one.
/// Bound     0: every element of every output is compared bit for bit (NaN with NaN).
/// Cost      rows cols flop (comparisons);  v rows cols + 4 (rows + 1) + nnz (v + 4) bytes, x read once (v =
///           bytes of T).
/// Errors    validate() rejects outputs whose size is not the number of non-zeros, and sizes beyond int32.
/// Source    the conversion between layers of a dense product and a sparse one; cuSPARSE,
///           cusparseDenseToSparse.
struct DenseToCsr : Contract<DenseToCsr> {
  static constexpr const char* kName = "dense_to_csr";
  static constexpr const char* kSignature = "x: rows cols -> row_ptr: rows+1, col: nnz, val: nnz";
  static constexpr Dtype kDtypes[] = {Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16, Dtype::e4m3};
  static constexpr const char* kExtents[] = {"rows", "cols"};  // parameters of a case

  PLUMB_INPUTS(Matrix x;)
  PLUMB_OUTPUTS(Indices row_ptr; Indices col; Vector val;)

  PLUMB_CONTRACT(DenseToCsr)
  /// Takes the last row (n = 0) or column (n = 1) of x away, and the entries that were there; false: there is none, or
  /// n is larger.
  template <class T>
  static bool shorten(In<T, Space::host>&, Out<T, Space::host>&, int n);
};

}  // namespace plumb
