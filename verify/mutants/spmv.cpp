// Planted faults of spmv: each is a right kernel with one thing changed. `verify --mutants` must kill every
// one of them. Splits are by a fixed number of entries, not by threads, so that a fault does not hide on a
// machine of one core.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "reference/ops/spmv.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(Spmv);

template <class T>
T row_sum(const In<T>& in, std::int64_t begin, std::int64_t end) {
  T sum = 0;
  for (std::int64_t k = begin; k < end; ++k) sum += in.A.val[k] * in.x[in.A.col[k]];
  return sum;
}

template <class T>
T scaled(const P<T>& p, T sum) {
  return p.alpha == T(0) ? T(0) : p.alpha * sum;
}

template <class T>
void store(const P<T>& p, const Out<T>& out, std::int64_t i, T sum) {
  const T product = scaled(p, sum);
  out.y[i] = p.beta == T(0) ? product : product + p.beta * out.y[i];
}

template <class T>
void right(const P<T>& p, const In<T>& in, const Out<T>& out) {
  for (std::int64_t i = 0; i < in.A.rows; ++i)
    store(p, out, i, row_sum(in, in.A.row_ptr[i], in.A.row_ptr[i + 1]));
}

PLUMB_FAULT(end_behind, "last_row_ends_behind_row_ptr", 0,
            "the end of the last row is the element behind row_ptr, clamped to [begin, nnz]",
            "off by one in a segmented loop: right as long as a large number lies there", kNumeric) {
  const auto A = in.A;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    const std::int64_t begin = A.row_ptr[i], end = i + 1 < A.rows ? A.row_ptr[i + 1] : A.row_ptr[A.rows + 1];
    store(p, out, i, row_sum(in, begin, std::clamp(end, begin, A.nnz)));
  }
}

// Entries of one column are added before they meet x: exact, and within the bound of every other fill. But an explicit zero of a
// column where x is infinite is NaN, and is lost beside another entry of that column.
PLUMB_FAULT(merging, "repeated_entries_added_before_x", 0,
            "entries of one column are added first and multiplied by x once",
            "a format that keeps one value per column: 0 * Inf is lost beside another entry of that column",
            kNumeric) {
  const auto A = in.A;
  std::vector<T> value(static_cast<std::size_t>(A.cols));
  std::vector<std::int64_t> row_of(static_cast<std::size_t>(A.cols), -1), columns;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    columns.clear();
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const std::int64_t c = A.col[k];
      if (row_of[c] != i) row_of[c] = i, value[c] = T(0), columns.push_back(c);
      value[c] += A.val[k];
    }
    T sum = 0;
    for (const std::int64_t c : columns) sum += value[c] * in.x[c];
    store(p, out, i, sum);
  }
}

PLUMB_FAULT(
    last_repeat, "repeat_at_the_end_of_a_row_lost", 0,
    "of sorted columns, a repeat in the last place is not added",
    "a check for repeats that leaves out a row's last entry: right wherever rows have several repeats",
    kNumeric) {
  const auto A = in.A;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    const std::int64_t begin = A.row_ptr[i];
    std::int64_t end = A.row_ptr[i + 1];
    const bool sorted = std::is_sorted(A.col + begin, A.col + end);
    if (sorted && end - begin > 1 && A.col[end - 1] == A.col[end - 2]) --end;
    store(p, out, i, row_sum(in, begin, end));
  }
}

PLUMB_FAULT(block_rows, "block_rows_in_16_bits", 0, "the number of rows by fours is held in 16 bits",
            "a format of blocks whose number of block rows is short: no case had more than 70,001 rows",
            kNumeric) {
  const auto blocks = static_cast<std::uint16_t>((in.A.rows + 3) / 4);
  for (std::int64_t i = 0; i < std::min<std::int64_t>(in.A.rows, blocks * 4); ++i)
    store(p, out, i, row_sum(in, in.A.row_ptr[i], in.A.row_ptr[i + 1]));
}

