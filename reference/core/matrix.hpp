// Owning host matrices, and their views. What readers return, generators make and models hold.
#pragma once
#include <cstdint>
#include <vector>

#include "reference/core/abi.hpp"

namespace plumb {

/// Sparse matrix in CSR: zero-based int32. row_ptr.size() == rows + 1 also when rows == 0.
template <class T>
struct Csr {
  std::int64_t rows = 0, cols = 0;
  std::vector<std::int32_t> row_ptr{0};  // (rows + 1)
  std::vector<std::int32_t> col;         // (nnz)
  std::vector<T> val;                    // (nnz)

  [[nodiscard]] std::int64_t nnz() const { return static_cast<std::int64_t>(col.size()); }
  [[nodiscard]] CsrView<const T, Space::host> view() const {
    return {rows, cols, nnz(), row_ptr.data(), col.data(), val.data()};
  }
};

/// Bytes of a CSR's arrays.
template <class T>
[[nodiscard]] std::int64_t bytes_of(const Csr<T>& m) {
  return static_cast<std::int64_t>(4 * (m.row_ptr.size() + m.col.size()) + sizeof(T) * m.val.size());
}

/// Dense row-major matrix with ld == cols.
template <class T>
struct Dense {
  std::int64_t rows = 0, cols = 0;
  std::vector<T> data;  // (rows, cols)

  [[nodiscard]] DenseView<const T, Space::host> view() const { return {data.data(), rows, cols, cols}; }
  [[nodiscard]] DenseView<T, Space::host> view() { return {data.data(), rows, cols, cols}; }
};

}  // namespace plumb
