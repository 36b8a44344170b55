// Planted faults of topk's kernels: an insertion by one thread, and a block that joins the largest of its tiles. Each is a right kernel with
// one thing changed.
#include "reference/ops/topk.hpp"
#include "verify/mutants/device/device_mutant.hpp"

namespace plumb {
namespace {

PLUMB_DEVICE_FAULTS_OF(TopK);

constexpr int kThreads = 64;

enum class Fault {
  none,
  nan_passed_by,
  ascends,
  last_unread,
  one_too_many,
  column_left_behind,
  first_equal_named,
  tile_offset_left_out,
  lane_tail_lost,
  no_barrier,
  taken_twice,
};

template <class T, Fault F>
PLUMB_DEVICE bool is_larger(T a, T b) {
  if (F == Fault::nan_passed_by) return a > b || (b != b && a == a);
  return a > b || (a != a && b == b);
}

// A thread per row: insertion into the outputs.
template <class T, Fault F>
__global__ void topk_mutant_insertion(In<T> in, Out<T> out) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x, k = out.values.cols;
  if (i >= in.x.rows) return;
  const Index cols = F == Fault::last_unread && k < in.x.cols ? in.x.cols - 1 : in.x.cols;
  Index kept = 0;
  for (Index j = 0; j < cols; ++j) {
    const T x = in.x(i, j);
    if (kept == k && !is_larger<T, F>(x, out.values(i, k - 1))) continue;
    // the fault shifts one element more than there is room for
    Index p = kept < k ? kept++ : F == Fault::one_too_many ? k : k - 1;
    for (; p > 0 && is_larger<T, F>(x, out.values(i, p - 1)); --p) {
      out.values(i, p) = out.values(i, p - 1);
      if (F != Fault::column_left_behind) out.indices(i, p) = out.indices(i, p - 1);
    }
    out.values(i, p) = x;
    out.indices(i, p) = static_cast<std::int32_t>(j);
  }
  if (F == Fault::ascends) {
    for (Index p = 0; p < k / 2; ++p) {
      const T value = out.values(i, p);
      const std::int32_t column = out.indices(i, p);
      out.values(i, p) = out.values(i, k - 1 - p), out.indices(i, p) = out.indices(i, k - 1 - p);
      out.values(i, k - 1 - p) = value, out.indices(i, k - 1 - p) = column;
    }
  }
  if (F == Fault::first_equal_named) {
    for (Index p = 0; p < k; ++p) {
      for (Index j = 0; j < in.x.cols; ++j) {
        if (in.x(i, j) != out.values(i, p)) continue;
        out.indices(i, p) = static_cast<std::int32_t>(j);
        break;
      }
    }
  }
}

// A block per row: k times the largest element behind the one before, in an order in which the lower of two equal columns is first. Threads
// look for it among their columns, thread 0 among threads.
template <class T, Fault F>
__global__ void topk_mutant_rounds(In<T> in, Out<T> out) {
  __shared__ T best[kThreads];
  __shared__ Index column[kThreads];
  const Index i = blockIdx.x,
              cols = F == Fault::lane_tail_lost && in.x.cols > kThreads && out.values.cols <= kThreads
                         ? in.x.cols / kThreads * kThreads
                         : in.x.cols;
  const int me = static_cast<int>(threadIdx.x);
  T last = T(0);
  Index last_column = -1;
  for (Index p = 0; p < out.values.cols; ++p) {
    column[me] = -1;
    for (Index j = me; j < cols; j += kThreads) {
      const T x = in.x(i, j);
      const bool behind =
          p == 0 || is_larger<T, F>(last, x) ||
          (!is_larger<T, F>(x, last) && (F == Fault::taken_twice ? j != last_column : j > last_column));
      if (behind && (column[me] < 0 || is_larger<T, F>(x, best[me]))) best[me] = x, column[me] = j;
    }
    if (F != Fault::no_barrier) __syncthreads();
    for (int n = 1; me == 0 && n < kThreads; ++n) {
      if (column[n] < 0) continue;
      const bool first = column[0] < 0 || is_larger<T, F>(best[n], best[0]) ||
                         (!is_larger<T, F>(best[0], best[n]) && column[n] < column[0]);
      if (first) best[0] = best[n], column[0] = column[n];
    }
    __syncthreads();
    last = best[0], last_column = column[0];
    if (me == 0) {
      out.values(i, p) = last;
      out.indices(i, p) =
          static_cast<std::int32_t>(F == Fault::tile_offset_left_out ? last_column % kThreads : last_column);
    }
    __syncthreads();
  }
}

template <class T, Fault F>
void run(const P<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr bool kRounds = F == Fault::tile_offset_left_out || F == Fault::lane_tail_lost ||
                           F == Fault::no_barrier || F == Fault::taken_twice;
  if (kRounds)
    launch(topk_mutant_rounds<T, F>, in.x.rows, kThreads, 0, context.stream, in, out);
  else
    launch(topk_mutant_insertion<T, F>, (in.x.rows + kThreads - 1) / kThreads, kThreads, 0, context.stream,
           in, out);
}

PLUMB_DEVICE_FAULT(nan_passed_by, "device_nan_is_the_smallest", 25, "NaN behind all numbers",
                   "comparisons that are false for NaN", kNumeric);
PLUMB_DEVICE_FAULT(ascends, "device_ascending_order", 0,
                   "the k largest, from the smallest of them to the largest",
                   "a bitonic network whose last pass has the other direction", kNumeric);
PLUMB_DEVICE_FAULT(last_unread, "device_last_column_never_read", 14, "the last column is no candidate",
                   "a loop's bound", kNumeric);
PLUMB_DEVICE_FAULT(one_too_many, "device_element_behind_k", 0,
                   "what falls out of the k is written behind them",
                   "an insertion that shifts before it looks", kNumeric | kSimt | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(column_left_behind, "device_columns_are_not_shifted", 0,
                   "values move without their columns", "a sort of keys that leaves the payload", kNumeric);
PLUMB_DEVICE_FAULT(first_equal_named, "device_first_equal_column_named", 0,
                   "of equal elements the first is named each time",
                   "columns searched behind a sort of values", kNumeric);
PLUMB_DEVICE_FAULT(tile_offset_left_out, "device_column_within_its_tile", 0,
                   "a column is counted from the beginning of its tile", "a tile's offset that is not added",
                   kNumeric);
PLUMB_DEVICE_FAULT(lane_tail_lost, "device_column_tail_never_read", 14,
                   "columns beyond a multiple of the block are no candidates", "whole blocks only", kNumeric);
PLUMB_DEVICE_FAULT(no_barrier, "device_candidates_read_before_written", 5,
                   "thread 0 reads the others' candidates with no barrier before", "a block that was a warp",
                   kNumeric | kRepeat | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(taken_twice, "device_of_three_equal_one_named_twice", 0,
                   "of equal elements all but the last one taken are candidates again",
                   "a mark of one column where all that were taken need one", kNumeric);

}  // namespace
}  // namespace plumb