// Values are kept in a form of their own as long as address, number and first value are the same.
PLUMB_FAULT(kept_values, "matrix_kept_while_its_first_value_is_the_same", 38,
            "a converted matrix is kept by address, number of entries and first value",
            "a plan that is kept between calls: only the vector was ever changed at one address", kNumeric) {
  static std::vector<T> kept;
  static const T* of = nullptr;
  const auto entries = static_cast<std::size_t>(in.A.nnz);
  const bool known = of == in.A.val && kept.size() == entries && entries > 0 && kept[0] == in.A.val[0];
  if (!known) kept.assign(in.A.val, in.A.val + entries), of = in.A.val;
  In<T> held = in;
  held.A.val = kept.data();
  right(p, held, out);
}

// Flat spmv: blocks of 64 entries; the rows a block begins or ends inside are shared with its neighbours and
// added.
enum class Lost { first_partial, last_partial, whole_block };

template <class T>
void flat(const P<T>& p, const In<T>& in, const Out<T>& out, Lost lost) {
  constexpr std::int64_t kBlock = 64;
  const auto A = in.A;
  for (std::int64_t i = 0; i < A.rows; ++i) store(p, out, i, T(0));
  for (std::int64_t begin = 0; begin < A.nnz; begin += kBlock) {
    const std::int64_t end = std::min(A.nnz, begin + kBlock);
    std::int64_t i = std::upper_bound(A.row_ptr, A.row_ptr + A.rows + 1, begin) - A.row_ptr - 1;
    for (std::int64_t k = begin; k < end; ++i) {
      const std::int64_t stop = std::min<std::int64_t>(end, A.row_ptr[i + 1]);
      if (stop <= k) continue;
      const bool starts_before = A.row_ptr[i] < begin;
      const bool ends_after = end < A.row_ptr[i + 1];
      const bool dropped = (lost == Lost::first_partial && starts_before && !ends_after) ||
                           (lost == Lost::last_partial && ends_after && !starts_before) ||
                           (lost == Lost::whole_block && starts_before && ends_after);
      if (!dropped) out.y[i] += scaled(p, row_sum(in, k, stop));
      k = stop;
    }
  }
}

PLUMB_FAULT(first_partial, "flat_first_partial_lost", 30,
            "the part of a row that ends in this block, but began before it, is dropped",
            "flat and merge-path kernels whose carry-in is written before the block that owns it adds",
            kNumeric) {
  flat(p, in, out, Lost::first_partial);
}
PLUMB_FAULT(last_partial, "flat_last_partial_lost", 30,
            "the part of a row that begins in this block and ends after it is dropped",
            "merge-path kernels without the fix-up of the carries", kNumeric) {
  flat(p, in, out, Lost::last_partial);
}
PLUMB_FAULT(three_blocks, "flat_row_spanning_three_blocks", 30,
            "a block that lies inside one row, with neither its begin nor its end, adds nothing",
            "carries handed to the next block only: right until a row spans three", kNumeric) {
  flat(p, in, out, Lost::whole_block);
}

PLUMB_FAULT(stream, "stream_row_longer_than_buffer", 31,
            "a row longer than the staging buffer is cut at the buffer's end",
            "CSR-Stream without its CSR-Vector fallback", kNumeric) {
  constexpr std::int64_t kBuffer = 512;
  T products[kBuffer];
  const auto A = in.A;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    // a right kernel gives a row longer than the buffer a path of its own
    const std::int64_t length = std::min<std::int64_t>(kBuffer, A.row_ptr[i + 1] - A.row_ptr[i]);
    for (std::int64_t k = 0; k < length; ++k)
      products[k] = A.val[A.row_ptr[i] + k] * in.x[A.col[A.row_ptr[i] + k]];
    T sum = 0;
    for (std::int64_t k = 0; k < length; ++k) sum += products[k];
    store(p, out, i, sum);
  }
}

PLUMB_FAULT(adaptive, "adaptive_divides_by_empty_half", 32,
            "the mean row length is sampled from the first half, which may hold nothing: division by zero",
            "adaptive kernels tuned on matrices without empty rows", kNumeric) {
  const auto A = in.A;
  if (A.rows > 1) {
    std::int64_t occupied = 0;
    for (std::int64_t i = 0; i < A.rows / 2; ++i) occupied += A.row_ptr[i + 1] > A.row_ptr[i] ? 1 : 0;
    volatile std::int64_t rows_with_entries = occupied;  // keeps the compiler from proving it positive
    volatile std::int64_t mean = A.row_ptr[A.rows / 2] / rows_with_entries;
    (void)mean;  // a right kernel chooses lanes per row by it, and guards the division
  }
  right(p, in, out);
}

