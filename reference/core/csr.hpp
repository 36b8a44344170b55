// What every room does with a CSR matrix: check it, transpose it, cut rows out of it.
#pragma once
#include <cstdint>
#include <string>

#include "reference/core/matrix.hpp"

namespace plumb {

/// The first defect in words, empty where the matrix is sound: row_ptr must run from 0 to nnz and never fall, every column lie in
/// 0..cols-1. Of an owning matrix the sizes of the arrays are checked first.
template <class T>
[[nodiscard]] std::string csr_fault(const CsrView<const T, Space::host>& a);
template <class T>
[[nodiscard]] std::string csr_fault(const Csr<T>& a);

/// Throws Error `malformed CSR NAME: defect`.
template <class T>
void validate_csr(const CsrView<const T, Space::host>& a, const char* name);

/// Whether a row of the pattern row_ptr (rows + 1), col (nnz) has two entries of one column. A format with one place per row and column
/// would add them up before it multiplies, and (0 + a) * Inf is not 0 * Inf + a * Inf.
[[nodiscard]] bool has_repeated_columns(std::int64_t rows, std::int64_t cols, const std::int32_t* row_ptr,
                                        const std::int32_t* col);

/// (cols, rows); entries of a row by ascending column where those of `a` were listed by ascending row; repeats stay, in order.
template <class T>
[[nodiscard]] Csr<T> transposed(const Csr<T>& a);

/// Rows first..last-1 as a matrix of their own.
template <class T>
[[nodiscard]] Csr<T> slice_rows(const Csr<T>& a, std::int64_t first, std::int64_t last);

}  // namespace plumb
