// Planted faults of sparse matrix times dense matrix on a device: rows staged by warps, rows read as vectors
// by groups of lanes, rows shared by the groups of a warp, and long rows in parts.
#include "gpu/device/kernel.hpp"
#include "reference/ops/spmm.hpp"
#include "verify/mutants/device/device_mutant.hpp"

namespace plumb {
namespace {

PLUMB_DEVICE_FAULTS_OF(Spmm);

constexpr int kThreads = 64, kWarps = kThreads / 32;
constexpr unsigned kAll = 0xffffffffu;

enum class Fault {
  none,
  // a warp stages 32 entries of its row
  columns_of_16,
  cut_at_32,
  no_barrier_after,
  no_barrier_before,
  one_stage_for_all,
  chunk_tail,
  // groups of four lanes read vectors
  batch_tail,
  batch_zero,
  misaligned,
  leaves_early,
  half_mask,
  // parts of rows
  last_part,
  part_over_part,
  not_cleared,
  join_first_32
};

template <class T, Fault F>
__global__ void spmm_mutant_staged(In<T> in, Out<T> out) {
  __shared__ std::int32_t staged_col[kWarps][32];
  __shared__ T staged_val[kWarps][32];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int stage = F == Fault::one_stage_for_all ? 0 : static_cast<int>(threadIdx.x) / 32;
  const Index i = static_cast<Index>(blockIdx.x) * kWarps + threadIdx.x / 32;
  if (i >= out.C.rows) return;  // whole warps
  const Index n = F == Fault::columns_of_16 ? out.C.cols / 16 * 16 : out.C.cols;
  const Index begin = in.A.row_ptr[i];
  Index end = in.A.row_ptr[i + 1];
  if (F == Fault::cut_at_32 && end > begin + 32) end = begin + 32;
  for (Index j = lane; j - lane < n; j += 32) {
    T sum = T(0);
    for (Index chunk = begin; chunk < end; chunk += 32) {
      const int count = static_cast<int>(end - chunk < 32 ? end - chunk : 32);
      if (F == Fault::chunk_tail && count < 32 && chunk > begin) break;
      if (F != Fault::no_barrier_before) __syncwarp();
      if (lane < count)
        staged_col[stage][lane] = in.A.col[chunk + lane], staged_val[stage][lane] = in.A.val[chunk + lane];
      if (F != Fault::no_barrier_after) __syncwarp();
      if (j < n) {
        for (int s = 0; s < count; ++s) sum += staged_val[stage][s] * in.B(staged_col[stage][s], j);
      }
    }
    if (j < n) out.C(i, j) = sum;
  }
}

// Two columns at once by 16 lanes: two slots share a row, which is taken in batches of two entries a slot.
template <class T>
struct alignas(2 * sizeof(T)) Two {
  T x, y;
};

template <class T, Fault F>
__global__ void spmm_mutant_slots(In<T> in, Out<T> out) {
  const int lane = static_cast<int>(threadIdx.x) % 32, slot = lane / 16;
  const Index i = static_cast<Index>(blockIdx.x) * kWarps + threadIdx.x / 32;
  if (i >= out.C.rows) return;  // whole warps
  const Index n = out.C.cols, end = in.A.row_ptr[i + 1];
  if (F == Fault::leaves_early && slot > 0 && in.A.row_ptr[i] + slot >= end) return;
  for (Index panel = 0; panel < n; panel += 32) {
    const Index j = panel + lane % 16 * 2;
    const auto load = [&](Index k, T& x, T& y) {
      const T* b = &in.B(in.A.col[k], j);
      if (F == Fault::misaligned && j + 1 < n) {
        const Two<T> both = *reinterpret_cast<const Two<T>*>(b);
        x = both.x, y = both.y;
      } else {
        x = b[0], y = j + 1 < n ? b[1] : T(0);
      }
    };
    T x = T(0), y = T(0);
    if (j < n) {
      for (Index k = in.A.row_ptr[i] + slot; k < end; k += 4) {
        T x0, y0, x1 = T(0), y1 = T(0);
        const bool two = k + 2 < end;
        if (F == Fault::batch_tail && !two) break;
        load(k, x0, y0);
        if (two) load(k + 2, x1, y1);
        if (F == Fault::batch_zero && !two) x1 = in.B(0, j), y1 = j + 1 < n ? in.B(0, j + 1) : T(0);
        const T a0 = in.A.val[k], a1 = two ? in.A.val[k + 2] : T(0);
        x += a0 * x0, y += a0 * y0;
        x += a1 * x1, y += a1 * y1;
      }
    }
    constexpr unsigned kMask = F == Fault::half_mask ? 0xffffu : kAll;
    x += __shfl_xor_sync(kMask, x, 16), y += __shfl_xor_sync(kMask, y, 16);
    if (slot == 0 && j < n) {
      out.C(i, j) = x;
      if (j + 1 < n) out.C(i, j + 1) = y;
    }
  }
}

constexpr Index kPart = 48;  // entries; a block has the parts of a row in its warps

// A block per row; its warps take parts in turn. `partial` holds the sums of all parts of a row, n each.
template <class T, Fault F>
__global__ void spmm_mutant_parts(In<T> in, Out<T> out, T* partial /* (all parts, n) */) {
  const Index i = blockIdx.x, begin = in.A.row_ptr[i], length = in.A.row_ptr[i + 1] - begin, n = out.C.cols;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Index parts = F == Fault::last_part ? length / kPart : (length + kPart - 1) / kPart;
  // as many places as parts of this row and of rows before it, counted generously: their entries
  T* place = partial + (F == Fault::part_over_part ? 0 : begin * n);
  for (Index part = threadIdx.x / 32; part < parts; part += kWarps) {
    const Index from = begin + part * kPart,
                to = from + kPart < begin + length ? from + kPart : begin + length;
    for (Index j = lane; j < n; j += 32) {
      T sum = T(0);
      for (Index k = from; k < to; ++k) sum += in.A.val[k] * in.B(in.A.col[k], j);
      if (F == Fault::not_cleared)
        atomicAdd(&out.C(i, j), sum);
      else
        place[part * n + j] = sum;
    }
  }
  if (F == Fault::not_cleared) return;
  __syncthreads();
  const Index added = F == Fault::join_first_32 && parts > 32 ? 32 : parts;
  for (Index j = threadIdx.x; j < n; j += kThreads) {
    T sum = T(0);
    for (Index part = 0; part < added; ++part) sum += place[part * n + j];
    out.C(i, j) = sum;
  }
}

// A block takes a row, each of its warps every fourth entry; the warps' sums are added as a tree, and all warps store the first one's.
template <class T>
__global__ void spmm_mutant_tree(In<T> in, Out<T> out) {
  constexpr int kOfRow = 4;
  __shared__ T sums[kOfRow][32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const Index i = blockIdx.x, end = in.A.row_ptr[i + 1];
  for (Index j = lane; j - lane < out.C.cols; j += 32) {
    const bool inside = j < out.C.cols;
    T sum = T(0);
    for (Index k = in.A.row_ptr[i] + warp; inside && k < end; k += kOfRow)
      sum += in.A.val[k] * in.B(in.A.col[k], j);
    __syncthreads();  // the sums of the columns before have been read
    sums[warp][lane] = sum;
    for (int d = kOfRow / 2; d > 0; d /= 2) {
      __syncthreads();
      if (warp < d) sums[warp][lane] += sums[warp + d][lane];
    }
    if (inside) out.C(i, j) = sums[0][lane];
  }
}
template <class T>
void run_tree(const P<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch(spmm_mutant_tree<T>, out.C.rows, 128, 0, context.stream, in, out);
}
PLUMB_DEVICE_FAULT_BY(run_tree, "first_warps_sum_read_by_all_warps", 2,
                      "all warps read and store what the first one adds last, with no barrier in between",
                      "an early return of the other warps left out", kRace | kSanitizer);

template <class T>
__global__ void spmm_mutant_narrow_places(In<T> in, Out<T> out) {
  const Index at = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x, n = out.C.cols;
  if (at >= out.C.rows * n) return;
  const Index i = at / n, j = at % n;
  T sum = T(0);
  for (Index k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k) {
    const int place = static_cast<int>(static_cast<unsigned>(in.A.col[k] * in.B.ld));
    sum += in.A.val[k] * in.B.data[place + j];
  }
  out.C.data[i * out.C.ld + j] = sum;
}
template <class T>
void run_narrow_places(const P<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch(spmm_mutant_narrow_places<T>, (out.C.rows * out.C.cols + 127) / 128, 128, 0, context.stream, in,
         out);
}
PLUMB_DEVICE_FAULT_BY(run_narrow_places, "device_rows_of_b_in_32_bits", 0,
                      "the place of a row of B, its number times the leading dimension, is 32 bits wide",
                      "offsets of int in a kernel, products of sizes in 32 bits", kNumeric | kSimt);

template <class T, Fault F>
void run(const P<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const Index rows = out.C.rows;
  if (out.C.cols == 0) return;
  if (F >= Fault::last_part) {
    T* partial =
        static_cast<T*>(context.workspace((in.A.nnz + 1) * out.C.cols * static_cast<Index>(sizeof(T))));
    launch(spmm_mutant_parts<T, F>, rows, kThreads, 0, context.stream, in, out, partial);
  } else if (F >= Fault::batch_tail) {
    launch(spmm_mutant_slots<T, F>, (rows + kWarps - 1) / kWarps, kThreads, 0, context.stream, in, out);
  } else {
    launch(spmm_mutant_staged<T, F>, (rows + kWarps - 1) / kWarps, kThreads, 0, context.stream, in, out);
  }
}

PLUMB_DEVICE_FAULT(columns_of_16, "device_columns_beyond_16_not_computed", 34,
                   "only whole groups of 16 columns are computed",
                   "feature widths 16 and 32 in every benchmark, 41 and 47 in the data", kNumeric);
PLUMB_DEVICE_FAULT(cut_at_32, "device_rows_cut_at_32", 35, "a warp stages 32 entries of a row, once",
                   "rows of a benchmark's graph that all fit one stage", kNumeric);
PLUMB_DEVICE_FAULT(no_barrier_after, "staged_without_warp_barrier", 8,
                   "no __syncwarp between a warp's writing its stage and reading it",
                   "a warp thought to run in lockstep, as before Volta", kRace | kSanitizer);
PLUMB_DEVICE_FAULT(no_barrier_before, "staged_over_what_is_read", 2,
                   "no __syncwarp before the next entries are staged", "one chunk per row in every test",
                   kRace | kSanitizer);
PLUMB_DEVICE_FAULT(one_stage_for_all, "staged_by_two_warps_in_one_place", 0,
                   "the stage is declared per block and used by each of its warps",
                   "a kernel of one warp a block, launched with two", kNumeric | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(chunk_tail, "staged_tail_dropped", 14,
                   "entries beyond the last whole 32 are left out where a row has more than 32",
                   "the remainder loop forgotten", kNumeric);
PLUMB_DEVICE_FAULT(batch_tail, "batch_tail_dropped", 14,
                   "entries are taken two at a time, and an odd one is left out",
                   "the remainder of an unrolled loop forgotten", kNumeric);
PLUMB_DEVICE_FAULT(batch_zero, "batch_filled_with_zero_times_row_0", 25,
                   "a broken batch is filled up with 0 times row 0 of B",
                   "padding by a zero value, which NaN and Inf do not respect", kNumeric);
PLUMB_DEVICE_FAULT(misaligned, "vector_load_whatever_the_alignment", 0,
                   "pairs are loaded as vectors, whatever ld and the base are",
                   "a float4 kernel fed with 41 columns", kSimt | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(leaves_early, "slots_without_entries_leave_before_the_shuffle", 6,
                   "a slot for which a row of one entry has none returns before the slots are added",
                   "an early exit in a kernel that sums by shuffles", kNumeric | kSimt | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(half_mask, "slots_added_with_half_a_mask", 9,
                   "the shuffle that adds two halves of a warp names one of them",
                   "a mask written for a half warp", kSimt | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(last_part, "last_part_of_a_row_lost", 30,
                   "a row has length / part parts: the last, shorter one is lost",
                   "the number of parts rounded down", kNumeric);
PLUMB_DEVICE_FAULT(part_over_part, "partial_sums_of_rows_share_a_place", 30,
                   "every row keeps the sums of its parts in the same place",
                   "a scratch array sized for one long row", kNumeric | kRepeat | kRace);
PLUMB_DEVICE_FAULT(not_cleared, "parts_added_to_what_was_there", 22,
                   "parts are added to C by atomics, and nobody cleared it",
                   "an output that the framework happened to hand over zeroed", kNumeric);
PLUMB_DEVICE_FAULT(join_first_32, "parts_beyond_32_not_joined", 30,
                   "the second pass adds the first 32 parts of a row", "a warp per cut row, a lane per part",
                   kNumeric);

// A block of a warp per row and 32 columns of C.
template <class T>
__global__ void spmm_mutant_row_per_block(In<T> in, Out<T> out) {
  const Index j = static_cast<Index>(blockIdx.x) * 32 + threadIdx.x, i = blockIdx.y;
  if (j >= out.C.cols) return;
  T sum = T(0);
  for (Index k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k)
    sum += in.A.val[k] * in.B.data[in.A.col[k] * in.B.ld + j];
  out.C.data[i * out.C.ld + j] = sum;
}

template <class T>
void run_cut_grid(const P<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr Index kMostBlocksDown = 65535;
  const Index down = in.A.rows < kMostBlocksDown ? in.A.rows : kMostBlocksDown;
  launch(spmm_mutant_row_per_block<T>,
         Grid(static_cast<unsigned>((out.C.cols + 31) / 32), static_cast<unsigned>(down)), 32, 0,
         context.stream, in, out);
}
const DeviceMutant<Spmm> cut_grid_m{"grid_cut_at_65535_blocks",
                                    run_cut_grid<float>,
                                    run_cut_grid<double>,
                                    {15, "rows behind the first 65,535 are not computed",
                                     "a grid's y held within its limit, and no loop over the rest", kNumeric},
                                    Traits{}};

}  // namespace
}  // namespace plumb
