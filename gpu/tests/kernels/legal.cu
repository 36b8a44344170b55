// Test kernels whose synchronisation is unusual and legal, each with the subtle mistake that looks like it: queues, hand-overs between
// blocks, locks, pipelines, ping-pong buffers, convergence loops.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "gpu/device/groups.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace cg = cooperative_groups;

namespace {

#pragma nv_diag_suppress static_var_with_dynamic_init

// A whole block hands its values to the next: all write, one raises the flag; one polls, all read.
template <bool Right>
__global__ void block_hand_over_kernel(int* data, int* flag, int* out) {
  const int t = static_cast<int>(threadIdx.x);
  if (blockIdx.x == 0) {
    data[t] = t + 1;  // <- hand over write
    if (Right) __syncthreads();
    if (t == 0) {
      __threadfence();
      atomicExch(flag, 1);
    }
  } else {
    if (t == 0) {
      while (*static_cast<volatile int*>(flag) == 0) {}
      __threadfence();
    }
    __syncthreads();
    out[t] = data[static_cast<int>(blockDim.x) - 1 - t];  // <- hand over read
  }
}

// A block looks for a flag between two of its barriers, by which its threads stay together, until another block has raised it.
template <bool Right>
__global__ void throttled_wait_kernel(int* data, int* flag, int* out, int waiting) {
  __shared__ int seen;
  const int t = static_cast<int>(threadIdx.x), block = static_cast<int>(blockIdx.x);
  if (block == waiting) {
    bool done = false;
    while (!done) {
      if (t == 0) {
        seen = *static_cast<volatile int*>(flag);
        __threadfence();
      }
      __syncthreads();
      done = seen != 0;
      __syncthreads();
    }
    out[t] = *data;  // <- throttled read
  } else if (t == 0) {
    *data = 7;  // <- throttled write
    if (Right) __threadfence();
    atomicExch(flag, 1);
  }
}

// Block 1 passes on what block 0 wrote without touching it: fences add up over a chain of flags.
template <bool Right>
__global__ void relay_kernel(int* data, int* flags, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 5;  // <- relay write
    __threadfence();
    atomicExch(&flags[0], 1);
  } else if (blockIdx.x == 1) {
    while (atomicAdd(&flags[0], 0) == 0) {}
    if (Right) __threadfence();
    atomicExch(&flags[1], 1);
  } else {
    while (atomicAdd(&flags[1], 0) == 0) {}
    __threadfence();
    *out = *data;  // <- relay read
  }
}

// Blocks draw work until there is none: the ticket travels through shared memory, with a barrier on both sides.
template <bool Right>
__global__ void work_queue_kernel(int* next, int items, int* out) {
  __shared__ int item;
  while (true) {
    if (threadIdx.x == 0) item = atomicAdd(next, 1);  // <- queue write
    __syncthreads();
    const int mine = item;  // <- queue read
    if (Right) __syncthreads();
    if (mine >= items) return;
    out[mine * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)] = mine;
  }
}

// One atomic for all lanes that have something to append.
template <bool Right>
__global__ void aggregated_kernel(const int* in, int n, int* count, int* out) {
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    if (in[i] % 3 != 0) continue;
    const auto active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) {
      if (Right) {
        first = atomicAdd(count, static_cast<int>(active.size()));
      } else {
        first = *count;                                    // <- aggregated read
        *count = first + static_cast<int>(active.size());  // <- aggregated write
      }
    }
    out[active.shfl(first, 0) + static_cast<int>(active.thread_rank())] = in[i];
  }
}

// A scan by shuffles; only the warps' totals meet in shared memory.
template <bool Right>
__global__ void shuffle_scan_kernel(const int* in, int* out) {
  __shared__ int totals[32];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  int v = in[t];
  for (int d = 1; d < 32; d *= 2) {
    const int from = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += from;
  }
  if (lane == 31) totals[warp] = v;  // <- scan write
  if (Right) __syncthreads();
  for (int w = 0; w < warp; ++w) v += totals[w];  // <- scan read
  out[t] = v;
}

