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

}  // namespace spmv
}  // namespace plumb
