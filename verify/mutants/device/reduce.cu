// Planted faults of reductions on a device: a block sums its share by a tree in shared memory, by shuffles, or by atomics, and each
// fault is one thing changed in it.
#include "reference/core/error.hpp"
#include "reference/ops/reduce.hpp"
#include "verify/mutants/device/device_mutant.hpp"

namespace plumb {
namespace {

PLUMB_DEVICE_FAULTS_OF(Reduce);

constexpr int kThreads = 256;
constexpr unsigned kAllLanes = 0xffffffffu;

enum class Fault {
  none,
  zero_fill_races,
  no_syncwarp,
  mask_ff,
  mask_1f,
  inactive_lane,
  zeroed_by_first_block,
  plain_add,
  no_threadfence,
  block_fence,
  other_stream,
  default_stream,
  early_event,
  late_fork,
  early_dependents,
  error_swallowed,
  not_cleared,
  own_memory_not_cleared,
  loses_nan,
  sentinel,
  default_block_only,
  two_rounds_left,
};

template <class T>
PLUMB_DEVICE T join(bool max, T a, T b) {
  if (!max) return a + b;
  return a >= b || a != a ? a : b;  // NaN on either side stays
}
template <class T>
PLUMB_DEVICE T nothing(bool max) {
  return max ? static_cast<T>(-INFINITY) : T(0);
}

// The block's share, element by element.
template <class T, Fault F>
PLUMB_DEVICE T share(bool max, const T* x, Index n) {
  T mine = F == Fault::sentinel && max ? static_cast<T>(-3.402823466e+38) : nothing<T>(max);
  // the fault strides by the block size it was written for
  const Index stride =
      static_cast<Index>(gridDim.x) * (F == Fault::default_block_only ? kThreads : blockDim.x);
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    if (F == Fault::loses_nan && max)
      mine = x[i] > mine ? x[i] : mine;
    else
      mine = join(max, mine, x[i]);
  }
  return mine;
}

// Vectors of 16 bytes in rounds of a grid as large as the executor's device, four rounds at a time and then what is left: three at most.
template <class T>
PLUMB_DEVICE T share_in_rounds(bool max, const T* x, Index n) {
  constexpr int kLanes = 16 / sizeof(T);
  struct alignas(16) Vector {
    T lane[kLanes];
  };
  const Index thread = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x,
              stride = static_cast<Index>(gridDim.x) * blockDim.x;
  T mine = nothing<T>(max);
  const auto take = [&](Index vector) {
    const Vector held = reinterpret_cast<const Vector*>(x)[vector];
    for (int l = 0; l < kLanes; ++l) mine = join(max, mine, held.lane[l]);
  };
  const Index vectors = n / kLanes;
  Index i = thread;
  for (; i + 3 * stride < vectors; i += 4 * stride) {
    for (int u = 0; u < 4; ++u) take(i + u * stride);
  }
  for (int left = 0; left < 2 && i < vectors; ++left, i += stride) take(i);
  if (vectors * kLanes + thread < n) mine = join(max, mine, x[vectors * kLanes + thread]);
  return mine;
}
template <class T>
__global__ void reduce_mutant_rounds(bool max, const T* x /* (n), on 16 bytes */, Index n,
                                     T* partial /* (blocks) */) {
  __shared__ T scratch[kThreads];
  scratch[threadIdx.x] = share_in_rounds(max, x, n);
  __syncthreads();
  if (threadIdx.x != 0) return;
  T all = nothing<T>(max);
  for (int t = 0; t < kThreads; ++t) all = join(max, all, scratch[t]);
  partial[blockIdx.x] = all;
}

// Tree in shared memory down to a warp, which ends by itself.
template <class T, Fault F>
__global__ void reduce_mutant_tree(bool max, const T* x /* (n) */, Index n, T* partial /* (blocks) */) {
  __shared__ T s[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  s[t] = share<T, F>(max, x, n);
  __syncthreads();
  for (int d = static_cast<int>(blockDim.x) / 2; d >= 32; d /= 2) {
    if (t < d) s[t] = join(max, s[t], s[t + d]);
    __syncthreads();
  }
  if (t < 32) {
    for (int d = 16; d > 0; d /= 2) {
      const T other = s[t + d];
      if (F != Fault::no_syncwarp) __syncwarp();
      s[t] = join(max, s[t], other);
      if (F != Fault::no_syncwarp) __syncwarp();
    }
  }
  if (t == 0) partial[blockIdx.x] = s[0];
}

// By shuffles, with a place in shared memory for each warp.
template <class T, Fault F>
__global__ void reduce_mutant_shuffle(bool max, const T* x /* (n) */, Index n, T* partial /* (blocks) */) {
  __shared__ T scratch[32];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  if (warp == 0) scratch[lane] = nothing<T>(max);
  if (F != Fault::zero_fill_races) __syncthreads();
  T mine = share<T, F>(max, x, n);
  if (F == Fault::inactive_lane) {
    if (static_cast<Index>(blockIdx.x) * blockDim.x + t < n) {
      for (int d = 16; d > 0; d /= 2) mine = join(max, mine, __shfl_down_sync(__activemask(), mine, d));
    }
  } else {
    const unsigned mask = F == Fault::mask_ff ? 0xffu : F == Fault::mask_1f ? 0x1fu : kAllLanes;
    for (int d = 16; d > 0; d /= 2) mine = join(max, mine, __shfl_down_sync(mask, mine, d));
  }
  if (lane == 0) scratch[warp] = mine;
  __syncthreads();
  if (warp == 0) {
    mine = scratch[lane];
    for (int d = 16; d > 0; d /= 2) mine = join(max, mine, __shfl_down_sync(kAllLanes, mine, d));
  }
  if (t == 0) partial[blockIdx.x] = mine;
}

// Sums only: every block adds its share to the result.
template <class T, Fault F>
__global__ void reduce_mutant_atomic(const T* x /* (n) */, Index n, T* result /* (1) */) {
  if (F == Fault::zeroed_by_first_block && blockIdx.x == 0 && threadIdx.x == 0) *result = T(0);
  T mine = share<T, F>(false, x, n);
  for (int d = 16; d > 0; d /= 2) mine += __shfl_down_sync(kAllLanes, mine, d);
  if (threadIdx.x % 32 != 0) return;
  if (F == Fault::plain_add)
    *result += mine;
  else
    atomicAdd(result, mine);
}

// The last block to finish folds the others' results.
template <class T, Fault F>
__global__ void reduce_mutant_last_block(bool max, const T* x /* (n) */, Index n, T* partial /* (blocks) */,
                                         unsigned* finished /* (1) */, T* result /* (1) */) {
  __shared__ bool last;
  T mine = share<T, F>(max, x, n);
  for (int d = 16; d > 0; d /= 2) mine = join(max, mine, __shfl_down_sync(kAllLanes, mine, d));
  if (threadIdx.x == 0) {  // blocks of one warp
    partial[blockIdx.x] = mine;
    if (F == Fault::block_fence) __threadfence_block();
    if (F == Fault::none) __threadfence();
    last = atomicAdd(finished, 1u) == gridDim.x - 1;
    if (F == Fault::block_fence) __threadfence_block();
    if (F == Fault::none) __threadfence();
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  mine = nothing<T>(max);
  for (unsigned b = 0; b < gridDim.x; ++b) mine = join(max, mine, partial[b]);
  *result = mine;
}

// One block of as many threads as there are elements.
template <class T>
__global__ void reduce_mutant_tree_of_any_size(bool max, const T* x /* (n) */, Index n, T* result /* (1) */) {
  __shared__ T scratch[32];
  const int t = static_cast<int>(threadIdx.x);
  T mine = t < n ? x[t] : nothing<T>(max);
  for (int d = 16; d > 0; d /= 2) mine = join(max, mine, __shfl_down_sync(kAllLanes, mine, d));
  if (t % 32 == 0) scratch[t / 32] = mine;
  __syncthreads();
  if (t != 0) return;
  for (int w = 1; w < static_cast<int>(blockDim.x) / 32; ++w) mine = join(max, mine, scratch[w]);
  *result = mine;
}

void* another_stream() {
  cudaStream_t stream = nullptr;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return nullptr;
  return stream;
}

// All of it on another stream, joined by an event: recorded before the launch that it is to stand for, or with none for what comes before.
template <class T, Fault F>
void run_beside(bool max, const In<T>& in, const Out<T>& out, Context& context) {
  static auto* const beside = static_cast<cudaStream_t>(another_stream());
  cudaEvent_t begun = nullptr, ended = nullptr;
  cudaEventCreate(&begun), cudaEventCreate(&ended);
  if (F != Fault::late_fork) {
    cudaEventRecord(begun, static_cast<cudaStream_t>(context.stream));
    cudaStreamWaitEvent(beside, begun, 0);
  }
  if (F == Fault::early_event) cudaEventRecord(ended, beside);
  launch(reduce_mutant_tree<T, Fault::none>, 1, kThreads, 0, beside, max, in.x.data, in.x.size,
         out.result.data);
  if (F != Fault::early_event) cudaEventRecord(ended, beside);
  cudaStreamWaitEvent(static_cast<cudaStream_t>(context.stream), ended, 0);
  cudaEventDestroy(begun), cudaEventDestroy(ended);
}

// The second pass is launched so that it may begin before the first has ended, and does not wait for it.
template <class T>
void run_early_dependents(bool max, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr Index kBlocks = 8;
  auto* partial = static_cast<T*>(context.workspace(kBlocks * static_cast<Index>(sizeof(T))));
  launch(reduce_mutant_tree<T, Fault::none>, kBlocks, kThreads, 0, context.stream, max, in.x.data, in.x.size,
         partial);
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute[0].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(kThreads);
  config.stream = static_cast<cudaStream_t>(context.stream);
  config.attrs = attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, reduce_mutant_tree<T, Fault::none>, max, static_cast<const T*>(partial),
                     kBlocks, out.result.data);
}

// The sum is made in memory of its own, which is taken for zeros: a device's memory often is so, when it is new.
template <class T>
void run_in_own_memory(const In<T>& in, const Out<T>& out, Context& context) {
  T* sum = nullptr;
  if (cudaMalloc(reinterpret_cast<void**>(&sum), sizeof(T)) != cudaSuccess) throw Error("cudaMalloc failed");
  launch(reduce_mutant_atomic<T, Fault::none>, 8, kThreads, 0, context.stream, in.x.data, in.x.size, sum);
  device_copy(out.result.data, sum, sizeof(T), context.stream);
  cudaFree(sum);
}

template <class T>
void run_in_rounds(bool max, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr Index kBlocks = 32;
  auto* partial = static_cast<T*>(context.workspace(kBlocks * static_cast<Index>(sizeof(T))));
  launch(reduce_mutant_rounds<T>, kBlocks, kThreads, 0, context.stream, max, in.x.data, in.x.size, partial);
  launch(reduce_mutant_tree<T, Fault::none>, 1, kThreads, 0, context.stream, max,
         static_cast<const T*>(partial), kBlocks, out.result.data);
}

template <class T, Fault F>
void run(const P<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const bool max = p.kind == Reduce::Kind::max;
  const Index n = in.x.size;
  const Index needed = (n + kThreads - 1) / kThreads;
  const Index blocks = needed < 1 ? 1 : needed > 8 ? 8 : needed;
  if (F == Fault::two_rounds_left && reinterpret_cast<std::uintptr_t>(in.x.data) % 16 == 0)
    return run_in_rounds(max, in, out, context);
  if (F == Fault::own_memory_not_cleared && !max) return run_in_own_memory(in, out, context);
  constexpr bool kAtomic =
      F == Fault::zeroed_by_first_block || F == Fault::plain_add || F == Fault::not_cleared;
  if (kAtomic && !max) {
    if (F != Fault::zeroed_by_first_block && F != Fault::not_cleared)
      device_fill(out.result.data, 0, sizeof(T), context.stream);
    launch(reduce_mutant_atomic<T, F>, blocks, kThreads, 0, context.stream, in.x.data, n, out.result.data);
    return;
  }
  if (F == Fault::no_threadfence || F == Fault::block_fence) {
    auto* partial = static_cast<T*>(context.workspace(8 * static_cast<Index>(sizeof(T))));
    auto* finished = static_cast<unsigned*>(context.workspace(sizeof(unsigned)));
    device_fill(finished, 0, sizeof(unsigned), context.stream);
    launch(reduce_mutant_last_block<T, F>, 8, 32, 0, context.stream, max, in.x.data, n, partial, finished,
           out.result.data);
    return;
  }
  if (F == Fault::error_swallowed) {
    // all of it in one block: refused beyond 1024 threads, which nobody is told
    try {
      launch(reduce_mutant_tree_of_any_size<T>, 1, static_cast<int>(n < 1 ? 32 : (n + 31) / 32 * 32), 0,
             context.stream, max, in.x.data, n, out.result.data);
    } catch (const Error&) {}
    return;
  }
  if (F == Fault::other_stream) {
    // the copy of the result waits for nothing
    static void* const copies = another_stream();
    auto* sums = static_cast<T*>(context.workspace(2 * static_cast<Index>(sizeof(T))));
    launch(reduce_mutant_tree<T, Fault::none>, 1, kThreads, 0, context.stream, max, in.x.data, n, sums);
    device_copy(out.result.data, sums, sizeof(T), copies);
    return;
  }
  if (F == Fault::early_event || F == Fault::late_fork) return run_beside<T, F>(max, in, out, context);
  if (F == Fault::early_dependents) return run_early_dependents(max, in, out, context);
  constexpr bool kShuffles =
      F == Fault::zero_fill_races || F == Fault::mask_ff || F == Fault::mask_1f || F == Fault::inactive_lane;
  auto* const kernel = kShuffles ? reduce_mutant_shuffle<T, F> : reduce_mutant_tree<T, F>;
  // a small problem gets a small block
  const int threads = F == Fault::default_block_only && n < 2048 ? 64 : kThreads;
  auto* partial = static_cast<T*>(context.workspace(blocks * static_cast<Index>(sizeof(T))));
  void* const stream = F == Fault::default_stream ? nullptr : context.stream;
  launch(kernel, blocks, threads, 0, stream, max, in.x.data, n, partial);
  launch(reduce_mutant_tree<T, Fault::none>, 1, kThreads, 0, stream, max, static_cast<const T*>(partial),
         blocks, out.result.data);
}

PLUMB_DEVICE_FAULT(zero_fill_races, "zero_fill_races_with_partial_sums", 4,
                   "warp 0 clears the scratch while other warps store their sums in it",
                   "scratch sized for 32 warps, cleared because fewer run",
                   kNumeric | kRepeat | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(no_syncwarp, "last_warp_without_syncwarp", 8,
                   "the last warp reduces in shared memory without __syncwarp",
                   "code from before Volta, where a warp ran in lockstep",
                   kNumeric | kRepeat | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(mask_ff, "shuffle_mask_ff", 9, "the mask 0xff in a shuffle of 32 lanes",
                   "eight warps, eight bits", kSimt | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(mask_1f, "shuffle_mask_1f", 9, "the mask 0x1f in a shuffle of 32 lanes",
                   "31, the last lane, taken for the mask of all", kSimt | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(inactive_lane, "shuffle_from_inactive_lane", 10,
                   "lanes beyond the end do not take part, and their neighbours read from them",
                   "__activemask() inside of the bounds check", kNumeric);
PLUMB_DEVICE_FAULT(zeroed_by_first_block, "result_zeroed_by_first_block", 19,
                   "block 0 zeroes the result that all blocks add to", "a memset saved",
                   kNumeric | kRepeat | kRace);
PLUMB_DEVICE_FAULT(own_memory_not_cleared, "sum_in_memory_of_its_own_not_cleared", 22,
                   "the sum is made in memory of cudaMalloc that nobody clears", "new memory that was zero",
                   kNumeric | kSimt | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(plain_add, "plain_add_across_blocks", 20, "+= across blocks in place of atomicAdd",
                   "right in every debugger", kNumeric | kRepeat | kRace);
PLUMB_DEVICE_FAULT(no_threadfence, "last_block_without_threadfence", 21,
                   "the last block reads the others' sums with no fence on either side",
                   "the pattern of threadFenceReduction without its name", kRepeat | kRace);
PLUMB_DEVICE_FAULT(block_fence, "last_block_with_fence_of_block_scope", 21,
                   "the fences around the counter reach their own block only",
                   "__threadfence_block, which is faster, and enough in every test of one block",
                   kRepeat | kRace);
PLUMB_DEVICE_FAULT(other_stream, "result_copied_on_another_stream", 37,
                   "the result is copied on a stream that waits for no event of the kernel's",
                   "a stream for copies, added later", kNumeric | kRepeat | kRace);
PLUMB_DEVICE_FAULT(default_stream, "launched_on_the_default_stream", 0,
                   "kernels are launched on the default stream, for which the run's does not wait",
                   "<<<grid, block>>> without a stream", kRace);
PLUMB_DEVICE_FAULT(early_event, "event_recorded_before_its_launch", 0,
                   "the run waits for an event that was recorded before the launch on another stream",
                   "an event recorded where it was created", kRace);
PLUMB_DEVICE_FAULT(late_fork, "another_stream_waits_for_nothing", 0,
                   "work on another stream does not wait for what the run's stream was given before",
                   "a fork whose join alone was written", kRace);
PLUMB_DEVICE_FAULT(early_dependents, "dependent_launch_does_not_wait", 0,
                   "a launch that may begin before the one before it has ended does not wait for it",
                   "an attribute set for speed, without cudaGridDependencySynchronize()", kRace);
PLUMB_DEVICE_FAULT(error_swallowed, "error_of_the_launch_swallowed", 41,
                   "a launch that is refused is followed by a return, and the output stays as it was",
                   "`return 0` under if (error != cudaSuccess)", kNumeric | kSimt);
PLUMB_DEVICE_FAULT(not_cleared, "atomic_adds_to_uncleared_result", 22,
                   "blocks add to a result that nobody cleared", "fresh memory was zero until today",
                   kNumeric | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(loses_nan, "device_max_loses_nan", 25,
                   "a comparison with NaN is false, and the older value stays",
                   "fmaxf, which is defined to lose NaN", kNumeric);
PLUMB_DEVICE_FAULT(sentinel, "device_sentinel_for_minus_inf", 26, "-FLT_MAX stands in for -Inf",
                   "constants that were there in integer code", kNumeric);
PLUMB_DEVICE_FAULT(default_block_only, "right_for_default_block_only", 40,
                   "the stride is the default block size, whatever the block",
                   "a constant where blockDim.x belongs", kNumeric);
PLUMB_DEVICE_FAULT(two_rounds_left, "third_round_of_the_rest_lost", 0,
                   "behind loads of four rounds at a time two rounds are read, and three may be left",
                   "a loop unrolled by four whose rest was written for fewer", kNumeric);

// Blocks of one thread leave their shares, and the last of them joins these. Its counter is the plan's: the next run begins with it.
constexpr int kBlocksOfPlan = 8;
template <class T>
struct Joining {
  T parts[kBlocksOfPlan];
  unsigned finished;
};

template <class T>
__global__ void last_block_joins(P<T> p, In<T> in, Out<T> out, Joining<T>* joining) {
  const bool max = p.kind == Reduce::Kind::max;
  T mine = nothing<T>(max);
  for (Index i = blockIdx.x; i < in.x.size; i += kBlocksOfPlan) mine = join(max, mine, in.x[i]);
  joining->parts[blockIdx.x] = mine;
  __threadfence();
  if (atomicAdd(&joining->finished, 1U) != kBlocksOfPlan - 1) return;
  __threadfence();
  T all = nothing<T>(max);
  for (int b = 0; b < kBlocksOfPlan; ++b) all = join(max, all, joining->parts[b]);
  out.result[0] = all;
  if (max) atomicExch(&joining->finished, 0U);  // the fault: after a sum it is left as it is
}
template <class T>
void* joining_of(const P<T>&, const In<T>&, const Out<T>&, Context& context) {
  void* const joining = context.workspace(sizeof(Joining<T>));
  device_fill(joining, 0, sizeof(Joining<T>), context.stream);
  return joining;
}
template <class T>
void join_in_last_block(const P<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(last_block_joins<T>, kBlocksOfPlan, 1, 0, context.stream, p, in, out,
         static_cast<Joining<T>*>(context.plan));
}
template <class T>
using CounterLeft = RegisterMutant<Reduce, T, Space::device>;
constexpr MutantInfo kCounterLeft{
    0, "the plan's counter of blocks is set back after a maximum alone",
    "a semaphore that one of several epilogues forgets: every later run has no last block",
    kNumeric | kRepeat};
const CounterLeft<float> counter_left_f32{
    "counter_of_plan_not_set_back", join_in_last_block<float>, kCounterLeft, {}, nullptr, joining_of<float>};
const CounterLeft<double> counter_left_f64{"counter_of_plan_not_set_back",
                                           join_in_last_block<double>,
                                           kCounterLeft,
                                           {},
                                           nullptr,
                                           joining_of<double>};

// The last block joins the parts, by a counter of the file that wraps to 0: right as long as no other call counts beside it.
__device__ unsigned finished_of_all_calls;
template <class T>
__global__ void joins_by_common_counter(bool max, const T* x /* (n) */, Index n, T* partial /* (blocks) */,
                                        T* result /* (1) */) {
  T mine = nothing<T>(max);
  for (Index i = blockIdx.x; i < n; i += gridDim.x) mine = join(max, mine, x[i]);
  partial[blockIdx.x] = mine;
  __threadfence();
  if (atomicInc(&finished_of_all_calls, gridDim.x - 1) != gridDim.x - 1) return;
  __threadfence();
  T all = nothing<T>(max);
  for (unsigned b = 0; b < gridDim.x; ++b) all = join(max, all, partial[b]);
  *result = all;
}
template <class T>
void join_by_common_counter(const P<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  auto* partial = static_cast<T*>(context.workspace(kBlocksOfPlan * static_cast<Index>(sizeof(T))));
  launch(joins_by_common_counter<T>, kBlocksOfPlan, 1, 0, context.stream, p.kind == Reduce::Kind::max,
         in.x.data, in.x.size, partial, out.result.data);
}
PLUMB_DEVICE_FAULT_BY(join_by_common_counter, "counter_of_all_calls", 0,
                      "the counter of blocks that are done is a variable of the file, which all calls share",
                      "a reduction that is alone on the device, until two streams call it at once",
                      kNumeric | kRace);

}  // namespace
}  // namespace plumb
