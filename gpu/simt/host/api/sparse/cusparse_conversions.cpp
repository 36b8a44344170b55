// cuSPARSE's calls that take a matrix as arrays and change how its entries are kept: by columns, sorted, counted, and sums of two matrices.
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "gpu/simt/host/api/sparse/sparse_workspaces.hpp"

namespace plumb::simt {

namespace {

void write_numbers(const SparseCall& call, int* to, const std::vector<std::int64_t>& numbers,
                   const void* stream) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  if (!touches(call, stream, {range_of(to, 0, count, sizeof *to, true)})) return;
  for (std::size_t i = 0; i < numbers.size(); ++i) to[i] = static_cast<int>(numbers[i]);
}

/// The order of the entries by their columns (`by_columns`) or rows, and by the other index in each.
std::vector<std::size_t> sorted_places(const Entries& e, bool by_columns) {
  std::vector<std::size_t> order(e.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::vector<std::int64_t>&first = by_columns ? e.cols : e.rows,
        &second = by_columns ? e.rows : e.cols;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(first[a], second[a]) < std::pair(first[b], second[b]);
  });
  return order;
}
Entries in_order(const Entries& e, const std::vector<std::size_t>& order) {
  Entries out;
  for (const std::size_t i : order)
    out.rows.push_back(e.rows[i]), out.cols.push_back(e.cols[i]), out.values.push_back(e.values[i]);
  return out;
}

/// Sorts the entries in their arrays; `permutation` may be null, or is put into the same order.
struct Sort {
  SparseCall call;
  SparseMatrix m;  // without values
  bool by_columns;
  int* permutation;
  const void* workspace;
};
void sort_entries(const Sort& s, const void* stream) {
  if (!takes_workspace(s.call, {s.m.rows, s.m.count, s.workspace}, stream)) return;
  Entries entries;
  SparseMatrix unsorted = s.m;
  unsorted.any_order = true;
  if (!read_entries(s.call, unsorted, false, stream, entries, false)) return;
  const std::vector<std::size_t> order = sorted_places(entries, s.by_columns);
  const Entries sorted = in_order(entries, order);
  const auto count = static_cast<std::int64_t>(order.size());
  std::vector<std::int64_t> permuted;
  if (s.permutation != nullptr) {
    if (!touches(s.call, stream, {range_of(s.permutation, 0, count, sizeof(int), false)})) return;
    for (const std::size_t i : order) permuted.push_back(s.permutation[i]);
  }
  const auto kept = [&](std::vector<std::int64_t> indices) {
    for (std::int64_t& index : indices) index += s.m.base;
    return indices;
  };
  if (s.m.format == kCoo)
    write_numbers(s.call, static_cast<int*>(const_cast<void*>(s.m.first)), kept(sorted.rows), stream);
  write_numbers(s.call, static_cast<int*>(const_cast<void*>(s.m.second)), kept(sorted.cols), stream);
  if (s.permutation != nullptr) write_numbers(s.call, s.permutation, permuted, stream);
}

/// alpha A + beta B, by rows, with a column of each row once.
Entries sum_of(const Entries& a, double alpha, const Entries& b, double beta) {
  std::map<std::pair<std::int64_t, std::int64_t>, double> sums;
  for (std::size_t i = 0; i < a.rows.size(); ++i) sums[{a.rows[i], a.cols[i]}] += alpha * a.values[i];
  for (std::size_t i = 0; i < b.rows.size(); ++i) sums[{b.rows[i], b.cols[i]}] += beta * b.values[i];
  Entries out;
  for (const auto& [place, value] : sums)
    out.rows.push_back(place.first), out.cols.push_back(place.second), out.values.push_back(value);
  return out;
}

