// Planted faults of a device's tall and skinny product, each a thing changed in a right kernel: one whose rows of X arrive by bulk copies
// (cp.async.bulk, mbarrier) in a ring of two stages for a block, one that has a warp of its own for those copies, as rung 19 has, and one
// whose warps gather rows of Y. Fault::none is right; nothing registers it.
#include "gpu/device/kernel.hpp"
#include "reference/ops/skinny_gemm.hpp"
#include "verify/mutants/device/device_mutant.hpp"

namespace plumb {
namespace {

PLUMB_DEVICE_FAULTS_OF(SkinnyGemm);

constexpr int kRows = 4, kMostK = 128, kStages = 2, kThreads = 96, kBlocks = 2;

enum class Fault {
  none,
  no_wait,
  parity_kept,
  refilled_early,
  announced_after,
  row_by_row,
  whole_tiles,
  gathered_overwritten,
  refilled_unread,
  freed_by_one_lane,
  end_after_arrival
};

template <class T, Fault F>
__global__ void skinny_mutant(In<T> in, Out<T> out, bool bulk) {
#if PLUMB_SM_AT_LEAST(90)
  alignas(128) __shared__ T stages[kStages][kRows * kMostK];
  __shared__ Mbarrier full[kStages];
  const Index tiles = (out.Y.rows + kRows - 1) / kRows;
  const int k = static_cast<int>(in.X.cols), n = static_cast<int>(out.Y.cols);
  const auto rows_of = [&](Index tile) {
    const Index left = out.Y.rows - tile * kRows;
    return left < kRows ? static_cast<int>(left) : kRows;
  };
  const auto start = [&](Index tile) {
    if (tile >= tiles) return;
    const int s = static_cast<int>(tile / gridDim.x % kStages), row = k * static_cast<int>(sizeof(T)),
              bytes = rows_of(tile) * row;
    const T* from = in.X.data + tile * kRows * k;
    if (F == Fault::row_by_row) {  // all arrive for the first row, and so for the others
      mbarrier_arrive_expect(full + s, row);
      for (int r = 0; r < rows_of(tile); ++r) {
        if (r > 0) mbarrier_arrive_expect(full + s, row);
        bulk_copy(stages[s] + r * k, from + r * k, row, full + s);
      }
    } else if (F == Fault::announced_after) {
      mbarrier_arrive(full + s);
      bulk_copy(stages[s], from, bytes, full + s);
    } else {
      mbarrier_arrive_expect(full + s, bytes);
      bulk_copy(stages[s], from, bytes, full + s);
    }
  };
  if (bulk && threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) mbarrier_init(full + s, 1);
    mbarrier_fence_init();
    for (int s = 0; s < kStages; ++s) start(blockIdx.x + static_cast<Index>(s) * gridDim.x);
  }
  __syncthreads();
  int round = 0;
  for (Index tile = blockIdx.x; tile < tiles; tile += gridDim.x, ++round) {
    const int s = round % kStages, parity = F == Fault::parity_kept ? 0 : round / kStages % 2;
    if (bulk && (F != Fault::no_wait || round == 0)) mbarrier_wait(full + s, parity);
    const int rows = F == Fault::whole_tiles && bulk ? kRows : rows_of(tile);
    for (int e = static_cast<int>(threadIdx.x); e < rows * n; e += kThreads) {
      const int r = e / n, j = e % n;
      T sum = T(0);
      for (int kk = 0; kk < k; ++kk)
        sum += (bulk ? stages[s][r * k + kk] : in.X(tile * kRows + r, kk)) * in.W(kk, j);
      if (r < rows_of(tile)) out.Y(tile * kRows + r, j) = sum;
    }
    if (F != Fault::refilled_early) __syncthreads();
    if (bulk && threadIdx.x == 0) start(tile + kStages * static_cast<Index>(gridDim.x));
  }
#endif
}

template <class T, Fault F>
void run(const P<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const Index k = in.X.cols;
  const bool bulk = reinterpret_cast<std::uintptr_t>(in.X.data) % 16 == 0 && in.X.ld == k && k > 0 &&
                    k <= kMostK && k * static_cast<Index>(sizeof(T)) % 16 == 0;
  launch(skinny_mutant<T, F>, kBlocks, kThreads, 0, context.stream, in, out, bulk);
}

constexpr int kReaders = 2;  // warps

// By one lane: brings rows [tile kRows, + rows) to a stage, the last elements that make no 16 bytes by plain stores.
template <Fault F, class T>
PLUMB_DEVICE void bring_whole_rows(const In<T>& in, Index tile, int rows, T* stage, Mbarrier* full) {
  const T* const from = in.X.data + tile * kRows * in.X.cols;
  const int elements = rows * static_cast<int>(in.X.cols), kV = 16 / static_cast<int>(sizeof(T)),
            whole = elements / kV * kV, bytes = whole * static_cast<int>(sizeof(T));
  const auto bring_end = [&] {
    for (int e = whole; e < elements; ++e) stage[e] = from[e];
  };
  if (F != Fault::end_after_arrival) bring_end();
  mbarrier_arrive_expect(full, bytes);
  if (whole > 0) bulk_copy(stage, from, bytes, full);
  if (F == Fault::end_after_arrival) bring_end();
}

// Two warps read the stages, and give them back to a third, which starts the copies.
template <class T, Fault F>
__global__ void skinny_mutant_copy_warp(In<T> in, Out<T> out) {
#if PLUMB_SM_AT_LEAST(90)
  alignas(128) __shared__ T stages[kStages][kRows * kMostK];
  __shared__ Mbarrier full[kStages], empty[kStages];
  const int lane = static_cast<int>(threadIdx.x) % 32, k = static_cast<int>(in.X.cols),
            n = static_cast<int>(out.Y.cols);
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) mbarrier_init(full + s, 1), mbarrier_init(empty + s, kReaders);
    mbarrier_fence_init();
  }
  __syncthreads();
  int round = 0;
  for (Index tile = blockIdx.x; tile * kRows < out.Y.rows; tile += gridDim.x, ++round) {
    const int s = round % kStages, parity = round / kStages % 2;
    const Index left = out.Y.rows - tile * kRows;
    const int rows = left < kRows ? static_cast<int>(left) : kRows;
    if (threadIdx.x >= 32 * kReaders) {
      if (lane > 0) continue;
      if (F != Fault::refilled_unread && round >= kStages) mbarrier_wait(empty + s, parity ^ 1);
      bring_whole_rows<F>(in, tile, rows, stages[s], full + s);
      continue;
    }
    mbarrier_wait(full + s, parity);
    for (int e = static_cast<int>(threadIdx.x); e < rows * n; e += 32 * kReaders) {
      T sum = T(0);
      for (int kk = 0; kk < k; ++kk) sum += stages[s][e / n * k + kk] * in.W(kk, e % n);
      out.Y(tile * kRows + e / n, e % n) = sum;
    }
    if (F != Fault::freed_by_one_lane) __syncwarp();
    if (lane == 0) mbarrier_arrive(empty + s);
  }
