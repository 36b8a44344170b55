// What rungs 03 and 04 of spmm share: a run of entries of one row times B, in panels of columns held in
// registers.
#pragma once
#include "reference/ops/spmm.hpp"

namespace plumb::spmm_host {

/// One panel of Width columns. The sums live in registers from the first entry to the last.
template <int Width, class T>
void panel(const CsrView<const T, Space::host>& A, const DenseView<const T, Space::host>& B,
           std::int64_t begin, std::int64_t end, std::int64_t column, T* c /* (Width) */) {
  T sum[Width] = {};
  for (std::int64_t k = begin; k < end; ++k) {
    const T a = A.val[k];
    const T* b = B.data + A.col[k] * B.ld + column;
#pragma omp simd
    for (int j = 0; j < Width; ++j) sum[j] += a * b[j];
  }
  for (int j = 0; j < Width; ++j) c[j] = sum[j];
}

/// c (n) = sum over entries [begin, end) of val * B[col]; +0 where there are none. Overwrites c.
template <class T>
void entries_times_dense(const CsrView<const T, Space::host>& A, const DenseView<const T, Space::host>& B,
                         std::int64_t begin, std::int64_t end, T* c /* (n) */) {
  constexpr int kWide = 128 / sizeof(T), kNarrow = 32 / sizeof(T);  // two AVX-512 registers, and one of AVX
  const std::int64_t n = B.cols;
  std::int64_t j = 0;
  for (; j + 2 * kWide <= n; j += 2 * kWide) panel<2 * kWide>(A, B, begin, end, j, c + j);
  for (; j + kWide <= n; j += kWide) panel<kWide>(A, B, begin, end, j, c + j);
  for (; j + kNarrow <= n; j += kNarrow) panel<kNarrow>(A, B, begin, end, j, c + j);
  if (j == n) return;
  // the last few columns: their number is a variable, but their sums need not leave the registers either
  const auto rest = static_cast<int>(n - j);
  T sum[kNarrow] = {};
  for (std::int64_t k = begin; k < end; ++k) {
    const T a = A.val[k];
    const T* b = B.data + A.col[k] * B.ld + j;
    for (int r = 0; r < rest; ++r) sum[r] += a * b[r];
  }
  for (int r = 0; r < rest; ++r) c[j + r] = sum[r];
}

/// First row of part t of `parts` equal shares of rows + nnz: an empty row weighs one entry.
template <class T>
std::int64_t balanced_row(const CsrView<const T, Space::host>& A, std::int64_t t, std::int64_t parts) {
  const std::int64_t target = (A.nnz + A.rows) * t / parts;
  std::int64_t low = 0, high = A.rows;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (A.row_ptr[middle] + middle < target)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace plumb::spmm_host
