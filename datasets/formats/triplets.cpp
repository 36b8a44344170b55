#include "datasets/formats/triplets.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "reference/core/error.hpp"
#include "reference/core/exhaustion.hpp"

namespace plumb {
namespace {

// Sorts one row by column, keeping the order of repeated columns. Most files are sorted already: checked
// first.
template <class T>
void sort_row(std::int32_t* col, T* val, std::int64_t n, std::vector<std::pair<std::int32_t, T>>& scratch) {
  if (std::is_sorted(col, col + n)) return;
  scratch.clear();
  for (std::int64_t k = 0; k < n; ++k) scratch.emplace_back(col[k], val[k]);
  std::stable_sort(scratch.begin(), scratch.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::int64_t k = 0; k < n; ++k) {
    col[k] = scratch[static_cast<std::size_t>(k)].first;
    val[k] = scratch[static_cast<std::size_t>(k)].second;
  }
}

// A matrix with room for its entries and with row_ptr 0. Throws where int32 cannot index it, or where the
// memory is missing.
template <class T>
Csr<T> with_room(std::string_view name, std::int64_t rows, std::int64_t cols, std::int64_t nnz) {
  if (nnz > kLargestIndex) {
    throw input_error(name, 0, "more entries than int32 can count (2147483647)", std::to_string(nnz));
  }
  if (rows > kLargestIndex || cols > kLargestIndex) {
    throw input_error(name, 0, "more rows or columns than int32 can count (2147483647)",
                      std::to_string(rows) + " x " + std::to_string(cols));
  }
  require_rows(name, rows, nnz);
  const std::string shape =
      std::to_string(rows) + " x " + std::to_string(cols) + ", " + std::to_string(nnz) + " entries";
  // One line with a huge index can ask for more memory than there is; asking the system first is better than
  // being killed by it.
  const std::int64_t need = (rows + 1) * 4 + nnz * static_cast<std::int64_t>(4 + sizeof(T));
  const std::int64_t present = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  if (need > present / 2) throw input_error(name, 0, "not enough memory for a matrix of this shape", shape);
  Csr<T> out;
  out.rows = rows;
  out.cols = cols;
  try {
    out.row_ptr.assign(static_cast<std::size_t>(rows) + 1, 0);
    out.col.resize(static_cast<std::size_t>(nnz));
    out.val.resize(static_cast<std::size_t>(nnz));
  } catch (const std::bad_alloc&) {
    throw input_error(name, 0, "not enough memory for a matrix of this shape" + memory_limit_text(), shape);
  }
  return out;
}

// visit(piece, k, row) of every entry k whose row is in [first, last), in the order of the pieces.
template <class T, class Visit>
void for_rows(const std::vector<const Triplets<T>*>& pieces, std::int64_t first, std::int64_t last,
              Visit&& visit) {
  for (const auto* piece : pieces) {
    const std::size_t n = piece->size();
    const std::int32_t* const r = piece->row.data();
    for (std::size_t k = 0; k < n; ++k) {
      if (r[k] >= first && r[k] < last) visit(*piece, k, r[k]);
    }
  }
}

// Turns the counts of rows into the place of each row's first entry. Returns, per thread, its first row:
// every thread gets about the same number of entries. One more element: the number of rows.
std::vector<std::int64_t> places_of_rows(std::int32_t* after, std::int64_t rows, std::int64_t nnz,
                                         int threads) {
  std::vector<std::int64_t> bounds(static_cast<std::size_t>(threads) + 1, rows);
  bounds[0] = 0;
  int boundary = 1;
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    while (boundary < threads && begin >= nnz * boundary / threads)
      bounds[static_cast<std::size_t>(boundary++)] = i;
    const std::int32_t count = after[i];
    after[i] = static_cast<std::int32_t>(begin);
    begin += count;
  }
  return bounds;
}

}  // namespace

