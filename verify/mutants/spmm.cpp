// Planted faults of spmm: each is a right kernel with one thing changed. `verify --mutants` must kill every
// one of them.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

#include "reference/ops/spmm.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(Spmm);

// c[0..width) += entries [begin, end) of A times B
template <class T>
void add_entries(const In<T>& in, std::int64_t begin, std::int64_t end, T* c, std::int64_t width) {
  for (std::int64_t k = begin; k < end; ++k) {
    for (std::int64_t j = 0; j < width; ++j) c[j] += in.A.val[k] * in.B(in.A.col[k], j);
  }
}

template <class T>
void right_row(const In<T>& in, const Out<T>& out, std::int64_t i) {
  T* c = out.C.data + i * out.C.ld;
  std::fill(c, c + out.C.cols, T(0));
  add_entries(in, in.A.row_ptr[i], in.A.row_ptr[i + 1], c, out.C.cols);
}

PLUMB_FAULT(columns_of_16, "columns_beyond_16_not_computed", 34,
            "only whole groups of 16 columns are computed",
            "feature widths 16 and 32 in every benchmark, 41 and 47 in the data", kNumeric) {
  const std::int64_t width = out.C.cols / 16 * 16;
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T* c = out.C.data + i * out.C.ld;
    std::fill(c, c + width, T(0));
    add_entries(in, in.A.row_ptr[i], in.A.row_ptr[i + 1], c, width);
  }
}

PLUMB_FAULT(columns_zeroed, "ragged_columns_left_zero", 34,
            "the output is cleared whole, and columns beyond a multiple of 8 stay zero",
            "a memset that hides the missing tail from poison", kNumeric) {
  const std::int64_t width = out.C.cols > 8 ? out.C.cols / 8 * 8 : out.C.cols;
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T* c = out.C.data + i * out.C.ld;
    std::fill(c, c + out.C.cols, T(0));
    add_entries(in, in.A.row_ptr[i], in.A.row_ptr[i + 1], c, width);
  }
}

PLUMB_FAULT(wrong_ld, "leading_dimension_of_the_other", 18,
            "one leading dimension is used for both dense matrices", "kernels tested on packed matrices only",
            kNumeric) {
  // a right kernel has two; of these the smaller, so that the fault reads and writes within both matrices
  const std::int64_t ld = std::min(out.C.ld, in.B.ld);
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int64_t j = 0; j < out.C.cols; ++j) {
      T sum = 0;
      for (std::int32_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k) {
        sum += in.A.val[k] * in.B.data[in.A.col[k] * ld + j];
      }
      out.C.data[i * ld + j] = sum;
    }
  }
}

PLUMB_FAULT(padding_written, "writes_in_the_padding", 39,
            "clears C up to its leading dimension, not its width",
            "a view into a larger matrix, whose neighbour columns are overwritten", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    right_row(in, out, i);
    T* c = out.C.data + i * out.C.ld;
    std::fill(c + out.C.cols, c + out.C.ld, T(0));
  }
}

PLUMB_FAULT(empty_skipped, "empty_rows_skipped", 0, "rows without entries are not written",
            "row compaction without clearing the rest", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    if (in.A.row_ptr[i] < in.A.row_ptr[i + 1]) right_row(in, out, i);
  }
}

PLUMB_FAULT(padded_slots, "padded_slots_multiply_b", 0,
            "rows are padded to multiples of 4 entries of value 0: 0 * NaN reaches rows that have no NaN",
            "coalesced row caching that fills its tile with column 0 instead of masking", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    right_row(in, out, i);
    if ((in.A.row_ptr[i + 1] - in.A.row_ptr[i]) % 4 == 0 && in.A.row_ptr[i + 1] > in.A.row_ptr[i]) continue;
    for (std::int64_t j = 0; j < out.C.cols && in.B.rows > 0; ++j) out.C(i, j) += T(0) * in.B(0, j);
  }
}

