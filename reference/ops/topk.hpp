// topk: the k largest elements of each row, and where they stand. Contract only; cases and oracle are in topk.cpp.
#pragma once
#include "reference/core/contract.hpp"

namespace plumb {

/// values[i][p] = x[i][indices[i][p]], the p-th largest element of row i, for p from 0 to k - 1.
///
/// Shapes    x (rows, cols);  values (rows, k), indices (rows, k). rows may be 0; k is from 1 to cols.
/// Layout    row-major, each matrix with its own ld >= its columns; the padding is no part of it. indices are
///           zero-based int32.
/// Aliasing  the outputs overlap neither x nor each other. They are written before they are read.
/// Values    copied, not computed, in descending order. NaN is larger than every number, +Inf included, as in
///           torch.topk; subnormals are told apart; +0 and -0 are equal.
/// Ties      of equal elements any may be taken, and in any order, each column once in a row. NaN of any bits
///           are equal. Two runs may choose otherwise: outputs are not compared between runs, each is judged by
///           itself.
/// Narrow    types: bits are moved; no value is flushed.
/// Bound     0: an index is right where its column may stand at that place, and has not stood before in its
///           row. A value is that of the column that its index names, bit for bit (NaN with NaN): a zero has
///           the sign of the one at that column.
/// Cost      rows cols flop (comparisons);  v rows (cols + k) + 4 rows k bytes (v = bytes of T).
/// Errors    validate() rejects k below 1 or above cols, outputs of another shape, and columns beyond int32.
/// Source    torch.topk(largest=True, sorted=True); routing of tokens to experts.
struct TopK : Contract<TopK> {
  static constexpr const char* kName = "topk";
  static constexpr const char* kSignature = "x: rows cols -> values: rows k, indices: rows k";
  static constexpr Dtype kDtypes[] = {Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16};

  PLUMB_INPUTS(Matrix x;)
  PLUMB_OUTPUTS(Matrix values; DenseView<std::int32_t, S> indices;)

  PLUMB_CONTRACT(TopK)
};

}  // namespace plumb