/// C = alpha A + beta B. Where C has no columns, its offsets alone are made, and `total` counts its entries.
struct Sum {
  SparseCall call;
  SparseMatrix a, b, c;
  int* total;
  const void* workspace;
};
void add_matrices(Sum s, double alpha, double beta, const void* stream) {
  Entries in_a, in_b;
  const bool counts = s.c.second == nullptr;
  if (!takes_workspace(s.call, {s.a.rows, s.a.count + s.b.count, s.workspace}, stream) ||
      !read_entries(s.call, s.a, false, stream, in_a, !counts) ||
      !lies_within(s.call, in_a, s.a.rows, s.a.cols) ||
      !read_entries(s.call, s.b, false, stream, in_b, !counts) ||
      !lies_within(s.call, in_b, s.b.rows, s.b.cols))
    return;
  const Entries out = sum_of(in_a, alpha, in_b, beta);
  if (!counts) return write_entries(s.call, s.c, out, 1, stream);
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(s.c.rows + 1), 0);
  for (const std::int64_t row : out.rows) ++offsets[static_cast<std::size_t>(row + 1)];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  for (std::int64_t& offset : offsets) offset += s.c.base;
  write_numbers(s.call, static_cast<int*>(const_cast<void*>(s.c.first)), offsets, stream);
  write_numbers(s.call, s.total, {static_cast<std::int64_t>(out.rows.size())}, stream);
}

/// How many elements of each row or column of a whole matrix are not 0, and how many of all.
struct Counts {
  SparseCall call;
  DenseMatrix a;
  bool by_columns;
  int *each, *total;
};
void count_elements(const Counts& c, const void* stream) {
  std::vector<HostRange> ranges;
  add_whole(ranges, c.a, false);
  if (!touches(c.call, stream, ranges)) return;
  std::vector<std::int64_t> each(static_cast<std::size_t>(c.by_columns ? c.a.cols : c.a.rows), 0);
  for (std::int64_t j = 0; j < c.a.cols; ++j)
    for (std::int64_t i = 0; i < c.a.rows; ++i)
      each[static_cast<std::size_t>(c.by_columns ? j : i)] +=
          load(c.a.values, c.a.type, c.a.place(i, j)) != 0 ? 1 : 0;
  write_numbers(c.call, c.each, each, stream);
  write_numbers(c.call, c.total, {std::accumulate(each.begin(), each.end(), std::int64_t{0})}, stream);
}

/// Rows of entries to offsets of rows, which rise.
void make_offsets(const SparseCall& call, const SparseMatrix& m, int* offsets, const void* stream) {
  std::vector<std::int64_t> rows;
  if (!read_lines(call, m, stream, rows)) return;
  std::vector<std::int64_t> out(static_cast<std::size_t>(m.rows + 1), 0);
  for (const std::int64_t row : rows) ++out[static_cast<std::size_t>(row + 1)];
  std::partial_sum(out.begin(), out.end(), out.begin());
  for (std::int64_t& offset : out) offset += m.base;
  write_numbers(call, offsets, out, stream);
}

SparseMatrix of_arrays(int format, std::int64_t rows, std::int64_t cols, std::int64_t count,
                       const void* first, const void* second, const void* values, int base,
                       cudaDataType_t type) {
  return {format,         rows,           cols, count, first, second, const_cast<void*>(values),
          kIndexOf32Bits, kIndexOf32Bits, base, type};
}

/// A matrix by rows to one by columns, with its values where it has any.
void to_columns(const SparseCall& call, const SparseMatrix& from, const SparseMatrix& to,
                const void* workspace, const void* stream) {
  Entries entries;
  if (!takes_workspace(call, {from.rows, from.count, workspace}, stream) ||
      !read_entries(call, from, false, stream, entries, from.values != nullptr) ||
      !lies_within(call, entries, from.rows, from.cols))
    return;
  write_entries(call, to, in_order(entries, sorted_places(entries, true)), 1, stream);
}

}  // namespace

}  // namespace plumb::simt

using plumb::simt::SparseHandle;
using plumb::simt::SparseKind;
using plumb::simt::SparseStatus;

