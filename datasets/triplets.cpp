#include "datasets/triplets.hpp"

#include <omp.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "reference/core/error.hpp"

namespace plumb {
namespace {

// Sorts one row by column, keeping the order of repeated columns. Most files are sorted already: checked first.
template <class T>
void sort_row(std::int32_t* col, T* val, std::int64_t n, std::vector<std::pair<std::int32_t, T>>& scratch) {
  if (std::is_sorted(col, col + n)) return;
  scratch.clear();
  for (std::int64_t k = 0; k < n; ++k) scratch.emplace_back(col[k], val[k]);
  std::stable_sort(scratch.begin(), scratch.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::int64_t k = 0; k < n; ++k) {
    col[k] = scratch[static_cast<std::size_t>(k)].first;
    val[k] = scratch[static_cast<std::size_t>(k)].second;
  }
}

}  // namespace

template <class T>
Csr<T> csr_of(std::string_view name, std::int64_t rows, std::int64_t cols,
              const std::vector<const Triplets<T>*>& pieces) {
  std::int64_t nnz = 0;
  for (const auto* piece : pieces) nnz += static_cast<std::int64_t>(piece->size());
  if (nnz > kLargestIndex) {
    throw input_error(name, 0, "more entries than int32 can count (2147483647)", std::to_string(nnz));
  }
  if (rows > kLargestIndex || cols > kLargestIndex) {
    throw input_error(name, 0, "more rows or columns than int32 can count (2147483647)",
                      std::to_string(rows) + " x " + std::to_string(cols));
  }
  Csr<T> out;
  out.rows = rows;
  out.cols = cols;
  try {
    out.row_ptr.assign(static_cast<std::size_t>(rows) + 1, 0);
    out.col.resize(static_cast<std::size_t>(nnz));
    out.val.resize(static_cast<std::size_t>(nnz));
  } catch (const std::bad_alloc&) {
    throw input_error(name, 0, "not enough memory for a matrix of this shape",
                      std::to_string(rows) + " x " + std::to_string(cols) + ", " + std::to_string(nnz) + " entries");
  }
  // Each thread owns a range of rows and reads all entries: no atomics, and the order of the pieces is kept.
  // Cheap where a scan of the row indices is: a thread per 2^17 entries is the point where that pays.
  const int threads = static_cast<int>(std::clamp<std::int64_t>(nnz >> 17, 1, omp_get_max_threads()));
  std::vector<std::int32_t> next(static_cast<std::size_t>(rows), 0);
  std::vector<std::int64_t> bounds(static_cast<std::size_t>(threads) + 1, rows);
  std::int32_t* const count = next.data();
  const auto for_own_rows = [&](std::int64_t first, std::int64_t last, auto&& visit) {
    for (const auto* piece : pieces) {
      const std::size_t n = piece->size();
      const std::int32_t* const r = piece->row.data();
      for (std::size_t k = 0; k < n; ++k) {
        if (r[k] >= first && r[k] < last) visit(*piece, k, r[k]);
      }
    }
  };
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int t = 0; t < threads; ++t) {
    for_own_rows(rows * t / threads, rows * (t + 1) / threads,
                 [&](const Triplets<T>&, std::size_t, std::int32_t r) { ++count[r]; });
  }
  bounds[0] = 0;
  int boundary = 1;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int32_t begin = out.row_ptr[static_cast<std::size_t>(i)];
    while (boundary < threads && begin >= nnz * boundary / threads) bounds[static_cast<std::size_t>(boundary++)] = i;
    out.row_ptr[static_cast<std::size_t>(i) + 1] = begin + count[i];
    count[i] = begin;
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int t = 0; t < threads; ++t) {
    const std::int64_t first = bounds[static_cast<std::size_t>(t)], last = bounds[static_cast<std::size_t>(t) + 1];
    for_own_rows(first, last, [&](const Triplets<T>& piece, std::size_t k, std::int32_t r) {
      const auto to = static_cast<std::size_t>(count[r]++);
      out.col[to] = piece.col[k];
      out.val[to] = piece.val.empty() ? T{1} : piece.val[k];
    });
    std::vector<std::pair<std::int32_t, T>> scratch;
    for (std::int64_t i = first; i < last; ++i) {
      const std::int32_t begin = out.row_ptr[static_cast<std::size_t>(i)];
      sort_row(out.col.data() + begin, out.val.data() + begin, out.row_ptr[static_cast<std::size_t>(i) + 1] - begin,
               scratch);
    }
  }
  return out;
}

template <class T>
Repeat find_repeat(const Csr<T>& matrix) {
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    const std::int32_t end = matrix.row_ptr[static_cast<std::size_t>(i) + 1];
    for (std::int32_t k = matrix.row_ptr[static_cast<std::size_t>(i)] + 1; k < end; ++k) {
      const std::int32_t col = matrix.col[static_cast<std::size_t>(k)];
      if (col == matrix.col[static_cast<std::size_t>(k) - 1]) return {i, col};
    }
  }
  return {};
}

template Csr<float> csr_of(std::string_view, std::int64_t, std::int64_t, const std::vector<const Triplets<float>*>&);
template Csr<double> csr_of(std::string_view, std::int64_t, std::int64_t, const std::vector<const Triplets<double>*>&);
template Repeat find_repeat(const Csr<float>&);
template Repeat find_repeat(const Csr<double>&);

}  // namespace plumb