#endif
}

template <class T, Fault F>
void run_copy_warp(const P<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const bool whole_rows = reinterpret_cast<std::uintptr_t>(in.X.data) % 16 == 0 && in.X.ld == in.X.cols &&
                          in.X.cols > 0 && in.X.cols <= kMostK;
  if (whole_rows)
    launch(skinny_mutant_copy_warp<T, F>, kBlocks, 32 * (kReaders + 1), 0, context.stream, in, out);
  else
    launch(skinny_mutant<T, Fault::none>, kBlocks, kThreads, 0, context.stream, in, out, false);
}

#define PLUMB_COPY_WARP_MUTANT(fault, name, ...)                                                  \
  const DeviceMutant<SkinnyGemm> fault##_m {                                                      \
    name, run_copy_warp<float, Fault::fault>, run_copy_warp<double, Fault::fault>, {__VA_ARGS__}, \
        Traits{}.not_reproducible().needs_sm(90)                                                  \
  }

PLUMB_COPY_WARP_MUTANT(refilled_unread, "copy_warp_does_not_wait_for_readers", 2,
                       "the warp that starts the copies refills a stage that others have not read yet",
                       "the empty barriers of a ring left out with its first version", kSimt | kRace);
PLUMB_COPY_WARP_MUTANT(freed_by_one_lane, "stage_freed_by_a_lane_for_its_warp", 3,
                       "lane 0 gives a stage back while other lanes of its warp still read it",
                       "an empty barrier that counts warps, with no __syncwarp before the arrival", kRace);
PLUMB_COPY_WARP_MUTANT(end_after_arrival, "end_of_a_copy_stored_after_arrival", 2,
                       "elements that make no 16 bytes are stored behind the arrival that readers wait for",
                       "a tail added below a working copy", kRace);

constexpr int kGathered = 8, kGatheredColumns = 32;

// A warp leaves 8 rows of Y in shared memory, four lanes a row, and writes them a row at a time.
template <class T, Fault F>
__global__ void skinny_mutant_gather(In<T> in, Out<T> out) {
  __shared__ T kept[kGathered][kGatheredColumns];
  const int lane = static_cast<int>(threadIdx.x), mine = lane / 4;
  const Index rows = out.Y.rows, n = out.Y.cols, strips = (n + kGatheredColumns - 1) / kGatheredColumns,
              tiles = (rows + kGathered - 1) / kGathered * strips;
  for (Index tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const Index first = tile / strips * kGathered, j0 = tile % strips * kGatheredColumns;
    for (int c = lane % 4; c < kGatheredColumns; c += 4) {
      T sum = T(0);
      for (Index kk = 0; kk < in.X.cols && first + mine < rows && j0 + c < n; ++kk)
        sum += in.X(first + mine, kk) * in.W(kk, j0 + c);
      kept[mine][c] = sum;
    }
    __syncwarp();
    for (int r = 0; r < kGathered; ++r) {
      if (first + r < rows && j0 + lane < n) out.Y(first + r, j0 + lane) = kept[r][lane];
    }
    if (F != Fault::gathered_overwritten) __syncwarp();
  }
}