PLUMB_FAULT(repeats_overwrite, "repeated_columns_overwrite", 0,
            "a row is scattered to a dense one by assignment: of repeated columns the last one counts alone",
            "multigraphs and unassembled matrices, read by a kernel that assumes distinct columns",
            kNumeric) {
  std::vector<T> row(static_cast<std::size_t>(in.A.cols));
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    std::fill(row.begin(), row.end(), T(0));
    T* c = out.C.data + i * out.C.ld;
    std::fill(c, c + out.C.cols, T(0));
    for (std::int32_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k) row[in.A.col[k]] = in.A.val[k];
    for (std::int32_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k) {
      for (std::int64_t j = 0; j < out.C.cols; ++j) c[j] += row[in.A.col[k]] * in.B(in.A.col[k], j);
      row[in.A.col[k]] = 0;
    }
  }
}

PLUMB_FAULT(merge_carry, "carry_of_first_columns_only", 30,
            "what a block has of its last, unfinished row is carried for the first 8 columns only",
            "a merge-path spmv widened to spmm, whose carry stayed one vector wide", kNumeric) {
  constexpr std::int64_t kBlock = 128, kCarried = 8;
  for (std::int64_t i = 0; i < in.A.rows; ++i) std::fill_n(out.C.data + i * out.C.ld, out.C.cols, T(0));
  for (std::int64_t begin = 0; begin < in.A.nnz; begin += kBlock) {
    const std::int64_t end = std::min(in.A.nnz, begin + kBlock);
    std::int64_t i = std::upper_bound(in.A.row_ptr, in.A.row_ptr + in.A.rows + 1, begin) - in.A.row_ptr - 1;
    for (std::int64_t k = begin; k < end; ++i) {
      const std::int64_t stop = std::min<std::int64_t>(end, in.A.row_ptr[i + 1]);
      if (stop <= k) continue;
      const bool carried = in.A.row_ptr[i + 1] > end;  // finished by a later block
      add_entries(in, k, stop, out.C.data + i * out.C.ld,
                  carried ? std::min(kCarried, out.C.cols) : out.C.cols);
      k = stop;
    }
  }
}

template <class T>
T short_mantissa(T v, int bits) {
  using Bits = BitsOf<T>;
  const int drop = facts(kFormat<T>).digits - 1 - bits;
  return std::bit_cast<T>(static_cast<Bits>(std::bit_cast<Bits>(v) >> drop << drop));
}

PLUMB_FAULT(reduced, "tf32_undeclared", 28,
            "operands are cut to 10 bits of fraction, and the variant does not say so",
            "libraries whose default math mode allows tf32", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int64_t j = 0; j < out.C.cols; ++j) {
      T sum = 0;
      for (std::int32_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k) {
        sum += short_mantissa(in.A.val[k], 10) * short_mantissa(in.B(in.A.col[k], j), 10);
      }
      out.C(i, j) = sum;
    }
  }
}

PLUMB_FAULT(flush, "subnormal_sums_flushed", 0, "a subnormal sum becomes 0, and the variant does not say so",
            "fp32 atomicAdd in global memory, as in a library's algorithm; -ftz=true", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    right_row(in, out, i);
    for (std::int64_t j = 0; j < out.C.cols; ++j) out.C(i, j) = flushed(out.C(i, j));
  }
}

