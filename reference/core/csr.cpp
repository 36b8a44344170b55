#include "reference/core/csr.hpp"

#include <cstddef>

#include <fmt/format.h>

#include "reference/core/error.hpp"

namespace plumb {

template <class T>
std::string csr_fault(const CsrView<const T, Space::host>& a) {
  if (a.row_ptr[0] != 0)
    return fmt::format("row_ptr does not run from 0 to nnz: it begins with {}", a.row_ptr[0]);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    if (a.row_ptr[i + 1] < a.row_ptr[i]) return fmt::format("row_ptr falls after row {}", i);
  }
  if (a.row_ptr[a.rows] != a.nnz) {
    return fmt::format("row_ptr does not run from 0 to nnz: it ends at {} of {}", a.row_ptr[a.rows], a.nnz);
  }
  for (std::int64_t k = 0; k < a.nnz; ++k) {
    if (a.col[k] < 0 || a.col[k] >= a.cols) {
      return fmt::format("column {} of entry {} lies outside 0..{}", a.col[k], k, a.cols - 1);
    }
  }
  return {};
}

template <class T>
std::string csr_fault(const Csr<T>& a) {
  if (a.rows < 0 || static_cast<std::int64_t>(a.row_ptr.size()) != a.rows + 1) {
    return fmt::format("row_ptr has {} numbers for {} rows", a.row_ptr.size(), a.rows);
  }
  if (a.val.size() != a.col.size())
    return fmt::format("{} values for {} columns", a.val.size(), a.col.size());
  return csr_fault(a.view());
}

template <class T>
void validate_csr(const CsrView<const T, Space::host>& a, const char* name) {
  if (const std::string fault = csr_fault(a); !fault.empty()) {
    throw Error(fmt::format("malformed CSR {}: {}", name, fault));
  }
}

bool has_repeated_columns(std::int64_t rows, std::int64_t cols, const std::int32_t* row_ptr,
                          const std::int32_t* col) {
  std::vector<std::int64_t> last_row(static_cast<std::size_t>(cols), -1);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      if (last_row[col[k]] == i) return true;
      last_row[col[k]] = i;
    }
  }
  return false;
}

template <class T>
Csr<T> transposed(const Csr<T>& a) {
  Csr<T> t;
  t.rows = a.cols;
  t.cols = a.rows;
  t.row_ptr.assign(static_cast<std::size_t>(t.rows) + 1, 0);
  t.col.resize(a.col.size());
  t.val.resize(a.val.size());
  // A counting sort by column.
  for (const std::int32_t j : a.col) ++t.row_ptr[static_cast<std::size_t>(j) + 1];
  for (std::size_t j = 0; j < static_cast<std::size_t>(t.rows); ++j) t.row_ptr[j + 1] += t.row_ptr[j];
  std::vector<std::int32_t> next(t.row_ptr.begin(), t.row_ptr.end() - 1);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (auto k = static_cast<std::size_t>(a.row_ptr[row]); k < static_cast<std::size_t>(a.row_ptr[row + 1]);
         ++k) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(a.col[k])]++);
      t.col[at] = static_cast<std::int32_t>(i);
      t.val[at] = a.val[k];
    }
  }
  return t;
}

template <class T>
Csr<T> slice_rows(const Csr<T>& a, std::int64_t first, std::int64_t last) {
  Csr<T> s;
  s.rows = last - first;
  s.cols = a.cols;
  const std::int32_t begin = a.row_ptr[static_cast<std::size_t>(first)],
                     end = a.row_ptr[static_cast<std::size_t>(last)];
  s.row_ptr.resize(static_cast<std::size_t>(s.rows) + 1);
  for (std::int64_t i = 0; i <= s.rows; ++i) {
    s.row_ptr[static_cast<std::size_t>(i)] = a.row_ptr[static_cast<std::size_t>(first + i)] - begin;
  }
  s.col.assign(a.col.begin() + begin, a.col.begin() + end);
  s.val.assign(a.val.begin() + begin, a.val.begin() + end);
  return s;
}

#define PLUMB_INSTANTIATE(T)                                                        \
  template std::string csr_fault<T>(const CsrView<const T, Space::host>&);          \
  template std::string csr_fault<T>(const Csr<T>&);                                 \
  template void validate_csr<T>(const CsrView<const T, Space::host>&, const char*); \
  template Csr<T> transposed<T>(const Csr<T>&);                                     \
  template Csr<T> slice_rows<T>(const Csr<T>&, std::int64_t, std::int64_t);
PLUMB_INSTANTIATE(float)
PLUMB_INSTANTIATE(double)
#undef PLUMB_INSTANTIATE

}  // namespace plumb