// Three stages of a block's pipeline: copies run ahead of their use.
template <bool Right>
__global__ void block_pipeline_kernel(const int* in, int* out, int tiles) {
  constexpr int kStages = 3;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  __shared__ int stage[kStages][128];
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const int size = static_cast<int>(blockDim.x), t = static_cast<int>(threadIdx.x);
  int sum = 0;
  for (int use = 0, fetch = 0; use < tiles; ++use) {
    for (; fetch < tiles && fetch < use + kStages; ++fetch) {
      if (Right || fetch < kStages) pipe.producer_acquire();
      int* to = &stage[fetch % kStages][t];
      cuda::memcpy_async(to, in + fetch * size + t, sizeof(int), pipe);  // <- pipeline copy
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += stage[use % kStages][size - 1 - t];  // <- pipeline use
    pipe.consumer_release();
  }
  out[t] = sum;
}

// A thread's own pipeline of two stages, and one barrier a tile. The fault has one buffer.
template <bool Right>
__global__ void thread_pipeline_kernel(const int* in, int* out, int tiles) {
  __shared__ int stage[2][128];
  const int size = static_cast<int>(blockDim.x), t = static_cast<int>(threadIdx.x);
  auto pipe = cuda::make_pipeline();
  int sum = 0;
  pipe.producer_acquire();
  cuda::memcpy_async(&stage[0][t], in + t, sizeof(int), pipe);
  pipe.producer_commit();
  for (int k = 0; k < tiles; ++k) {
    pipe.consumer_wait();
    __syncthreads();  // this tile has come for all, and the one before it has been read by all
    pipe.consumer_release();
    if (k + 1 < tiles) {
      pipe.producer_acquire();
      int* to = &stage[Right ? (k + 1) % 2 : 0][t];
      cuda::memcpy_async(to, in + (k + 1) * size + t, sizeof(int), pipe);  // <- stage copy
      pipe.producer_commit();
    }
    sum += stage[Right ? k % 2 : 0][size - 1 - t];  // <- stage use
  }
  out[t] = sum;
}

// Warp 0 produces for three warps of consumers through barriers waited for by parity.
template <bool Right>
__global__ void parity_kernel(const int* in, int* out, int rounds) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ Barrier full[2], empty[2];
  __shared__ int slot[2][32];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32;
  if (t == 0) {
    for (int i = 0; i < 2; ++i) {
      init(&full[i], 32);
      init(&empty[i], 96);
    }
  }
  __syncthreads();
  if (t < 32) {
    for (int r = 0; r < rounds; ++r) {
      empty[r % 2].wait_parity(r / 2 % 2 == 0);
      slot[r % 2][lane] = in[r * 32 + lane];  // <- parity write
      (void)full[r % 2].arrive();
    }
  } else {
    int sum = 0;
    for (int r = 0; r < rounds; ++r) {
      full[r % 2].wait_parity(r / 2 % 2 != 0);
      if (!Right) (void)empty[r % 2].arrive();
      sum += slot[r % 2][31 - lane];  // <- parity read
      if (Right) (void)empty[r % 2].arrive();
    }
    out[t - 32] = sum;
  }
}

// A lock of acquire and release around several words.
template <bool Right>
__global__ void ordered_lock_kernel(int* lock, int* words) {
  if (threadIdx.x % 32 != 0) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> gate(*lock);
  int open = 0;
  while (!gate.compare_exchange_strong(open, 1, cuda::std::memory_order_acquire)) open = 0;
  for (int i = 0; i < 4; ++i) words[i] += i;  // <- ordered lock
  gate.store(0, Right ? cuda::std::memory_order_release : cuda::std::memory_order_relaxed);
}

// A ticket lock whose scope is the block: right within one, wrong between two.
template <bool Right>
__global__ void scoped_ticket_kernel(unsigned* tickets, unsigned* serving, int* value) {
  if (threadIdx.x % 32 != 0) return;
  constexpr cuda::thread_scope kScope = Right ? cuda::thread_scope_device : cuda::thread_scope_block;
  cuda::atomic_ref<unsigned, kScope> next(*tickets), now(*serving);
  const unsigned ticket = next.fetch_add(1u, cuda::std::memory_order_relaxed);  // <- ticket
  while (now.load(cuda::std::memory_order_acquire) != ticket) {}
  *value += 1;
  now.store(ticket + 1, cuda::std::memory_order_release);
}

// The last block to count itself in adds up, ordered by the counter's own order.
template <bool Right>
__global__ void counted_in_kernel(const int* in, int* partial, unsigned* count, int* out) {
  if (threadIdx.x != 0) return;
  partial[blockIdx.x] = in[blockIdx.x] * 2;  // <- counted write
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> finished(*count);
  const auto order = Right ? cuda::std::memory_order_acq_rel : cuda::std::memory_order_acquire;
  if (finished.fetch_add(1u, order) != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];  // <- counted read
  *out = sum;
}