template <class T, Fault F>
void run_gather(const P<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch(skinny_mutant_gather<T, F>, kBlocks, 32, 0, context.stream, in, out);
}

const DeviceMutant<SkinnyGemm> gathered_overwritten_m{
    "gathered_rows_overwritten",
    run_gather<float, Fault::gathered_overwritten>,
    run_gather<double, Fault::gathered_overwritten>,
    {3, "no __syncwarp before a warp's next rows of Y overwrite those that other lanes still write out",
     "a barrier at a loop's end that looks like one too many", kRace}};

#define PLUMB_SKINNY_MUTANT(fault, name, ...)                                 \
  const DeviceMutant<SkinnyGemm> fault##_m {                                  \
    name, run<float, Fault::fault>, run<double, Fault::fault>, {__VA_ARGS__}, \
        Traits{}.not_reproducible().needs_sm(90).align(16)                    \
  }

PLUMB_SKINNY_MUTANT(no_wait, "bulk_copy_waited_for_once", 11, "only the first tile's bulk copy is waited for",
                    "a wait hoisted out of a loop with its prologue", kSimt | kRace);
PLUMB_SKINNY_MUTANT(parity_kept, "mbarrier_parity_not_flipped", 11,
                    "the ring's second round waits for the parity of the first, which is over",
                    "a ring tested with as many tiles as stages", kSimt | kRace);
PLUMB_SKINNY_MUTANT(refilled_early, "bulk_stage_refilled_while_read", 2,
                    "a stage is refilled by one thread while others still read it",
                    "an empty barrier left out, for the copy takes long anyway", kSimt | kRace);
PLUMB_SKINNY_MUTANT(announced_after, "bulk_bytes_never_announced", 11,
                    "the barrier is arrived at without the bytes of the copy that completes on it",
                    "arrive written for arrive.expect_tx", kSimt | kRace);
PLUMB_SKINNY_MUTANT(row_by_row, "arrivals_for_every_row", 0,
                    "each row of a tile arrives for itself at a barrier that expects one arrival",
                    "one copy split into many, and the barrier's count left", kSimt | kRace);
PLUMB_SKINNY_MUTANT(
    whole_tiles, "rows_past_the_last_read", 0,
    "a short last tile is worked on whole: rows that nothing ever wrote are read, and their sums dropped",
    "our own rung 14, until it ran on the CPU executor", kRace);

// W in two buffers of rows by turns, so that one barrier to a step is enough; a last step of two rows of W is staged by one warp alone.
constexpr int kStep = 32, kStepColumns = 16, kStepThreads = 128;
template <class T>
__global__ void skinny_mutant_steps(In<T> in, Out<T> out) {
  __shared__ T w[2][kStep][kStepColumns];
  const int thread = static_cast<int>(threadIdx.x);
  const Index row = static_cast<Index>(blockIdx.x) * kStepThreads + thread,
              j0 = static_cast<Index>(blockIdx.y) * kStepColumns, depth = in.W.rows, n = in.W.cols;
  T sum[kStepColumns] = {};
  for (Index k0 = 0; k0 < depth; k0 += kStep) {
    const int steps = static_cast<int>(depth - k0 < kStep ? depth - k0 : kStep);
    T(*const staged)[kStepColumns] = w[k0 / kStep % 2];
    for (int e = thread; e < steps * kStepColumns; e += kStepThreads) {
      const int k = e / kStepColumns, j = e % kStepColumns;
      staged[k][j] = j0 + j < n ? in.W(k0 + k, j0 + j) : T(0);
    }
    if (steps == 2 && k0 > 0)  // the fault
      __syncwarp();
    else
      __syncthreads();
    for (int k = 0; k < steps && row < out.Y.rows; ++k) {
      for (int j = 0; j < kStepColumns; ++j) sum[j] += in.X(row, k0 + k) * staged[k][j];
    }
  }
  for (int j = 0; j < kStepColumns && row < out.Y.rows; ++j) {
    if (j0 + j < n) out.Y(row, j0 + j) = sum[j];
  }
}
template <class T>
void run_steps(const P<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const auto pieces = [](Index all, Index of_one) {
    return static_cast<unsigned>((all + of_one - 1) / of_one);
  };
  launch(skinny_mutant_steps<T>, Grid(pieces(out.Y.rows, kStepThreads), pieces(out.Y.cols, kStepColumns)),
         kStepThreads, 0, context.stream, in, out);
}
PLUMB_DEVICE_FAULT_BY(
    run_steps, "last_two_rows_staged_with_no_block_barrier", 7,
    "two rows of W behind whole steps of 32 are staged by one warp, and read by all with no barrier of the "
    "block",
    "a short tail that one warp copies, and the warp's barrier that goes with it", kRace);

}  // namespace
}  // namespace plumb