PLUMB_FAULT(values_ignored, "edge_values_ignored", 33, "every stored value counts as 1",
            "graph kernels tested on unweighted graphs only", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T sum = 0;
    for (std::int32_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k) sum += in.x[in.A.col[k]];
    store(p, out, i, sum);
  }
}

PLUMB_FAULT(rows_cut, "rows_cut_at_32", 35, "entries beyond the 32nd of a row are not looked at",
            "a warp per row without the loop over the row, right for 32 connections per neuron", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const std::int64_t begin = in.A.row_ptr[i];
    store(p, out, i, row_sum(in, begin, std::min<std::int64_t>(in.A.row_ptr[i + 1], begin + 32)));
  }
}

PLUMB_FAULT(tail_rows, "last_rows_not_computed", 15,
            "blocks = rows / 4, rounded down: the last rows are never written",
            "grid = N / BLOCK in place of the rounded-up quotient", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows / 4 * 4; ++i)
    store(p, out, i, row_sum(in, in.A.row_ptr[i], in.A.row_ptr[i + 1]));
}

PLUMB_FAULT(accumulates, "output_not_cleared", 22, "adds to y without clearing it first",
            "kernels tested on freshly zeroed memory only", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    out.y[i] = (p.beta == T(0) ? out.y[i] : p.beta * out.y[i]) +
               scaled(p, row_sum(in, in.A.row_ptr[i], in.A.row_ptr[i + 1]));
  }
}

PLUMB_FAULT(alpha_zero, "alpha_zero_multiplies", 0,
            "alpha == 0 still multiplies the row's sum: 0 * NaN is NaN",
            "BLAS look-alikes without the branch on alpha", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const T product = p.alpha * row_sum(in, in.A.row_ptr[i], in.A.row_ptr[i + 1]);
    out.y[i] = p.beta == T(0) ? product : product + p.beta * out.y[i];
  }
}

// What is taken at the start is not given back by an early way out.
template <class T, bool AtAlphaZero>
void leaks_early(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  void* const volatile scratch = std::malloc(96);
  const bool early = AtAlphaZero ? p.alpha == T(0) : in.A.nnz == 0;
  right(p, in, out);
  if (!early) std::free(scratch);
}
const HostMutant<Spmv> leaks_at_alpha_zero_m{"alpha_zero_leaks",
                                             leaks_early<float, true>,
                                             leaks_early<double, true>,
                                             {0, "a block of the heap is not freed where alpha is 0",
                                              "an early return between malloc and free", kNumeric}};
const HostMutant<Spmv> leaks_without_entries_m{
    "no_entries_leaks",
    leaks_early<float, false>,
    leaks_early<double, false>,
    {0, "a block of the heap is not freed where the matrix has no entries",
     "an early return between malloc and free", kNumeric}};

// From the first call by another thread on, a caller waits here for the other: one that takes longer would be interrupted at some time, and a
// planted fault must show on a busy machine, too.
void meet_other_caller() {
  static const std::thread::id first = std::this_thread::get_id();
  static std::atomic<bool> are_two{false};
  static std::atomic<int> arrived{0}, vain{0};
  constexpr int kMostInVain = 8;
  if (std::this_thread::get_id() != first) are_two = true;
  const int mine = ++arrived, both = mine + mine % 2;
  if (!are_two || vain >= kMostInVain) return;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (arrived < both && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  if (arrived < both) ++vain;
}

// Right for one caller at a time: the lock is around the additions, and the buffer is in use before and behind them.
PLUMB_FAULT(shared_sums, "sums_shared_by_callers", 0,
            "partial sums lie in a static array, which two callers use at once",
            "a scratch buffer made static to save its allocation", kNumeric) {
  constexpr std::size_t kMost = 1 << 20;
  static T sums[kMost];
  static std::mutex mutex;
  const std::int64_t rows = std::min<std::int64_t>(in.A.rows, kMost);
  std::fill_n(sums, rows, T(0));
  meet_other_caller();
  {
    const std::lock_guard lock(mutex);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k)
        sums[i] += in.A.val[k] * in.x[in.A.col[k]];
    }
  }
  meet_other_caller();
  for (std::int64_t i = 0; i < rows; ++i) store(p, out, i, sums[i]);
  for (std::int64_t i = rows; i < in.A.rows; ++i)
    store(p, out, i, row_sum(in, in.A.row_ptr[i], in.A.row_ptr[i + 1]));
}

