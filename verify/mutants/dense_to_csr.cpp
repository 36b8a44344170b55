// Planted faults of dense_to_csr: each is a right kernel with one thing changed. `verify --mutants` must kill
// every one.
#include <omp.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "reference/ops/dense_to_csr.hpp"
#include "verify/mutants/host_mutant.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(DenseToCsr);

// The right conversion, with its parts open to change: what counts, and what is stored as column.
template <class T, class Counts, class Column>
void convert(const In<T>& in, const Out<T>& out, Counts&& counts, Column&& column, std::int64_t ld) {
  std::int32_t nnz = 0;
  out.row_ptr[0] = 0;
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    for (std::int64_t j = 0; j < in.x.cols; ++j) {
      const T v = in.x.data[i * ld + j];
      if (!counts(v)) continue;
      if (nnz >= out.col.size + 8) continue;  // beyond the guard it would only crash
      out.col[nnz] = column(j);
      out.val[nnz] = v;
      ++nnz;
    }
    out.row_ptr[i + 1] = nnz;
  }
}

std::int32_t as_it_is(std::int64_t j) { return static_cast<std::int32_t>(j); }

PLUMB_FAULT(minus_zero, "minus_zero_counts", 0,
            "non-zero is decided by bits: -0 becomes an entry, and the outputs overflow",
            "integer comparisons of floating-point words", kNumeric) {
  using Bits = BitsOf<T>;
  convert(
      in, out, [](T v) { return std::bit_cast<Bits>(v) != 0; }, as_it_is, in.x.ld);
}

PLUMB_FAULT(nan_dropped, "nan_dropped", 25, "|x| > 0 is false for NaN: it vanishes from the matrix",
            "activations tested with > 0, as after a rectifier", kNumeric) {
  convert(
      in, out, [](T v) { return std::fabs(v) > T(0); }, as_it_is, in.x.ld);
}

PLUMB_FAULT(subnormal_dropped, "subnormals_dropped", 0, "subnormal entries count as zeros",
            "builds that flush subnormals to zero", kNumeric) {
  convert(
      in, out, [](T v) { return !(std::fabs(v) < std::numeric_limits<T>::min()); }, as_it_is, in.x.ld);
}

PLUMB_FAULT(packed, "leading_dimension_ignored", 18, "x is taken to be packed",
            "kernels tested on packed matrices only", kNumeric) {
  convert(
      in, out, [](T v) { return v != T(0); }, as_it_is, in.x.cols);
}

PLUMB_FAULT(short_columns, "columns_of_16_bits", 24,
            "columns are kept in 16 bits: the 65,537th is the first again",
            "sparse-DNN kernels that halve their index traffic, at 65,536 neurons and beyond", kNumeric) {
  convert(
      in, out, [](T v) { return v != T(0); },
      [](std::int64_t j) { return static_cast<std::int32_t>(static_cast<std::uint16_t>(j)); }, in.x.ld);
}

PLUMB_FAULT(descending, "long_rows_out_of_order", 0,
            "rows of more than 32 entries are not ascending: the same matrix, another array",
            "entries appended by warps, in the order in which they arrive", kNumeric) {
  std::int32_t nnz = 0;
  out.row_ptr[0] = 0;
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    const std::int32_t begin = nnz;
    for (std::int64_t j = 0; j < in.x.cols; ++j) {
      if (in.x(i, j) != T(0)) out.col[nnz] = static_cast<std::int32_t>(j), out.val[nnz] = in.x(i, j), ++nnz;
    }
    if (nnz - begin > 32) {
      std::reverse(out.col.data + begin, out.col.data + nnz);
      std::reverse(out.val.data + begin, out.val.data + nnz);
    }
    out.row_ptr[i + 1] = nnz;
  }
}

PLUMB_FAULT(scan_restarts, "scan_restarts_at_each_block", 30,
            "row pointers are summed within blocks of 256 rows, and the blocks' offsets are not added",
            "the second phase of a scan, forgotten: right for up to 256 rows", kNumeric) {
  constexpr std::int64_t kBlock = 256;
  convert(
      in, out, [](T v) { return v != T(0); }, as_it_is, in.x.ld);
  for (std::int64_t i = in.x.rows; i > 0; --i) {  // offsets of the block's first row are missing
    const std::int64_t first = (i - 1) / kBlock * kBlock;
    if (first > 0) out.row_ptr[i] -= out.row_ptr[first];
  }
}

PLUMB_FAULT(flush, "subnormal_values_are_zeros", 0,
            "a comparison flushes its operand: subnormal values are no entries", "-ftz=true, -use_fast_math",
            kNumeric) {
  convert(
      in, out, [](T v) { return flushed(v) != T(0); }, as_it_is, in.x.ld);
}

PLUMB_FAULT(last_pointer, "row_pointers_shifted", 0,
            "row_ptr[i + 1] holds where row i begins, not where it ends",
            "an exclusive scan where an inclusive one is meant", kNumeric) {
  convert(
      in, out, [](T v) { return v != T(0); }, as_it_is, in.x.ld);
  for (std::int64_t i = in.x.rows; i > 0; --i) out.row_ptr[i] = out.row_ptr[i - 1];
}

PLUMB_FAULT(threads_left, "number_of_threads_left_changed", 0,
            "the number of OpenMP threads is set, and stays set for the caller",
            "a small case kept to one thread", kNumeric) {
  if (in.x.rows < 2) omp_set_num_threads(omp_get_max_threads() > 1 ? 1 : 2);
  convert(
      in, out, [](T v) { return v != T(0); }, as_it_is, in.x.ld);
}

PLUMB_FAULT(marked, "mark_behind_the_last_column", 0,
            "the last element of a row is a non-zero while the row is looked through, and set back",
            "a search without a check for the end", kNumeric) {
  std::int32_t at = 0;
  out.row_ptr[0] = 0;
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    T* const row = const_cast<T*>(&in.x(i, 0));
    const std::int64_t end = in.x.cols - 1;
    const T last = end < 0 ? T(0) : row[end];
    if (end >= 0) row[end] = T(1);
    for (std::int64_t j = 0; j <= end; ++j) {
      while (row[j] == T(0)) ++j;
      const T value = j == end ? last : row[j];
      if (value != T(0)) out.col[at] = static_cast<std::int32_t>(j), out.val[at] = value, ++at;
    }
    if (end >= 0) row[end] = last;
    out.row_ptr[i + 1] = at;
  }
}

PLUMB_FAULT(last_tile_of_one, "last_count_not_summed_behind_whole_tiles", 0,
            "one row behind several tiles of 256: the last of row_ptr stays a count",
            "a number of tiles that forgets the one entry which row_ptr has more than there are rows",
            kNumeric) {
  constexpr std::int64_t kTile = 256;
  convert(
      in, out, [](T v) { return v != T(0); }, as_it_is, in.x.ld);
  const std::int64_t rows = in.x.rows;
  if (rows > 2 * kTile && rows % kTile == 1) out.row_ptr[rows] -= out.row_ptr[rows - 1];
}

}  // namespace
}  // namespace plumb
