// Building a CSR matrix row by row, in parallel, from two functions: how long a row is, and which columns it
// has. Shared by the generators; each value follows from (seed, row, column) alone, so neither threads nor
// order can change it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "reference/core/error.hpp"
#include "reference/core/matrix.hpp"
#include "reference/core/random.hpp"

namespace plumb {

/// Uniform in [-1, 1) for entry (i, j): the value generated matrices have where their kind prescribes none.
[[nodiscard]] inline double entry_value(std::uint64_t seed, std::int64_t i, std::int64_t j) {
  return 2.0 * random_unit(seed, static_cast<std::uint64_t>(i) + 0x76616c, static_cast<std::uint64_t>(j)) -
         1.0;
}

/// Most rows, columns and entries of a matrix: they are counted by 32-bit indices.
inline constexpr std::int64_t kMostCounted = std::numeric_limits<std::int32_t>::max();

/// Throws Error unless 0 <= rows, cols <= 2^31 - 1.
inline void check_shape(const char* what, std::int64_t rows, std::int64_t cols) {
  if (rows < 0 || cols < 0 || rows > kMostCounted || cols > kMostCounted) {
    throw input_error(what, 0, "rows and columns must be 0..2147483647, are",
                      std::to_string(rows) + " x " + std::to_string(cols));
  }
}

/// rows x cols matrix: row i has length(i) entries, fill(i, out, length) writes their columns in ascending
/// order, and value(i, j) gives each value. All three are called from many threads. Throws Error when the
/// entries exceed 2^31 - 1.
template <class T, class Length, class Fill, class Value>
[[nodiscard]] Csr<T> build_rows(const char* what, std::int64_t rows, std::int64_t cols, Length&& length,
                                Fill&& fill, Value&& value) {
  check_shape(what, rows, cols);
  Csr<T> a;
  a.rows = rows;
  a.cols = cols;
  a.row_ptr.resize(static_cast<std::size_t>(rows + 1));
  std::int64_t nnz = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    nnz += length(i);
    if (nnz > kMostCounted) {
      throw input_error(what, 0, "more than 2147483647 entries",
                        std::to_string(nnz) + " in " + std::to_string(i + 1) + " rows");
    }
    a.row_ptr[static_cast<std::size_t>(i + 1)] = static_cast<std::int32_t>(nnz);
  }
  a.col.resize(static_cast<std::size_t>(nnz));
  a.val.resize(static_cast<std::size_t>(nnz));
#pragma omp parallel for schedule(dynamic, 256)
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t from = a.row_ptr[static_cast<std::size_t>(i)],
                       to = a.row_ptr[static_cast<std::size_t>(i + 1)];
    fill(i, a.col.data() + from, to - from);
    for (std::int64_t e = from; e < to; ++e) {
      a.val[static_cast<std::size_t>(e)] = static_cast<T>(value(i, a.col[static_cast<std::size_t>(e)]));
    }
  }
  return a;
}

/// `count` distinct ascending columns of the window [first, first + width), count <= width: one at random
/// from each of `count` equal parts. `index` numbers the draws of this row in (seed, stream).
inline void spread_columns(std::uint64_t seed, std::uint64_t stream, std::int64_t first, std::int64_t width,
                           std::int64_t count, std::int32_t* out) {
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t low = width * k / count, high = width * (k + 1) / count;
    const std::uint64_t pick =
        random_below(seed, stream, static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(high - low));
    out[k] = static_cast<std::int32_t>(first + low + static_cast<std::int64_t>(pick));
  }
}

}  // namespace plumb