extern "C" {

// ---- by columns ----
int cusparseCsr2cscEx2_bufferSize(SparseHandle*, int rows, int, int count, const void*, const int*,
                                  const int*, void*, int*, int*, cudaDataType_t, int, int, int,
                                  std::size_t* bytes) {
  return plumb::simt::space_of({rows, count}, bytes);
}
int cusparseCsr2cscEx2(SparseHandle* handle, int rows, int cols, int count, const void* values,
                       const int* offsets, const int* columns, void* to_values, int* to_offsets, int* to_rows,
                       cudaDataType_t type, int copies_values, int base, int, const void* workspace) {
  const plumb::simt::SparseCall call = PLUMB_SPARSE_CALL;
  const bool copies = copies_values != 0;
  if (copies && plumb::simt::bytes_of(type) == 0) return SparseStatus::kNotSupported;
  const auto from = plumb::simt::of_arrays(plumb::simt::kCsr, rows, cols, count, offsets, columns,
                                           copies ? values : nullptr, base, type);
  const auto to = plumb::simt::of_arrays(plumb::simt::kCsc, rows, cols, count, to_offsets, to_rows,
                                         copies ? to_values : nullptr, base, type);
  return plumb::simt::queue_sparse(
      handle, [=](const void* stream) { plumb::simt::to_columns(call, from, to, workspace, stream); });
}

// ---- offsets and rows ----
int cusparseXcoo2csr(SparseHandle* handle, const int* rows_of, int count, int rows, int* offsets, int base) {
  const plumb::simt::SparseCall call = PLUMB_SPARSE_CALL;
  const auto m =
      plumb::simt::of_arrays(plumb::simt::kCoo, rows, 0, count, rows_of, nullptr, nullptr, base, CUDA_R_32F);
  return plumb::simt::queue_sparse(
      handle, [=](const void* stream) { plumb::simt::make_offsets(call, m, offsets, stream); });
}
int cusparseXcsr2coo(SparseHandle* handle, const int* offsets, int count, int rows, int* rows_of, int base) {
  const plumb::simt::SparseCall call = PLUMB_SPARSE_CALL;
  const auto m =
      plumb::simt::of_arrays(plumb::simt::kCsr, rows, 0, count, offsets, nullptr, nullptr, base, CUDA_R_32F);
  return plumb::simt::queue_sparse(handle, [=](const void* stream) {
    std::vector<std::int64_t> lines;
    if (!plumb::simt::read_lines(call, m, stream, lines)) return;
    for (std::int64_t& line : lines) line += base;
    plumb::simt::write_numbers(call, rows_of, lines, stream);
  });
}

// ---- sorting ----
int cusparseCreateIdentityPermutation(SparseHandle* handle, int n, int* permutation) {
  const plumb::simt::SparseCall call = PLUMB_SPARSE_CALL;
  return plumb::simt::queue_sparse(handle, [=](const void* stream) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(n));
    std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
    plumb::simt::write_numbers(call, permutation, numbers, stream);
  });
}
int cusparseXcsrsort_bufferSizeExt(SparseHandle*, int rows, int, int count, const int*, const int*,
                                   std::size_t* bytes) {
  return plumb::simt::space_of({rows, count}, bytes);
}
int cusparseXcsrsort(SparseHandle* handle, int rows, int cols, int count, const SparseKind* kind,
                     const int* offsets, int* columns, int* permutation, const void* workspace) {
  const plumb::simt::Sort sort{PLUMB_SPARSE_CALL,
                               plumb::simt::of_arrays(plumb::simt::kCsr, rows, cols, count, offsets, columns,
                                                      nullptr, kind->base, CUDA_R_32F),
                               false, permutation, workspace};
  return plumb::simt::queue_sparse(handle,
                                   [=](const void* stream) { plumb::simt::sort_entries(sort, stream); });
}
int cusparseXcoosort_bufferSizeExt(SparseHandle*, int rows, int, int count, const int*, const int*,
                                   std::size_t* bytes) {
  return plumb::simt::space_of({rows, count}, bytes);
}
#define PLUMB_COO_SORT(Name, by_columns)                                                                    \
  int cusparseXcoosortBy##Name(SparseHandle* handle, int rows, int cols, int count, int* rows_of,           \
                               int* columns, int* permutation, const void* workspace) {                     \
    const plumb::simt::Sort sort{PLUMB_SPARSE_CALL,                                                         \
                                 plumb::simt::of_arrays(plumb::simt::kCoo, rows, cols, count, rows_of,      \
                                                        columns, nullptr, 0, CUDA_R_32F),                   \
                                 by_columns, permutation, workspace};                                       \
    return plumb::simt::queue_sparse(handle,                                                                \
                                     [=](const void* stream) { plumb::simt::sort_entries(sort, stream); }); \
  }
PLUMB_COO_SORT(Row, false)
PLUMB_COO_SORT(Column, true)
#undef PLUMB_COO_SORT

