// (row, column, value) lists in pieces, and their conversion to CSR: stable, on all threads. Internal to the
// readers of this room.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "reference/core/matrix.hpp"

namespace plumb {

/// Zero-based entries. Without values every entry is 1.
template <class T>
struct Triplets {
  std::vector<std::int32_t> row, col;  // (entries)
  std::vector<T> val;                  // (entries) or empty

  [[nodiscard]] std::size_t size() const { return row.size(); }
};

/// A matrix that is not CSR yet.
template <class T>
struct Entries {
  std::int64_t rows = 0, cols = 0;
  Triplets<T> all;
};

constexpr std::int64_t kLargestIndex = 2147483647;  // int32: the storage of CSR

/// Columns of each row ascend, repeated ones in the order of the pieces. Indices must be inside the shape.
/// `name` is the file that messages name. Errors: more than 2^31 - 1 entries or rows or columns; require_rows; no memory
/// for row_ptr.
template <class T>
[[nodiscard]] Csr<T> csr_of(std::string_view name, std::int64_t rows, std::int64_t cols,
                            const std::vector<const Triplets<T>*>& pieces);

/// The number of rows is a number in a header, or one index: it must not ask for memory that the entries do not prove. Errors: more than
/// 2^26 rows, and more than 64 for each entry.
void require_rows(std::string_view name, std::int64_t rows, std::int64_t entries);

/// The elements that are not 0, by rows.
template <class T>
[[nodiscard]] Triplets<T> nonzeros(const Dense<T>& dense);
/// The same as CSR. Errors: as csr_of.
template <class T>
[[nodiscard]] Csr<T> without_zeros(std::string_view name, const Dense<T>& dense);

/// A repeated (row, column), if any: the first such row, and in it the first such column.
struct Repeat {
  std::int64_t row = -1, col = -1;
};
template <class T>
[[nodiscard]] Repeat find_repeat(const Csr<T>& matrix);

}  // namespace plumb
