// Test kernels with barriers as objects, orders and scopes of libcu++, wide tiles, and large structures.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/type_traits>

#include "gpu/device/groups.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace cg = cooperative_groups;

namespace {

using Barrier = cuda::barrier<cuda::thread_scope_block>;

// Half of the block produces and half consumes, over a double buffer: each buffer has a barrier that says full and one that says empty.
template <bool Right>
__global__ void specialised_kernel(const int* in, int* out, int rounds) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier full[2], empty[2];
  __shared__ int buffer[2][64];
  const int t = static_cast<int>(threadIdx.x) % 64;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) {
      init(&full[i], 128);
      init(&empty[i], 128);
    }
  }
  __syncthreads();
  if (threadIdx.x < 64) {
    for (int r = 0; r < rounds; ++r) {
      empty[r % 2].arrive_and_wait();
      buffer[r % 2][t] = in[r * 64 + t];  // <- object write
      (void)full[r % 2].arrive();
    }
  } else {
    int sum = 0;
    (void)empty[0].arrive();
    (void)empty[1].arrive();
    for (int r = 0; r < rounds; ++r) {
      if (Right) {
        full[r % 2].arrive_and_wait();
      } else {
        (void)full[r % 2].arrive();
      }
      sum += buffer[r % 2][63 - t];  // <- object read
      if (r + 2 < rounds) (void)empty[r % 2].arrive();
    }
    out[t] = sum;
  }
}

// One thread brings a tile by a bulk copy whose bytes the barrier waits for. The fault does not wait.
template <bool Right>
__global__ void bulk_tile_kernel(const int* in, int* out) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier full;
  alignas(16) __shared__ int tile[128];
  if (threadIdx.x == 0) {
    init(&full, static_cast<int>(blockDim.x));
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(tile, in, cuda::aligned_size_t<16>(sizeof(tile)),
                                  full);  // <- bulk tile copy
    token = cuda::device::barrier_arrive_tx(full, 1, sizeof(tile));
  } else {
    token = full.arrive();
  }
  if (Right) full.wait(cuda::std::move(token));
  out[threadIdx.x] = tile[127 - threadIdx.x];  // <- bulk tile read
}

// A value handed on with release and acquire; relaxed is not enough.
template <bool Right>
__global__ void ordered_flag_kernel(int* data, int* flag, int* out) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (blockIdx.x == 0) {
    *data = 6;  // <- ordered write
    f.store(1, Right ? cuda::std::memory_order_release : cuda::std::memory_order_relaxed);
  } else {
    while (f.load(cuda::std::memory_order_acquire) == 0) {}
    *out = *data * 7;  // <- ordered read
  }
}

// Blocks meet at a barrier in device memory, at which the last to arrive adds up. The fault reads before it waits.
struct AddUp {
  int *parts, *sum;
  __host__ __device__ void operator()() const { *sum += parts[0] + parts[1] + parts[2]; }
};
using Meeting = cuda::barrier<cuda::thread_scope_device, AddUp>;

__global__ void open_meeting_kernel(Meeting* meeting, int* parts, int* sum) {
  init(meeting, 3, AddUp{parts, sum});
  *sum = 0;
}

template <bool Right>
__global__ void meeting_kernel(Meeting* meeting, int* parts, const int* sum, int* out) {
  if (threadIdx.x != 0) return;
  const auto b = static_cast<int>(blockIdx.x);
  for (int round = 0; round < 2; ++round) {
    parts[b] = b + 1 + round;  // <- meeting write
    auto token = meeting->arrive();
    if (Right) meeting->wait(cuda::std::move(token));
    out[3 * round + b] = *sum;  // <- meeting read
    if (!Right) meeting->wait(cuda::std::move(token));
    meeting->arrive_and_wait();
  }
}

// Threads take turns at a value behind a semaphore and count down a latch; another waits for it, and a last one for that. The fault does
// not wait for the latch.
template <bool Right>
__global__ void semaphore_kernel(int* out) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::binary_semaphore<cuda::thread_scope_block> turn;
  using Latch = cuda::latch<cuda::thread_scope_block>;
  alignas(Latch) __shared__ unsigned char latch[sizeof(Latch)];
  Latch& done = *reinterpret_cast<Latch*>(latch);
  __shared__ cuda::std::make_signed_t<unsigned> sum;
  __shared__ cuda::atomic<int, cuda::thread_scope_block> told;
  if (threadIdx.x == 0) {
    new (&turn) cuda::binary_semaphore<cuda::thread_scope_block>(1);
    new (latch) Latch(2);
    told.store(0, cuda::std::memory_order_relaxed);
    sum = 0;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0 && threadIdx.x < 64) {
    turn.acquire();
    sum += static_cast<int>(threadIdx.x) + 1;
    turn.release();
    done.count_down();
  } else if (threadIdx.x == 64) {
    if (Right) done.wait();
    out[0] = sum;  // <- semaphore read
    told.store(1, cuda::std::memory_order_release);
    told.notify_all();
  } else if (threadIdx.x == 65) {
    told.wait(0, cuda::std::memory_order_acquire);
    out[1] = 2 * out[0];
  }
}