void require_rows(std::string_view name, std::int64_t rows, std::int64_t entries) {
  constexpr std::int64_t kAlwaysFine = std::int64_t{1} << 26, kRowsPerEntry = 64;
  const std::int64_t most = std::max(kAlwaysFine, kRowsPerEntry * entries);
  if (rows <= most) return;
  constexpr double kMiB = 1 << 20, kPointer = 4;
  throw input_error(
      name, 0,
      fmt::format("row_ptr of all rows would take {:.0f} MiB, and its limit for {} {} is {:.0f} MiB; number "
                  "the rows without gaps (`dataset info` counts the empty ones); rows",
                  kPointer * static_cast<double>(rows) / kMiB, entries, entries == 1 ? "entry" : "entries",
                  kPointer * static_cast<double>(most) / kMiB),
      std::to_string(rows));
}

template <class T>
Csr<T> csr_of(std::string_view name, std::int64_t rows, std::int64_t cols,
              const std::vector<const Triplets<T>*>& pieces) {
  std::int64_t nnz = 0;
  for (const auto* piece : pieces) nnz += static_cast<std::int64_t>(piece->size());
  Csr<T> out = with_room<T>(name, rows, cols, nnz);
  // Each thread owns a range of rows and reads the row indices of all entries. This needs no atomics and
  // keeps the order of the pieces. It pays from about 2^17 entries per thread on.
  const int threads = static_cast<int>(std::clamp<std::int64_t>(nnz >> 17, 1, omp_get_max_threads()));
  // after[r] is row_ptr[r + 1]. It holds the count of row r, then the place of the row's next entry, and at
  // the end the place after its last entry.
  std::int32_t* const after = out.row_ptr.data() + 1;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int t = 0; t < threads; ++t) {
    for_rows(pieces, rows * t / threads, rows * (t + 1) / threads,
             [&](const Triplets<T>&, std::size_t, std::int32_t r) { ++after[r]; });
  }
  const std::vector<std::int64_t> bounds = places_of_rows(after, rows, nnz, threads);
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static)
    for (int t = 0; t < threads; ++t) {
      for_rows(pieces, bounds[static_cast<std::size_t>(t)], bounds[static_cast<std::size_t>(t) + 1],
               [&](const Triplets<T>& piece, std::size_t k, std::int32_t r) {
                 const auto to = static_cast<std::size_t>(after[r]++);
                 out.col[to] = piece.col[k];
                 out.val[to] = piece.val.empty() ? T{1} : piece.val[k];
               });
    }
    std::vector<std::pair<std::int32_t, T>> scratch;
#pragma omp for schedule(static)
    for (int t = 0; t < threads; ++t) {
      for (std::int64_t i = bounds[static_cast<std::size_t>(t)]; i < bounds[static_cast<std::size_t>(t) + 1];
           ++i) {
        const std::int32_t first = out.row_ptr[static_cast<std::size_t>(i)];
        sort_row(out.col.data() + first, out.val.data() + first, after[i] - first, scratch);
      }
    }
  }
  return out;
}

template <class T>
Triplets<T> nonzeros(const Dense<T>& dense) {
  Triplets<T> all;
  for (std::int64_t i = 0; dense.cols > 0 && i < dense.rows; ++i) {
    for (std::int64_t j = 0; j < dense.cols; ++j) {
      const T value = dense.data[static_cast<std::size_t>(i * dense.cols + j)];
      if (value == T{0}) continue;
      all.row.push_back(static_cast<std::int32_t>(i));
      all.col.push_back(static_cast<std::int32_t>(j));
      all.val.push_back(value);
    }
  }
  return all;
}

template <class T>
Csr<T> without_zeros(std::string_view name, const Dense<T>& dense) {
  const Triplets<T> all = nonzeros(dense);
  return csr_of<T>(name, dense.rows, dense.cols, {&all});
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

template Csr<float> csr_of(std::string_view, std::int64_t, std::int64_t,
                           const std::vector<const Triplets<float>*>&);
template Csr<double> csr_of(std::string_view, std::int64_t, std::int64_t,
                            const std::vector<const Triplets<double>*>&);
template Triplets<float> nonzeros(const Dense<float>&);
template Triplets<double> nonzeros(const Dense<double>&);
template Csr<float> without_zeros(std::string_view, const Dense<float>&);
template Csr<double> without_zeros(std::string_view, const Dense<double>&);
template Repeat find_repeat(const Csr<float>&);
template Repeat find_repeat(const Csr<double>&);

}  // namespace plumb