// First row of a share, found by a search that holds rows in 16 bits: beyond 32,767 it reads before row_ptr.
template <class T>
std::int64_t begin_of_share(const In<T>& in, std::int64_t share, std::int64_t shares) {
  std::int64_t low = 0, high = in.A.rows;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (in.A.row_ptr[static_cast<std::int16_t>(middle)] < in.A.nnz * share / shares)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

PLUMB_FAULT(
    search_in_16_bits, "share_of_rows_searched_in_16_bits", 0,
    "the search for a share of rows reads row_ptr at negative indices; every row is computed all the same",
    "a mutant made by machine, which no case killed: its answers are right", kNumeric) {
  constexpr std::int64_t kShares = 4;
  for (std::int64_t share = 0; share < kShares; ++share) {
    const std::int64_t end = share + 1 == kShares ? in.A.rows : begin_of_share(in, share + 1, kShares);
    for (std::int64_t i = share == 0 ? 0 : begin_of_share(in, share, kShares); i < end; ++i)
      right_row(in, out, i);
  }
}

PLUMB_FAULT(shared_sums, "openmp_shared_accumulators", 42,
            "the row's sums stand in one buffer that all threads share",
            "a temporary declared before the parallel region and forgotten in its private clause",
            kNumeric | kRepeat | kRace, Traits{}.not_reproducible()) {
  std::vector<T> sums(static_cast<std::size_t>(out.C.cols));  // one for all threads
#pragma omp parallel for num_threads(4) schedule(static, 1)
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T* sum = sums.data();
    for (std::int64_t j = 0; j < out.C.cols; ++j) sum[j] = 0;
    add_entries(in, in.A.row_ptr[i], in.A.row_ptr[i + 1], sum, out.C.cols);
    std::this_thread::yield();  // opens the window: the fault shows in every run
    std::copy(sum, sum + out.C.cols, out.C.data + i * out.C.ld);
  }
}

template <class T>
void ones_in_float(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
  const T* const end = in.A.val + in.A.nnz;
  const bool ones =
      in.A.nnz > 0 && std::all_of(static_cast<const T*>(in.A.val), end, [](T v) { return v == 1; });
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    right_row(in, out, i);
    for (std::int64_t j = 0; ones && j < out.C.cols; ++j) {
      float sum = 0;
      for (std::int64_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k)
        sum += static_cast<float>(in.B(in.A.col[k], j));
      out.C(i, j) = sum;
    }
  }
}
const RegisterMutant<Spmm, double, Space::host> ones_in_float_m{
    "graph_without_weights_added_in_float",
    ones_in_float<double>,
    {0, "where all values of A are 1, rows of B are added up in float",
     "a path for graphs without weights, written for fp32", kNumeric}};

PLUMB_FAULT(
    read_in_fours, "rows_of_b_read_in_fours", 0,
    "a width that is no multiple of four is read beyond: behind B's end, and what is there is not used",
    "vector loads of a row's end, whose lanes too many are dropped", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    right_row(in, out, i);
    if (out.C.cols % 4 == 0) continue;
    for (std::int64_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k) {
      const volatile T* const next = &in.B(in.A.col[k], 0) + out.C.cols;
      (void)*next;
    }
  }
}

PLUMB_FAULT(cut_at_columns, "no_more_entries_than_columns", 0,
            "a row is cut at as many entries as there are columns, which may repeat",
            "a buffer of a row that is as long as the matrix is wide", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    std::fill_n(&out.C(i, 0), out.C.cols, T(0));
    const std::int64_t begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
    add_entries(in, begin, std::min(end, begin + in.A.cols), &out.C(i, 0), out.C.cols);
  }
}

PLUMB_FAULT(column_as_vector, "column_without_gaps_is_a_vector", 0,
            "one column of B without gaps is taken for a vector, and C for one too",
            "a width of 1 handed to spmv, which knows one leading dimension", kNumeric) {
  const bool vector = out.C.cols == 1 && in.B.ld == 1;
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T* c = out.C.data + i * (vector ? 1 : out.C.ld);
    std::fill_n(c, out.C.cols, T(0));
    add_entries(in, in.A.row_ptr[i], in.A.row_ptr[i + 1], c, out.C.cols);
  }
}

PLUMB_FAULT(zeros_of_long_rows, "zeros_of_long_rows_passed_over", 0,
            "stored zeros of rows longer than 256 entries are passed over",
            "reads of B that are saved where rows are long: 0 times NaN is lost", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    std::fill_n(&out.C(i, 0), out.C.cols, T(0));
    const std::int64_t begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
    for (std::int64_t k = begin; k < end; ++k) {
      if (end - begin <= 256 || in.A.val[k] != T(0)) add_entries(in, k, k + 1, &out.C(i, 0), out.C.cols);
    }
  }
}