template <bool Right>
__global__ void split_barrier_kernel(const int* in, int* out) {
  __shared__ int s[256];
  const auto block = cg::this_thread_block();
  s[threadIdx.x] = in[threadIdx.x];  // <- split write
  auto token = block.barrier_arrive();
  const int own = in[threadIdx.x] * 10;
  if (Right) block.barrier_wait(cuda::std::move(token));
  out[threadIdx.x] = own + s[blockDim.x - 1 - threadIdx.x];  // <- split read
}

template <bool Right>
__global__ void wide_tiles_kernel(const int* in, int* out) {
  __shared__ int s[256];
  __shared__ cg::block_tile_memory<256> scratch;
  const auto block = cg::this_thread_block(scratch);
  const auto tile = cg::tiled_partition<64>(block);
  const unsigned first = tile.meta_group_rank() * 64;
  s[threadIdx.x] = in[threadIdx.x];  // <- wide write
  if (Right) tile.sync();
  out[threadIdx.x] = s[first + 63 - tile.thread_rank()];  // <- wide read
}

struct Large {
  float value[40];
};

template <bool Right>
__global__ void large_kernel(const Large* in, Large* out) {
  __shared__ Large slot;
  if (threadIdx.x == 0) slot = in[0];  // <- large write
  if (Right) __syncthreads();
  out[threadIdx.x] = slot;  // <- large read
}

struct Shape {
  __device__ explicit Shape(int n) : sides(n) {}
  __device__ virtual ~Shape() {}
  __device__ virtual int area() const { return sides; }
  int sides;
};
struct Square : Shape {
  __device__ explicit Square(int n) : Shape(n) {}
  __device__ int area() const override { return sides * sides; }
};

enum class Mistake : int { none, beyond, unwritten, freed_twice, kept };

template <Mistake M>
__global__ void heap_kernel(int* out) {
  const int t = threadIdx.x;
  int* const four = static_cast<int*>(malloc(4 * sizeof(int)));
  for (int i = 0; i < (M == Mistake::unwritten ? 3 : 4); ++i) four[i] = t + i;
  Shape* const shape = t % 2 == 0 ? new Square(t) : new Shape(t);
  int* const more = new int[2]{t, t};
  out[t] = four[M == Mistake::beyond ? 4 : 3] + shape->area() + more[1];  // <- heap load
  free(four);
  if (M == Mistake::freed_twice) free(four);
  if (M != Mistake::kept) delete shape;
  delete[] more;
}

__global__ void heap_full_kernel(int* out) {
  void* const p = malloc(std::size_t{1} << 40);
  out[threadIdx.x] = p == nullptr;
}

}  // namespace

namespace plumb::simt_test {

void heap(int mistake, int* out) {
  constexpr void (*kKernels[])(int*) = {heap_kernel<Mistake::none>, heap_kernel<Mistake::beyond>,
                                        heap_kernel<Mistake::unwritten>, heap_kernel<Mistake::freed_twice>,
                                        heap_kernel<Mistake::kept>};
  launch(kKernels[mistake], 1, 32, 0, nullptr, out);
}
void heap_full(int* out) { launch(heap_full_kernel, 1, 32, 0, nullptr, out); }

void specialised(Form f, const int* in, int* out, int rounds) {
  launch(f == Form::right ? specialised_kernel<true> : specialised_kernel<false>, 1, 128, 0, nullptr, in, out,
         rounds);
}
void ordered_flag(Form f, int* data, int* flag, int* out) {
  device_fill(flag, 0, sizeof(int), nullptr);
  launch(f == Form::right ? ordered_flag_kernel<true> : ordered_flag_kernel<false>, 2, 32, 0, nullptr, data,
         flag, out);
}
void split_barrier(Form f, int threads, const int* in, int* out) {
  launch(f == Form::right ? split_barrier_kernel<true> : split_barrier_kernel<false>, 1, threads, 0, nullptr,
         in, out);
}
void wide_tiles(Form f, const int* in, int* out) {
  launch(f == Form::right ? wide_tiles_kernel<true> : wide_tiles_kernel<false>, 1, 256, 0, nullptr, in, out);
}
void large_structures(Form f, int threads, const float* in, float* out) {
  launch(f == Form::right ? large_kernel<true> : large_kernel<false>, 1, threads, 0, nullptr,
         reinterpret_cast<const Large*>(in), reinterpret_cast<Large*>(out));
}

void bulk_tile(Form f, const int* in, int* out) {
  launch(f == Form::right ? bulk_tile_kernel<true> : bulk_tile_kernel<false>, 1, 128, 0, nullptr, in, out);
}

int meeting_bytes() { return static_cast<int>(sizeof(Meeting)); }
void meetings(Form f, void* meeting, int* parts, int* sum, int* out) {
  auto* const m = static_cast<Meeting*>(meeting);
  launch(open_meeting_kernel, 1, 1, 0, nullptr, m, parts, sum);
  launch(f == Form::right ? meeting_kernel<true> : meeting_kernel<false>, 3, 32, 0, nullptr, m, parts,
         static_cast<const int*>(sum), out);
}
void semaphores(Form f, int* out) {
  launch(f == Form::right ? semaphore_kernel<true> : semaphore_kernel<false>, 1, 96, 0, nullptr, out);
}

}  // namespace plumb::simt_test