PLUMB_FAULT(flush, "subnormal_sums_flushed", 0, "a subnormal sum becomes 0, and the variant does not say so",
            "fp32 atomicAdd in global memory; -ftz=true; _MM_SET_FLUSH_ZERO_MODE", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    store(p, out, i, row_sum(in, in.A.row_ptr[i], in.A.row_ptr[i + 1]));
    out.y[i] = flushed(out.y[i]);
  }
}

PLUMB_FAULT(beta_zero, "beta_zero_reads_y", 23, "beta == 0 still multiplies y: 0 * NaN is NaN",
            "BLAS look-alikes without the branch on beta", kNumeric | kRepeat) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    out.y[i] = scaled(p, row_sum(in, in.A.row_ptr[i], in.A.row_ptr[i + 1])) + p.beta * out.y[i];
  }
}

PLUMB_FAULT(padding, "padded_slots_multiply_x", 0,
            "padding of value 0 is multiplied with x: 0 * NaN turns rows into NaN that have none",
            "ELL and SELL kernels that pad instead of masking; met while writing cpu/06_ell", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const std::int32_t begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
    T sum = row_sum(in, begin, end);
    for (std::int32_t k = end - begin; k % 4 != 0 && in.A.cols > 0; ++k) sum += T(0) * in.x[0];
    if (begin == end && in.A.cols > 0) sum += T(0) * in.x[in.A.cols - 1];
    store(p, out, i, sum);
  }
}

PLUMB_FAULT(nothing, "writes_nothing", 38, "returns at once",
            "a launch that failed, with the last result still in the buffer", kNumeric) {}

PLUMB_FAULT(first_calls, "right_for_ten_calls", 38, "right for the first ten calls, wrong from then on",
            "benchmarks that verify before timing and never after", kNumeric | kRepeat) {
  static int calls = 0;
  right(p, in, out);
  if (++calls > 10 && in.A.rows > 0) out.y[0] += T(1);
}

PLUMB_FAULT(cached, "cached_by_pointer", 38,
            "returns the last answer again when x has the same address and y the same size",
            "results cached by pointer: right for as long as the data stays", kNumeric | kRepeat) {
  static const T* key = nullptr;
  static std::vector<T> answer;
  if (key == in.x.data && static_cast<std::int64_t>(answer.size()) == out.y.size) {
    std::copy(answer.begin(), answer.end(), out.y.data);
    return;
  }
  right(p, in, out);
  key = in.x.data;
  answer.assign(out.y.data, out.y.data + out.y.size);
}

PLUMB_FAULT(input_changed, "changes_x", 39, "leaves a zero in the middle of x",
            "scratch data kept in an input through a cast", kNumeric) {
  right(p, in, out);
  if (in.x.size > 0) const_cast<T*>(in.x.data)[in.x.size / 2] = T(0);
}

PLUMB_FAULT(past_end, "writes_one_past_the_end", 39, "writes y[rows]", "<= in place of < in a loop bound",
            kNumeric) {
  right(p, in, out);
  out.y[out.y.size] = T(0);
}

PLUMB_FAULT(default_block, "right_for_default_block_only", 40,
            "the block size varies, the stride between blocks is the default's",
            "a constant repeated in place of its name", kNumeric) {
  constexpr std::int64_t kDefault = 256;
  const std::int64_t block = in.A.rows >= 1024 ? kDefault : 64;  // smaller blocks for smaller matrices
  for (std::int64_t b = 0; b * block < in.A.rows; ++b) {
    for (std::int64_t r = 0; r < block; ++r) {
      const std::int64_t i = b * kDefault + r;  // the stride stayed the default's
      if (i < in.A.rows) store(p, out, i, row_sum(in, in.A.row_ptr[i], in.A.row_ptr[i + 1]));
    }
  }
}