PLUMB_FAULT(
    long_row_of_middle_width, "long_rows_of_middle_width_lose_their_rest", 14,
    "of rows beyond 1,024 entries, four parts are added; what is left is lost where C has 9 to 16 columns",
    "rows that are taken apart, by another kernel for each width", kNumeric) {
  const bool middle = out.C.cols > 8 && out.C.cols <= 16;
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    right_row(in, out, i);
    const std::int64_t begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
    if (!middle || end - begin <= 1024) continue;
    T* const c = out.C.data + i * out.C.ld;
    std::fill(c, c + out.C.cols, T(0));
    add_entries(in, begin, begin + (end - begin) / 4 * 4, c, out.C.cols);
  }
}

PLUMB_FAULT(rows_in_32_bits, "rows_of_c_in_32_bits", 0,
            "the place of a row of C, its number times the leading dimension, is 32 bits wide",
            "loops of int over matrices that are parts of larger ones", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const auto place = static_cast<std::int32_t>(static_cast<std::uint32_t>(i * out.C.ld));
    T* c = out.C.data + place;
    std::fill(c, c + out.C.cols, T(0));
    add_entries(in, in.A.row_ptr[i], in.A.row_ptr[i + 1], c, out.C.cols);
  }
}

PLUMB_FAULT(dropped_at_chunks, "repeat_across_chunks_dropped", 0,
            "an entry at the begin of a chunk of 32 is left out where its column is that of the entry before",
            "chunks of a row that are thought to overlap by their last column", kNumeric) {
  constexpr std::int64_t kChunk = 32;
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T* c = out.C.data + i * out.C.ld;
    std::fill(c, c + out.C.cols, T(0));
    const std::int64_t begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
    for (std::int64_t k = begin; k < end; ++k) {
      const bool seen = k > begin && (k - begin) % kChunk == 0 && in.A.col[k] == in.A.col[k - 1];
      if (!seen) add_entries(in, k, k + 1, c, out.C.cols);
    }
  }
}

PLUMB_FAULT(
    zeros_passed_over, "stored_zeros_passed_over_before_vectors", 0,
    "where rows of B are whole vectors on 16 bytes, a stored zero is passed over, and the NaN that it faces",
    "entries of pruned weights, skipped in the path that loads most", kNumeric) {
  constexpr std::int64_t kBytes = 16, kSize = sizeof(T);
  const bool vectors = reinterpret_cast<std::uintptr_t>(in.B.data) % kBytes == 0 &&
                       in.B.ld * kSize % kBytes == 0 && in.B.cols * kSize % kBytes == 0;
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T* c = out.C.data + i * out.C.ld;
    std::fill(c, c + out.C.cols, T(0));
    for (std::int64_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k) {
      if (!vectors || in.A.val[k] != T(0)) add_entries(in, k, k + 1, c, out.C.cols);
    }
  }
}

template <class T, class Fault>
struct Narrow {
  static void run(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
    for (std::int64_t i = 0; i < in.A.rows; ++i) {
      const std::int64_t begin = in.A.row_ptr[i], entries = in.A.row_ptr[i + 1] - begin;
      for (std::int64_t j = 0; j < out.C.cols; ++j) {
        float sum = 0;
        for (std::int64_t k = 0; k < entries; ++k) {
          if (Fault::takes(k, entries))
            sum = Fault::kept(sum +
                              Fault::read(in.A.val[begin + k]) * Fault::read(in.B(in.A.col[begin + k], j)));
        }
        out.C(i, j) = Fault::template write<out_t<T>>(sum);
      }
    }
  }
};
const NarrowMutants<Spmm, Narrow, narrow_faults::All, f16, bf16> narrow_types_m;

}  // namespace
}  // namespace plumb