// Sweeps over two buffers, with the grid's barrier between; the fault sweeps in place.
template <bool Right>
__global__ void grid_ping_pong_kernel(int* a, int* b, int sweeps) {
  const int n = static_cast<int>(gridDim.x * blockDim.x);
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  for (int s = 0; s < sweeps; ++s) {
    int* from = Right && s % 2 != 0 ? b : a;
    int* to = Right && s % 2 == 0 ? b : a;
    to[i] = from[(i + 1) % n];  // <- sweep
    cg::this_grid().sync();
  }
}

// Tiles of sixteen lanes exchange through shared memory with a barrier of their own.
template <bool Right>
__global__ void tile_exchange_kernel(const int* in, int* out) {
  __shared__ int s[256];
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int t = static_cast<int>(threadIdx.x), first = static_cast<int>(tile.meta_group_rank()) * 16;
  int v = in[t];
  for (int round = 0; round < 3; ++round) {
    s[t] = v;  // <- tile write
    tile.sync();
    v = s[first + 15 - static_cast<int>(tile.thread_rank())] + 1;  // <- tile read
    if (Right) tile.sync();
  }
  out[t] = v;
}

// Half of a warp writes for the other half. A barrier of each half alone orders nothing between them.
template <bool Right>
__global__ void half_warps_kernel(const int* in, int* out) {
  __shared__ int s[16];
  const unsigned lane = threadIdx.x;
  if (lane < 16) s[lane] = in[lane];  // <- half write
  __syncwarp(Right ? 0xffffffffu : lane < 16 ? 0x0000ffffu : 0xffff0000u);
  if (lane >= 16) out[lane - 16] = s[31 - lane];  // <- half read
}

// Until nothing changes: a vote that is a barrier too.
template <bool Right>
__global__ void convergence_kernel(const int* in, int* out) {
  __shared__ int s[256];
  const unsigned t = threadIdx.x, n = blockDim.x;
  s[t] = in[t];
  __syncthreads();
  int changed = 0;
  do {
    const int next = s[(t + 1) % n];  // <- settle read
    if (Right) __syncthreads();
    changed = next < s[t] ? 1 : 0;
    if (changed != 0) s[t] = next;  // <- settle write
  } while (__syncthreads_or(changed) != 0);
  out[t] = s[t];
}

// Keys are claimed by compare-and-swap, values added by atomics; what was claimed is read plainly only by a later launch.
template <bool Right>
__global__ void hash_kernel(const int* in, int n, int* keys, int* values, int* seen) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  for (int at = in[i] % 16;; at = (at + 1) % 16) {
    const int before = atomicCAS(&keys[at], -1, in[i]);
    if (before != -1 && before != in[i]) continue;
    atomicAdd(&values[at], 1);         // <- hash add
    if (!Right) seen[i] = values[at];  // <- hash read
    return;
  }
}
__global__ void hash_read_kernel(const int* values, int* seen) { seen[threadIdx.x] = values[threadIdx.x]; }

// A producing and a consuming warp, each with the block's barriers in its own branch, equally many. The fault reads a round too soon.
template <bool Right>
__global__ void barriers_by_role_kernel(const int* in, int* out, int rounds) {
  __shared__ int slot[2][32];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x < 32) {
    for (int r = 0; r < rounds; ++r) {
      slot[r % 2][lane] = in[r * 32 + lane];  // <- role write
      __syncthreads();
    }
  } else {
    int sum = 0;
    for (int r = 0; r < rounds; ++r) {
      if (Right) __syncthreads();
      sum += slot[r % 2][31 - lane];  // <- role read
      if (!Right) __syncthreads();
    }
    out[lane] = sum;
  }
}

}  // namespace