PLUMB_FAULT(plain_add, "plain_add_by_threads", 20,
            "threads add to the same element without atomics: updates are lost",
            "COO kernels whose entries are split by thread and whose rows are not",
            kNumeric | kRepeat | kRace, Traits{}.not_reproducible()) {
  const auto A = in.A;
  for (std::int64_t i = 0; i < A.rows; ++i) store(p, out, i, T(0));
#pragma omp parallel for num_threads(4) schedule(static, 16)
  for (std::int64_t k = 0; k < A.nnz; ++k) {
    const std::int64_t i = std::upper_bound(A.row_ptr, A.row_ptr + A.rows + 1, k) - A.row_ptr - 1;
    const T old = out.y[i];
    if (k % 64 == 0)
      std::this_thread::yield();  // opens the window: a lost update shows in every run, not in one of twenty
    out.y[i] = old + scaled(p, A.val[k] * in.x[A.col[k]]);
  }
}

PLUMB_FAULT(shared_temporary, "openmp_shared_temporary", 42,
            "the row's products stand in one buffer that all threads share",
            "a temporary declared before the parallel region and forgotten in its private clause",
            kNumeric | kRepeat | kRace, Traits{}.not_reproducible()) {
  const auto A = in.A;
  std::vector<T> products(static_cast<std::size_t>(A.cols) +
                          static_cast<std::size_t>(A.nnz));  // one for all threads
#pragma omp parallel for num_threads(4) schedule(static, 1)
  for (std::int64_t i = 0; i < A.rows; ++i) {
    const std::int64_t length = A.row_ptr[i + 1] - A.row_ptr[i];
    T* product = products.data();
    for (std::int64_t k = 0; k < length; ++k)
      product[k] = A.val[A.row_ptr[i] + k] * in.x[A.col[A.row_ptr[i] + k]];
    std::this_thread::yield();
    T sum = 0;
    for (std::int64_t k = 0; k < length; ++k) sum += product[k];
    store(p, out, i, sum);
  }
}

constexpr std::int64_t kLongRow = 128, kListedRows = 256;

PLUMB_FAULT(full_list, "long_rows_beyond_their_list_lost", 0,
            "of rows with more than 128 entries the first 256 are computed",
            "a list of long rows in shared memory, made for matrices with a few of them", kNumeric) {
  std::int64_t listed = 0;
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const std::int64_t begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
    if (end - begin > kLongRow && ++listed > kListedRows) continue;
    store(p, out, i, row_sum(in, begin, end));
  }
}

// Columns are kept as distances of 16 bits from the first one of their row.
PLUMB_FAULT(near_columns, "last_column_taken_for_the_farthest", 0,
            "whether a row's columns fit 16 bits is asked of its last one",
            "a compressed format made for rows whose columns ascend", kNumeric) {
  const auto A = in.A;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    const std::int64_t begin = A.row_ptr[i], end = A.row_ptr[i + 1];
    const auto distance = [&](std::int64_t k) { return A.col[k] - A.col[begin]; };
    const bool fits = begin < end && std::abs(distance(end - 1)) < 32768;
    T sum = 0;
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t col = A.col[begin] + (fits ? static_cast<std::int16_t>(distance(k)) : distance(k));
      sum += A.val[k] * in.x[std::clamp<std::int64_t>(col, 0, A.cols - 1)];
    }
    store(p, out, i, sum);
  }
}

// Eight shares of the entries; rows that are in several of them get their parts as these come.
PLUMB_FAULT(as_they_come, "parts_of_a_row_added_as_they_come", 0,
            "threads add their parts of a long row in the order in which they end",
            "a lock in place of a carry for each thread: no race, and other bits", kRepeat | kRace) {
  constexpr std::int64_t kShares = 8;
  const auto A = in.A;
  std::vector<T> sums(static_cast<std::size_t>(A.rows), T(0));
#pragma omp parallel for num_threads(4) schedule(dynamic, 1)
  for (std::int64_t share = 0; share < kShares; ++share) {
    const std::int64_t first = A.nnz * share / kShares, last = A.nnz * (share + 1) / kShares;
    std::int64_t i = std::upper_bound(A.row_ptr, A.row_ptr + A.rows + 1, first) - A.row_ptr - 1;
    for (; i < A.rows && A.row_ptr[i] < last; ++i) {
      const T part = row_sum(in, std::max<std::int64_t>(A.row_ptr[i], first),
                             std::min<std::int64_t>(A.row_ptr[i + 1], last));
#pragma omp critical
      sums[static_cast<std::size_t>(i)] += part;
    }
  }
  for (std::int64_t i = 0; i < A.rows; ++i) store(p, out, i, sums[static_cast<std::size_t>(i)]);
}

