// Features of a matrix by which a rung chooses or refuses, from row lengths on the host. For supports() and
// prepare() only.
#pragma once
#include "gpu/device/host_array.hpp"
#include "gpu/spmv/common.hpp"

namespace plumb {
namespace spmv {

/// Whether a format that stores `slots` entries is refused: more than three times what CSR holds.
inline bool explodes(Index slots, Index rows, Index nnz) { return slots > 3 * (nnz + rows) + 1024; }

/// Length of the longest row, from a host copy of row_ptr.
inline Index longest_row(const HostArray<std::int32_t>& row_ptr) {
  Index longest = 0;
  for (Index i = 0; i + 1 < row_ptr.size(); ++i) {
    const Index length = row_ptr[i + 1] - row_ptr[i];
    if (length > longest) longest = length;
  }
  return longest;
}

/// Whether a row has two entries of one column. A format with one place per row and column adds them up before it multiplies, and
/// (0 + a) * Inf is not 0 * Inf + a * Inf.
template <class T>
bool has_repeated_columns(const In<T>& in) {
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, nullptr),
      col(in.A.col, in.A.nnz, nullptr);
  HostArray<Index> last_row(in.A.cols);
  for (Index j = 0; j < in.A.cols; ++j) last_row[j] = -1;
  for (Index i = 0; i < in.A.rows; ++i) {
    for (Index k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      if (last_row[col[k]] == i) return true;
      last_row[col[k]] = i;
    }
  }
  return false;
}

}  // namespace spmv
}  // namespace plumb