namespace plumb::simt_test {

void block_hand_over(Form f, int threads, int* data, int* flag, int* out) {
  device_fill(flag, 0, sizeof(int), nullptr);
  launch(f == Form::right ? block_hand_over_kernel<true> : block_hand_over_kernel<false>, 2, threads, 0,
         nullptr, data, flag, out);
}
void relay(Form f, int* data, int* flags, int* out) {
  device_fill(flags, 0, 2 * sizeof(int), nullptr);
  launch(f == Form::right ? relay_kernel<true> : relay_kernel<false>, 3, 32, 0, nullptr, data, flags, out);
}
void work_queue(Form f, int blocks, int threads, int* next, int items, int* out) {
  device_fill(next, 0, sizeof(int), nullptr);
  launch(f == Form::right ? work_queue_kernel<true> : work_queue_kernel<false>, blocks, threads, 0, nullptr,
         next, items, out);
}
void aggregated(Form f, int blocks, const int* in, int n, int* count, int* out) {
  device_fill(count, 0, sizeof(int), nullptr);
  launch(f == Form::right ? aggregated_kernel<true> : aggregated_kernel<false>, blocks, 64, 0, nullptr, in, n,
         count, out);
}
void shuffle_scan(Form f, int threads, const int* in, int* out) {
  launch(f == Form::right ? shuffle_scan_kernel<true> : shuffle_scan_kernel<false>, 1, threads, 0, nullptr,
         in, out);
}
void block_pipeline(Form f, int threads, const int* in, int* out, int tiles) {
  launch(f == Form::right ? block_pipeline_kernel<true> : block_pipeline_kernel<false>, 1, threads, 0,
         nullptr, in, out, tiles);
}
void thread_pipeline(Form f, int threads, const int* in, int* out, int tiles) {
  launch(f == Form::right ? thread_pipeline_kernel<true> : thread_pipeline_kernel<false>, 1, threads, 0,
         nullptr, in, out, tiles);
}
void parity_ring(Form f, const int* in, int* out, int rounds) {
  launch(f == Form::right ? parity_kernel<true> : parity_kernel<false>, 1, 128, 0, nullptr, in, out, rounds);
}
void ordered_lock(Form f, int blocks, int threads, int* lock, int* words) {
  device_fill(lock, 0, sizeof(int), nullptr);
  device_fill(words, 0, 4 * sizeof(int), nullptr);
  launch(f == Form::right ? ordered_lock_kernel<true> : ordered_lock_kernel<false>, blocks, threads, 0,
         nullptr, lock, words);
}
void scoped_ticket(Form f, int blocks, unsigned* tickets, unsigned* serving, int* value) {
  device_fill(tickets, 0, sizeof(unsigned), nullptr);
  device_fill(serving, 0, sizeof(unsigned), nullptr);
  device_fill(value, 0, sizeof(int), nullptr);
  launch(f == Form::right ? scoped_ticket_kernel<true> : scoped_ticket_kernel<false>, blocks, 64, 0, nullptr,
         tickets, serving, value);
}
void counted_in(Form f, int blocks, const int* in, int* partial, unsigned* count, int* out) {
  device_fill(count, 0, sizeof(unsigned), nullptr);
  launch(f == Form::right ? counted_in_kernel<true> : counted_in_kernel<false>, blocks, 32, 0, nullptr, in,
         partial, count, out);
}
void grid_ping_pong(Form f, int blocks, int threads, int* a, int* b, int sweeps) {
  launch_cooperative(f == Form::right ? grid_ping_pong_kernel<true> : grid_ping_pong_kernel<false>, blocks,
                     threads, 0, nullptr, a, b, sweeps);
}
void tile_exchange(Form f, int threads, const int* in, int* out) {
  launch(f == Form::right ? tile_exchange_kernel<true> : tile_exchange_kernel<false>, 1, threads, 0, nullptr,
         in, out);
}
void half_warps(Form f, const int* in, int* out) {
  launch(f == Form::right ? half_warps_kernel<true> : half_warps_kernel<false>, 1, 32, 0, nullptr, in, out);
}
void convergence(Form f, int threads, const int* in, int* out) {
  launch(f == Form::right ? convergence_kernel<true> : convergence_kernel<false>, 1, threads, 0, nullptr, in,
         out);
}
void throttled_wait(Form f, int waiting, int* data, int* flag, int* out) {
  device_fill(flag, 0, sizeof(int), nullptr);
  launch(f == Form::right ? throttled_wait_kernel<true> : throttled_wait_kernel<false>, 2, 64, 0, nullptr,
         data, flag, out, waiting);
}
void hash_claims(Form f, const int* in, int n, int* keys, int* values, int* seen) {
  device_fill(keys, 0xff, 16 * sizeof(int), nullptr);
  device_fill(values, 0, 16 * sizeof(int), nullptr);
  launch(f == Form::right ? hash_kernel<true> : hash_kernel<false>, (n + 31) / 32, 32, 0, nullptr, in, n,
         keys, values, seen);
  if (f == Form::right) launch(hash_read_kernel, 1, 16, 0, nullptr, static_cast<const int*>(values), seen);
}

void barriers_by_role(Form f, const int* in, int* out, int rounds) {
  launch(f == Form::right ? barriers_by_role_kernel<true> : barriers_by_role_kernel<false>, 1, 64, 0, nullptr,
         in, out, rounds);
}

}  // namespace plumb::simt_test