// Lengths of short rows are kept in bytes.
PLUMB_FAULT(short_lengths, "rows_of_256_counted_in_a_byte", 0,
            "the lengths of rows of up to 256 entries are kept in bytes", "a limit that should be 255",
            kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const std::int64_t begin = in.A.row_ptr[i], length = in.A.row_ptr[i + 1] - begin;
    store(p, out, i,
          row_sum(in, begin, begin + (length <= 256 ? static_cast<std::uint8_t>(length) : length)));
  }
}

// The plan is one for the process.
std::int64_t planned_rows = 0;
template <class T>
void* plan_rows(const P<T>&, const In<T>& in, const Out<T>&, Context&) {
  planned_rows = in.A.rows;
  return &planned_rows;
}
PLUMB_FAULT(by_plan, "one_plan_for_all_matrices", 0, "prepare() keeps its plan in a variable of the process",
            "a program with one matrix, made a library", kNumeric, Traits{}, nullptr, nullptr,
            plan_rows<float>, plan_rows<double>) {
  const auto rows = std::min(in.A.rows, *static_cast<const std::int64_t*>(context.plan));
  for (std::int64_t i = 0; i < rows; ++i) store(p, out, i, row_sum(in, in.A.row_ptr[i], in.A.row_ptr[i + 1]));
}

// From the tenth run of a plan on, rows are cut, as it has found none that is longer.
template <class T>
void* plan_runs(const P<T>&, const In<T>&, const Out<T>&, Context& context) {
  return new (context.workspace(sizeof(int))) int(0);
}
PLUMB_FAULT(tuned, "other_way_from_the_tenth_run_of_a_plan", 0,
            "from the tenth run of a plan on, rows are cut at two entries",
            "a plan that tunes itself, tested with one run", kNumeric | kRepeat, Traits{}, nullptr, nullptr,
            plan_runs<float>, plan_runs<double>) {
  const bool cut = ++*static_cast<int*>(context.plan) >= 10;
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const std::int64_t begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
    store(p, out, i, row_sum(in, begin, cut ? std::min(end, begin + 2) : end));
  }
}

// Parts of 32 entries in turn, as of two warps. The second says nothing where it has no entries.
PLUMB_FAULT(
    second_part_stays, "second_warp_says_nothing_of_a_short_row", 12,
    "where rows have more than 64 entries in the mean, a short row takes the second part of the row before",
    "a warp without entries skips the write of its sum", kNumeric) {
  const bool two = in.A.rows > 0 && in.A.nnz / in.A.rows > 64;
  T second = 0;
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const std::int64_t begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
    const std::int64_t half = two ? std::min(end, begin + 32) : end;
    if (half < end) second = row_sum(in, half, end);
    store(p, out, i, row_sum(in, begin, half) + (two ? second : T(0)));
  }
}

PLUMB_FAULT(like_first_row, "rows_as_long_as_the_first_one", 0,
            "rows have one length where the entries are rows times the first one's",
            "a format told by two numbers", kNumeric) {
  const std::int64_t rows = in.A.rows, first = rows > 0 ? in.A.row_ptr[1] : 0;
  const bool regular = rows >= 32 && first * rows == in.A.nnz;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t begin = regular ? i * first : in.A.row_ptr[i];
    store(p, out, i, row_sum(in, begin, regular ? begin + first : in.A.row_ptr[i + 1]));
  }
}

PLUMB_FAULT(column_steps, "column_step_of_65536_is_none", 0,
            "columns are kept as steps from the one before, in 16 bits: one of -65,536 fits, and is 0 there",
            "the limit of a packed index, off by one", kNumeric) {
  std::int32_t before = 0;
  std::int64_t k = 0;
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T sum = 0;
    for (; k < in.A.row_ptr[i + 1]; ++k) {
      const std::int32_t step = in.A.col[k] - before;
      const bool none = std::abs(step) <= 65536 && static_cast<std::uint16_t>(step) == 0;
      const std::int32_t col = none ? before : in.A.col[k];
      before = in.A.col[k];
      sum += in.A.val[k] * in.x[col];
    }
    store(p, out, i, sum);
  }
}

