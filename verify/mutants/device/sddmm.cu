// Planted faults of sddmm on a device: a row of X staged in shared memory, entries dealt out in equal
// shares whose rows are looked up and followed, and sums added across lanes for several entries at once.
#include "reference/ops/sddmm.hpp"
#include "verify/mutants/device/device_mutant.hpp"

namespace plumb {
namespace {

PLUMB_DEVICE_FAULTS_OF(Sddmm);

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kPiece = 64;  // elements of a row staged at once
constexpr int kGroup = 8;   // lanes of an entry, and entries of a group

enum class Fault {
  none,
  no_barrier_after_staging,
  no_barrier_before_restaging,
  tail_of_four,
  cut_at_32,
  row_not_followed,
  one_row_end_per_entry,
  row_kept_in_registers,
  begins_in_empty_row,
  leaves_before_shuffle,
  butterfly_not_transposed,
  stores_past_the_end,
  accumulates,
  grid_rounds_down,
};

// A block takes a row: its part of X is staged for all, and each thread adds up one entry.
template <class T, Fault F>
__global__ void sddmm_mutant_staged(In<T> in, Out<T> out) {
  __shared__ T x[kPiece];
  const Index i = blockIdx.x;
  const Index row_begin = in.A.row_ptr[i], row_end = in.A.row_ptr[i + 1];
  const Index last = F == Fault::cut_at_32 && row_end > row_begin + 32 ? row_begin + 32 : row_end;
  for (Index first = row_begin; first < last; first += blockDim.x) {
    const Index e = first + threadIdx.x;
    T sum = T(0);
    for (Index at = 0; at < in.X.cols; at += kPiece) {
      if (F != Fault::no_barrier_before_restaging) __syncthreads();
      const Index here = in.X.cols - at < kPiece ? in.X.cols - at : kPiece;
      for (Index k = threadIdx.x; k < here; k += blockDim.x) x[k] = in.X(i, at + k);
      if (F != Fault::no_barrier_after_staging) __syncthreads();
      if (e >= last) continue;
      for (Index k = 0; k < (F == Fault::tail_of_four ? here / 4 * 4 : here); ++k)
        sum += x[k] * in.Y(in.A.col[e], at + k);
    }
    if (e < last) {
      if (F == Fault::accumulates)
        out.s[e] += sum;
      else
        out.s[e] = sum;
    }
  }
}

// The last row that starts at or before e; with the fault, the first that starts there.
template <Fault F>
PLUMB_DEVICE Index row_of(const std::int32_t* row_ptr, Index rows, Index e) {
  Index low = 0, high = rows;
  while (high - low > 1) {
    const Index middle = (low + high) / 2;
    if (F == Fault::begins_in_empty_row ? row_ptr[middle] < e : row_ptr[middle] <= e)
      low = middle;
    else
      high = middle;
  }
  return F == Fault::begins_in_empty_row && row_ptr[low] < e && low + 1 < rows && row_ptr[low + 1] == e
             ? low + 1
             : low;
}

// Groups of eight lanes, each with eight entries on end, lanes along k; lane u ends with the sum of entry u.
template <class T, Fault F>
__global__ void sddmm_mutant_groups(In<T> in, Out<T> out) {
  const Index group = (static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x) / kGroup;
  const int part = static_cast<int>(threadIdx.x) % kGroup;
  const Index begin = group * kGroup;
  if (F == Fault::leaves_before_shuffle && begin + part >= in.A.nnz) return;
  T sum[kGroup] = {};
  if (begin < in.A.nnz) {
    Index row = row_of<F>(in.A.row_ptr, in.A.rows, begin), x_row = row;
    for (int u = 0; u < kGroup && begin + u < in.A.nnz; ++u) {
      if (F == Fault::one_row_end_per_entry) {
        if (in.A.row_ptr[row + 1] <= begin + u) ++row;
      } else if (F != Fault::row_not_followed && !(F == Fault::begins_in_empty_row && u == 0)) {
        while (in.A.row_ptr[row + 1] <= begin + u) ++row;
      }
      if (F != Fault::row_kept_in_registers || u % 4 == 0) x_row = row;
      for (Index k = part; k < in.X.cols; k += kGroup)
        sum[u] += in.X(x_row, k) * in.Y(in.A.col[begin + u], k);
    }
  }
  for (int d = kGroup / 2; d > 0; d /= 2) {
    for (int u = 0; u < d; ++u) {
      const bool upper = F != Fault::butterfly_not_transposed && (part & d) != 0;
      const T keep = upper ? sum[u + d] : sum[u], give = upper ? sum[u] : sum[u + d];
      sum[u] = keep + __shfl_xor_sync(kAllLanes, give, d);
    }
  }
  if (begin + part < in.A.nnz || (F == Fault::stores_past_the_end && begin < in.A.nnz))
    out.s[begin + part] = sum[0];
}

template <class T, Fault F>
void run(const P<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr bool kStaged = F == Fault::no_barrier_after_staging || F == Fault::no_barrier_before_restaging ||
                           F == Fault::tail_of_four || F == Fault::cut_at_32 || F == Fault::accumulates;
  if (kStaged)
    launch(sddmm_mutant_staged<T, F>, in.A.rows, 64, 0, context.stream, in, out);
  else
    launch(sddmm_mutant_groups<T, F>, (in.A.nnz + (F == Fault::grid_rounds_down ? 0 : 63)) / 64, 64, 0,
           context.stream, in, out);
}

PLUMB_DEVICE_FAULT(no_barrier_after_staging, "x_read_before_it_is_staged", 5,
                   "no barrier between staging a row of X and its use",
                   "one warp per block, until it was two", kNumeric | kRepeat | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(no_barrier_before_restaging, "x_staged_over_while_read", 2,
                   "no barrier before the next piece of X overwrites the last",
                   "the end of a tile loop; right for k up to a piece",
                   kNumeric | kRepeat | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(tail_of_four, "device_k_tail_dropped", 14, "terms beyond a multiple of 4 are not added",
                   "16-byte loads without a remainder", kNumeric);
PLUMB_DEVICE_FAULT(cut_at_32, "device_entries_cut_at_32", 35,
                   "a row's entries beyond the 32nd are not computed",
                   "one lane per entry, no loop over the row", kNumeric);
PLUMB_DEVICE_FAULT(row_not_followed, "split_keeps_its_first_row", 30,
                   "all entries of a share are taken for the row of its first",
                   "shares aligned to rows by luck", kNumeric);
PLUMB_DEVICE_FAULT(one_row_end_per_entry, "split_passes_one_row_per_entry", 32,
                   "a share goes on by one row where a row ends: an empty one after it is taken for the next",
                   "if in place of while", kNumeric);
PLUMB_DEVICE_FAULT(row_kept_in_registers, "x_kept_over_the_row_end", 0,
                   "X stays in registers for four entries, whatever rows they are in",
                   "a row held for speed, and a row's end that falls between two batches", kNumeric);
PLUMB_DEVICE_FAULT(begins_in_empty_row, "search_stops_at_empty_row", 32,
                   "the search gives the first row that starts at an entry: an empty one before its own",
                   "lower_bound where upper_bound less one is meant", kNumeric);
PLUMB_DEVICE_FAULT(leaves_before_shuffle, "lanes_leave_before_shuffle", 9,
                   "lanes without an entry return before the shuffles that name them",
                   "the bounds check of habit", kNumeric | kSimt | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(butterfly_not_transposed, "butterfly_without_exchange", 0,
                   "each lane keeps the lower half, so all lanes end with mixed sums",
                   "a transposing reduction written as a plain one", kNumeric);
PLUMB_DEVICE_FAULT(stores_past_the_end, "ragged_share_stored_whole", 39,
                   "the last share stores all of its eight results", "a guard by group instead of by entry",
                   kNumeric | kSimt | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(accumulates, "sums_added_to_output", 22, "s is added to instead of written",
                   "beta = 1 of a library's interface, and fresh zeroes", kNumeric | kRace | kSanitizer);

PLUMB_DEVICE_FAULT(grid_rounds_down, "last_entries_not_launched", 15,
                   "entries beyond a multiple of a block's share get no block",
                   "nnz / share where it must be rounded up", kNumeric);

}  // namespace
}  // namespace plumb