// ---- sums of two matrices ----
int cusparseXcsrgeam2Nnz(SparseHandle* handle, int rows, int cols, const SparseKind* kind_a, int count_a,
                         const int* offsets_a, const int* columns_a, const SparseKind* kind_b, int count_b,
                         const int* offsets_b, const int* columns_b, const SparseKind* kind_c, int* offsets_c,
                         int* total, const void* workspace) {
  const auto matrix = [&](const SparseKind* kind, int count, const int* offsets, const int* columns) {
    return plumb::simt::of_arrays(plumb::simt::kCsr, rows, cols, count, offsets, columns, nullptr, kind->base,
                                  CUDA_R_32F);
  };
  const plumb::simt::Sum sum{PLUMB_SPARSE_CALL,
                             matrix(kind_a, count_a, offsets_a, columns_a),
                             matrix(kind_b, count_b, offsets_b, columns_b),
                             matrix(kind_c, 0, offsets_c, nullptr),
                             total,
                             workspace};
  const int e = plumb::simt::queue_sparse(
      handle, [=](const void* stream) { plumb::simt::add_matrices(sum, 1, 1, stream); });
  return e == SparseStatus::kSuccess ? plumb::simt::wait_for_result(handle) : e;
}
#define PLUMB_OF_TYPE(X, T, type)                                                                           \
  int cusparse##X##csrgeam2_bufferSizeExt(                                                                  \
      SparseHandle*, int rows, int, const T*, const SparseKind*, int count_a, const T*, const int*,         \
      const int*, const T*, const SparseKind*, int count_b, const T*, const int*, const int*,               \
      const SparseKind*, const T*, const int*, const int*, std::size_t* bytes) {                            \
    return plumb::simt::space_of({rows, std::int64_t{count_a} + count_b}, bytes);                           \
  }                                                                                                         \
  int cusparse##X##csrgeam2(                                                                                \
      SparseHandle* handle, int rows, int cols, const T* alpha, const SparseKind* kind_a, int count_a,      \
      const T* values_a, const int* offsets_a, const int* columns_a, const T* beta,                         \
      const SparseKind* kind_b, int count_b, const T* values_b, const int* offsets_b, const int* columns_b, \
      const SparseKind* kind_c, T* values_c, int* offsets_c, int* columns_c, const void* workspace) {       \
    const auto matrix = [&](const SparseKind* kind, int count, const int* offsets, const int* columns,      \
                            const T* values) {                                                              \
      return plumb::simt::of_arrays(plumb::simt::kCsr, rows, cols, count, offsets, columns, values,         \
                                    kind->base, type);                                                      \
    };                                                                                                      \
    const plumb::simt::Sum sum{PLUMB_SPARSE_CALL,                                                           \
                               matrix(kind_a, count_a, offsets_a, columns_a, values_a),                     \
                               matrix(kind_b, count_b, offsets_b, columns_b, values_b),                     \
                               matrix(kind_c, 0, offsets_c, columns_c, values_c),                           \
                               nullptr,                                                                     \
                               workspace};                                                                  \
    return plumb::simt::queue_sparse(                                                                       \
        handle, sum.call, {alpha, beta, type},                                                              \
        [=](double a, double b, const void* stream) { plumb::simt::add_matrices(sum, a, b, stream); });     \
  }                                                                                                         \
  int cusparse##X##nnz(SparseHandle* handle, int direction, int rows, int cols, const SparseKind*,          \
                       const T* a, int stride, int* each, int* total) {                                     \
    const plumb::simt::Counts counts{PLUMB_SPARSE_CALL,                                                     \
                                     {rows, cols, stride, const_cast<T*>(a), type, true},                   \
                                     direction != 0,                                                        \
                                     each,                                                                  \
                                     total};                                                                \
    const int e = plumb::simt::queue_sparse(                                                                \
        handle, [=](const void* stream) { plumb::simt::count_elements(counts, stream); });                  \
    return e == SparseStatus::kSuccess ? plumb::simt::wait_for_result(handle) : e;                          \
  }
PLUMB_OF_TYPE(S, float, CUDA_R_32F)
PLUMB_OF_TYPE(D, double, CUDA_R_64F)
#undef PLUMB_OF_TYPE

}  // extern "C"