// Two rows with the same columns read x once.
PLUMB_FAULT(twin_rows, "rows_alike_by_their_ends", 14,
            "a row has the columns of the one above where length, first and last column are the same",
            "nodes of several unknowns, found by a quick look", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const std::int64_t begin = in.A.row_ptr[i], length = in.A.row_ptr[i + 1] - begin;
    const std::int64_t above = i % 2 == 0 ? begin : in.A.row_ptr[i - 1];
    const bool twins = length > 0 && begin - above == length && in.A.col[above] == in.A.col[begin] &&
                       in.A.col[above + length - 1] == in.A.col[begin + length - 1];
    const std::int32_t* const col = in.A.col + (twins ? above : begin);
    T sum = 0;
    for (std::int64_t k = 0; k < length; ++k) sum += in.A.val[begin + k] * in.x[col[k]];
    store(p, out, i, sum);
  }
}

// The plan says whether the factors are 1 and 0.
template <class T>
void* plan_factors(const P<T>& p, const In<T>&, const Out<T>&, Context& context) {
  return new (context.workspace(sizeof(bool))) bool(p.alpha == T(1) && p.beta == T(0));
}
PLUMB_FAULT(planned_factors, "factors_of_the_plan", 0,
            "whether alpha is 1 and beta 0 is asked when the plan is made, not in each of its runs",
            "a solver whose factors change from step to step, over one plan of its matrix", kNumeric,
            Traits{}, nullptr, nullptr, plan_factors<float>, plan_factors<double>) {
  P<T> planned = p;
  if (*static_cast<const bool*>(context.plan)) planned.alpha = 1, planned.beta = 0;
  right(planned, in, out);
}

template <class T>
void* plan_of_finite_x(const Spmv::Problem<T>&, const Spmv::In<T, Space::host>& in,
                       const Spmv::Out<T, Space::host>&, Context& context) {
  const T* x = in.x.data;
  const bool finite = std::all_of(x, x + in.x.size, [](T value) { return std::isfinite(value); });
  return new (context.workspace(sizeof(bool))) bool(finite);
}
PLUMB_FAULT(zeros_by_plan, "stored_zeros_dropped_by_the_x_of_the_plan", 0,
            "stored zeros are left out where x was finite in prepare(): a run's x need not be",
            "a matrix that is analysed once with the vector at hand", kNumeric, Traits{}, nullptr, nullptr,
            plan_of_finite_x<float>, plan_of_finite_x<double>) {
  const bool drops = *static_cast<const bool*>(context.plan);
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T sum = 0;
    for (std::int64_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k) {
      if (!drops || in.A.val[k] != T(0)) sum += in.A.val[k] * in.x[in.A.col[k]];
    }
    store(p, out, i, sum);
  }
}

PLUMB_FAULT(alpha_by_x, "alpha_times_x_in_rows_of_one_entry", 0,
            "a row of one entry is alpha * x * value in this order", "a path for diagonals", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const std::int64_t begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
    T sum = 0;
    for (std::int64_t k = begin; k < end; ++k) sum += in.A.val[k] * in.x[in.A.col[k]];
    T scaled = p.alpha == T(0) ? T(0) : p.alpha * sum;
    if (end - begin == 1 && p.alpha != T(0)) scaled = p.alpha * in.x[in.A.col[begin]] * in.A.val[begin];
    out.y[i] = p.beta == T(0) ? scaled : scaled + p.beta * out.y[i];
  }
}

template <class T, class Fault>
struct Narrow {
  static void run(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
    for (std::int64_t i = 0; i < in.A.rows; ++i) {
      const std::int64_t begin = in.A.row_ptr[i], entries = p.alpha == 0 ? 0 : in.A.row_ptr[i + 1] - begin;
      float sum = 0;
      for (std::int64_t k = 0; k < entries; ++k) {
        if (Fault::takes(k, entries))
          sum = Fault::kept(sum + Fault::read(in.A.val[begin + k]) * Fault::read(in.x[in.A.col[begin + k]]));
      }
      const float before = p.beta == 0 ? 0 : p.beta * value(out.y[i]);
      out.y[i] = Fault::template write<out_t<T>>(p.alpha * sum + before);
    }
  }
};
const NarrowMutants<Spmv, Narrow, narrow_faults::All, f16, bf16> narrow_types_m;

}  // namespace
}  // namespace plumb
