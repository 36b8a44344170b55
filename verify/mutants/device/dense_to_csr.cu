// Planted faults of dense_to_csr on a device: places by ballot, by scans over warps, and by looking back at
// earlier tiles.
#include <cuda/atomic>

#include "reference/ops/dense_to_csr.hpp"
#include "verify/mutants/device/device_mutant.hpp"

namespace plumb {
namespace {

PLUMB_DEVICE_FAULTS_OF(DenseToCsr);

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 64;
constexpr int kPerThread = 8;  // neighbours that a lane of the packed kernel counts

enum class Fault {
  none,
  ballot_counts_itself,
  cut_at_32,
  tail_lost,
  minus_zero_by_bits,
  nan_lost,
  reads_padding,
  no_barrier_between_warps,
  totals_overwritten,
  count_taken_for_sum,
  sixteen_looked_at,
  no_fence,
  state_not_cleared,
  bytes_overflow,
  empty_rows_skipped,
};

template <class T, Fault F>
PLUMB_DEVICE bool counts(T v) {
  if (F == Fault::nan_lost) return v > T(0) || v < T(0);
  if (F == Fault::minus_zero_by_bits) return v != T(0) || (v == T(0) && T(1) / v < T(0));
  return v != T(0);
}

template <class T, Fault F>
PLUMB_DEVICE Index width(const In<T>& in) {
  if (F == Fault::reads_padding) return in.x.ld;
  if (F == Fault::tail_lost) return in.x.cols / 32 * 32;
  return in.x.cols;
}

template <class T>
PLUMB_DEVICE void put(const Out<T>& out, Index at, Index j, T v) {
  if (at >= out.col.size + 8) return;  // beyond the guard it would only crash
  out.col[at] = static_cast<std::int32_t>(j);
  out.val[at] = v;
}

// One block walks the whole matrix, warp by warp and row by row: no scan over rows is needed.
template <class T, Fault F>
__global__ void dense_to_csr_mutant_ballot(In<T> in, Out<T> out) {
  const int lane = static_cast<int>(threadIdx.x);
  Index begin = 0;
  if (lane == 0) out.row_ptr[0] = 0;
  for (Index i = 0; i < in.x.rows; ++i) {
    const Index row_begin = begin;
    for (Index base = 0; base < width<T, F>(in); base += 32) {
      const Index j = base + lane;
      const T v = j < width<T, F>(in) ? in.x.data[i * in.x.ld + j] : T(0);
      const unsigned entries = __ballot_sync(kAllLanes, counts<T, F>(v));
      const unsigned below = F == Fault::ballot_counts_itself ? (2u << lane) - 1 : (1u << lane) - 1;
      const Index at = begin + __popc(entries & below);
      if (counts<T, F>(v) && !(F == Fault::cut_at_32 && at >= row_begin + 32)) put(out, at, j, v);
      begin += __popc(entries);
    }
    if (F == Fault::cut_at_32 && begin > row_begin + 32) begin = row_begin + 32;
    if (lane == 0 && !(F == Fault::empty_rows_skipped && begin == row_begin && i > 0))
      out.row_ptr[i + 1] = static_cast<std::int32_t>(begin);
  }
}

// One block, two warps: a scan over the warps' totals, kThreads columns at a time.
template <class T, Fault F>
__global__ void dense_to_csr_mutant_warps(In<T> in, Out<T> out) {
  __shared__ int total[2];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  Index begin = 0;
  if (threadIdx.x == 0) out.row_ptr[0] = 0;
  for (Index i = 0; i < in.x.rows; ++i) {
    for (Index base = 0; base < in.x.cols; base += kThreads) {
      const Index j = base + threadIdx.x;
      const T v = j < in.x.cols ? in.x(i, j) : T(0);
      const unsigned entries = __ballot_sync(kAllLanes, v != T(0));
      if (lane == 0) total[warp] = __popc(entries);
      if (F != Fault::no_barrier_between_warps) __syncthreads();
      const Index at = begin + (warp == 1 ? total[0] : 0) + __popc(entries & ((1u << lane) - 1));
      begin += total[0] + total[1];
      if (F != Fault::totals_overwritten) __syncthreads();
      if (v != T(0)) put(out, at, j, v);
    }
    if (threadIdx.x == 0) out.row_ptr[i + 1] = static_cast<std::int32_t>(begin);
  }
}

// A warp per row; lanes take eight neighbours each, and a round's counts are added as bytes of one word,
// two rounds to a word: 32 * 8 is one more than a byte holds.
template <class T, Fault F>
__global__ void dense_to_csr_mutant_packed(In<T> in, Out<T> out) {
  constexpr Index kRound = 32 * kPerThread;
  const int lane = static_cast<int>(threadIdx.x);
  constexpr int kBits = F == Fault::bytes_overflow ? 8 : 16;
  Index begin = 0;
  if (lane == 0) out.row_ptr[0] = 0;
  for (Index i = 0; i < in.x.rows; ++i) {
    for (Index base = 0; base < in.x.cols; base += 2 * kRound) {
      unsigned packed = 0;
      for (int r = 0; r < 2; ++r) {
        for (int u = 0; u < kPerThread; ++u) {
          const Index j = base + r * kRound + lane * kPerThread + u;
          if (j < in.x.cols && in.x(i, j) != T(0)) packed += 1u << kBits * r;
        }
      }
      unsigned through = packed;
      for (int d = 1; d < 32; d *= 2) {
        const unsigned before = __shfl_up_sync(kAllLanes, through, d);
        if (lane >= d) through += before;
      }
      const unsigned all = __shfl_sync(kAllLanes, through, 31), mask = (1u << kBits) - 1;
      for (int r = 0; r < 2; ++r) {
        Index at = begin + (r == 1 ? all & mask : 0) + ((through - packed) >> kBits * r & mask);
        for (int u = 0; u < kPerThread; ++u) {
          const Index j = base + r * kRound + lane * kPerThread + u;
          if (j < in.x.cols && in.x(i, j) != T(0)) put(out, at++, j, in.x(i, j));
        }
      }
      begin += (all & mask) + (all >> kBits & mask);
    }
    if (lane == 0) out.row_ptr[i + 1] = static_cast<std::int32_t>(begin);
  }
}

using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

// A warp per row, two to a block, in the order of a ticket; a row learns what lies before it from the rows
// before. Both rows of a block are counted before either looks back, so that the second may meet the
// first's count, or its sum.
template <class T, Fault F>
__global__ void dense_to_csr_mutant_look_back(In<T> in, Out<T> out, unsigned* ticket /* (1) */,
                                              unsigned* flag /* (rows) */, unsigned* count /* (rows) */,
                                              unsigned* sum /* (rows) */) {
  __shared__ unsigned taken;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x == 0) taken = atomicAdd(ticket, 1u);
  __syncthreads();
  const Index i = static_cast<Index>(taken) * 2 + threadIdx.x / 32, cols = i < in.x.rows ? in.x.cols : 0;
  unsigned own = 0;
  for (Index base = 0; base < cols; base += 32)
    own += __popc(__ballot_sync(kAllLanes, base + lane < cols && in.x(i, base + lane) != T(0)));
  if (lane == 0 && i < in.x.rows) {
    count[i] = own;
    if (F != Fault::no_fence) __threadfence();
    Flag(flag[i]).store(1, cuda::memory_order_relaxed);
  }
  __syncthreads();
  if (i >= in.x.rows) return;  // whole warps, and no barrier follows
  Index begin = 0;
  if (lane == 0) {
    unsigned before = 0;
    for (Index r = i - 1; r >= 0; --r) {
      unsigned known = 0;
      while ((known = Flag(flag[r]).load(cuda::memory_order_relaxed)) == 0) __nanosleep(20);
      if (F != Fault::no_fence) __threadfence();
      if (known == 2) {
        before += sum[r];
        break;
      }
      before += count[r];
      if (F == Fault::count_taken_for_sum || (F == Fault::sixteen_looked_at && i - r == 16)) break;
    }
    sum[i] = before + own;
    if (F != Fault::no_fence) __threadfence();
    Flag(flag[i]).store(2, cuda::memory_order_relaxed);
    begin = before;
    out.row_ptr[i + 1] = static_cast<std::int32_t>(before + own);
    if (i == 0) out.row_ptr[0] = 0;
  }
  begin = __shfl_sync(kAllLanes, begin, 0);
  for (Index base = 0; base < in.x.cols; base += 32) {
    const Index j = base + lane;
    const T v = j < in.x.cols ? in.x(i, j) : T(0);
    const unsigned entries = __ballot_sync(kAllLanes, v != T(0));
    if (v != T(0)) put(out, begin + __popc(entries & ((1u << lane) - 1)), j, v);
    begin += __popc(entries);
  }
}

template <class T, Fault F>
void run(const P<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr bool kLooksBack = F == Fault::count_taken_for_sum || F == Fault::sixteen_looked_at ||
                              F == Fault::no_fence || F == Fault::state_not_cleared;
  if (kLooksBack) {
    const Index rows = in.x.rows;
    auto* words =
        static_cast<unsigned*>(context.workspace((3 * rows + 1) * static_cast<Index>(sizeof(unsigned))));
    // the fault clears the ticket alone
    const Index cleared = F == Fault::state_not_cleared ? 1 : 3 * rows + 1;
    device_fill(words, 0, static_cast<std::size_t>(cleared) * sizeof(unsigned), context.stream);
    if (rows == 0) device_fill(out.row_ptr.data, 0, sizeof(std::int32_t), context.stream);
    launch(dense_to_csr_mutant_look_back<T, F>, (rows + 1) / 2, kThreads, 0, context.stream, in, out, words,
           words + 1, words + 1 + rows, words + 1 + 2 * rows);
  } else if (F == Fault::no_barrier_between_warps || F == Fault::totals_overwritten) {
    launch(dense_to_csr_mutant_warps<T, F>, 1, kThreads, 0, context.stream, in, out);
  } else if (F == Fault::bytes_overflow) {
    launch(dense_to_csr_mutant_packed<T, F>, 1, 32, 0, context.stream, in, out);
  } else {
    launch(dense_to_csr_mutant_ballot<T, F>, 1, 32, 0, context.stream, in, out);
  }
}

PLUMB_DEVICE_FAULT(ballot_counts_itself, "ballot_counts_the_lane_itself", 0,
                   "a lane's own bit is among those before it: every entry one place on",
                   "an inclusive mask where an exclusive one is meant", kNumeric | kSimt | kRace);
PLUMB_DEVICE_FAULT(cut_at_32, "device_entries_beyond_32_lost", 35, "a row keeps 32 entries and no more",
                   "sparse-network weights have 32 per neuron", kNumeric);
PLUMB_DEVICE_FAULT(tail_lost, "device_column_tail_lost", 14,
                   "columns beyond a multiple of 32 are not looked at", "whole warps only", kNumeric);
PLUMB_DEVICE_FAULT(minus_zero_by_bits, "device_minus_zero_counts", 0, "-0 becomes an entry",
                   "a sign bit is not zero", kNumeric | kSimt | kRace);
PLUMB_DEVICE_FAULT(nan_lost, "device_nan_vanishes", 25, "tests that are false for NaN",
                   "x > 0 || x < 0, which looks like x != 0", kNumeric);
PLUMB_DEVICE_FAULT(reads_padding, "padding_of_rows_counts", 18, "rows are taken to be ld wide",
                   "vector loads that run on into the padding", kNumeric | kSimt | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(no_barrier_between_warps, "warp_total_read_before_written", 5,
                   "no barrier between a warp's total and its use by the other",
                   "a scan over one warp, grown to two", kNumeric | kRepeat | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(totals_overwritten, "warp_totals_overwritten", 3,
                   "no barrier before the next round's totals overwrite these",
                   "scratch used again in a loop", kNumeric | kRepeat | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(count_taken_for_sum, "look_back_stops_at_a_count", 30,
                   "the first predecessor's count is taken for the sum through it",
                   "a look-back that is right while predecessors are quick", kNumeric | kRepeat);
PLUMB_DEVICE_FAULT(sixteen_looked_at, "look_back_over_sixteen_at_most", 0,
                   "counts of rows further back than sixteen are not added",
                   "half a warp looks back, and no test has as many rows under way", kNumeric | kRepeat);
PLUMB_DEVICE_FAULT(no_fence, "look_back_without_a_fence", 21,
                   "counts and sums are published by a flag with no fence on either side",
                   "flag and value in two words, as a single one would not need it", kRepeat | kRace);
PLUMB_DEVICE_FAULT(state_not_cleared, "look_back_state_not_cleared", 22,
                   "the state of a run before, or poison, is taken for this one's",
                   "a workspace that is cleared once", kNumeric | kSimt | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(bytes_overflow, "packed_counts_overflow", 24,
                   "the counts of two rounds share a word, a byte each: 256 entries carry into the next",
                   "packed scans, tested on sparse rows", kNumeric);
PLUMB_DEVICE_FAULT(empty_rows_skipped, "row_pointers_of_empty_rows", 0, "an empty row's end is not written",
                   "row pointers stored by whoever stores entries", kNumeric);

}  // namespace
}  // namespace plumb
