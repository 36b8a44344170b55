// What rungs 03 to 05 of spmm share: a run of entries of one row times B, in panels of columns held in
// registers.
#pragma once
#include "reference/cpu/simd.hpp"
#include "reference/ops/spmm.hpp"

namespace plumb::spmm_host {

/// One panel of `width` columns in Registers registers, (Registers - 1) * kLanes < width <= Registers *
/// kLanes, width >= kLanes. The sums live in registers from the first entry to the last. The last register
/// may overlap the one before it: both compute the same, and no column needs a remainder loop. An array of
/// scalars in place of the registers is left in memory by gcc 12 from 17 floats on, at a fifth of the speed.
template <int Registers, class E, class O>
void panel(const CsrView<const E, Space::host>& A, const DenseView<const E, Space::host>& B,
           std::int64_t begin, std::int64_t end, std::int64_t column, std::int64_t width,
           O* c /* (width) */) {
  using T = value_t<E>;
  const std::int64_t last = width - kLanes<T>;
  Vector<T> sum[Registers] = {};
  for (std::int64_t k = begin; k < end; ++k) {
    const Vector<T> a = Vector<T>{} + value(A.val[k]);
    const E* b = B.data + A.col[k] * B.ld + column;
#pragma GCC unroll 8
    for (int r = 0; r < Registers; ++r) {
      Vector<T> x;
      load_values<T>(x, b + (r + 1 < Registers ? r * kLanes<T> : last));
      sum[r] += a * x;
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < Registers; ++r) store_values<T>(c + (r + 1 < Registers ? r * kLanes<T> : last), sum[r]);
}

/// c (n) = sum over entries [begin, end) of val * B[col]; +0 where there are none. Overwrites c.
template <class E, class O>
void entries_times_dense(const CsrView<const E, Space::host>& A, const DenseView<const E, Space::host>& B,
                         std::int64_t begin, std::int64_t end, O* c /* (n) */) {
  using T = value_t<E>;
  constexpr std::int64_t kWide = 4 * kLanes<T>;
  const std::int64_t n = B.cols;
  if (n <
      kLanes<
          T>) {  // narrower than a register: their number is a variable, but the sums stay in the first-level cache
    T sum[kLanes<T>] = {};
    for (std::int64_t k = begin; k < end; ++k) {
      const T a = value(A.val[k]);
      const E* b = B.data + A.col[k] * B.ld;
      for (std::int64_t j = 0; j < n; ++j) sum[j] += a * value(b[j]);
    }
    for (std::int64_t j = 0; j < n; ++j) c[j] = stored<O>(sum[j]);
    return;
  }
  std::int64_t j = 0;
  for (; n - j > kWide; j += kWide) panel<4>(A, B, begin, end, j, kWide, c + j);
  if (n - j < kLanes<T>) j = n - kLanes<T>;  // again the overlap, with the panel before
  const std::int64_t width = n - j;
  if (width <= kLanes<T>) return panel<1>(A, B, begin, end, j, width, c + j);
  if (width <= 2 * kLanes<T>) return panel<2>(A, B, begin, end, j, width, c + j);
  if (width <= 3 * kLanes<T>) return panel<3>(A, B, begin, end, j, width, c + j);
  panel<4>(A, B, begin, end, j, width, c + j);
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
