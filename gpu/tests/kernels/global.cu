// Test kernels whose blocks meet in global memory: atomics, fences and flags, scopes, launches and streams.
#include <cuda/atomic>

#include "gpu/device/dependent_launch.hpp"
#include "gpu/device/groups.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace {

__device__ int g_counter;

// Mutant 19: the kernel that adds also zeroes.
template <bool Right>
__global__ void sum_zeroed_inside_kernel(const float* in, float* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (!Right && i == 0) *out = 0;  // <- zeroed inside
  atomicAdd(out, in[i]);           // <- zeroed add
}

// Mutant 20: blocks add without an atomic.
template <bool Right>
__global__ void sum_blocks_kernel(const float* in, float* out) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    if (Right) {
      atomicAdd(out, sum);
    } else {
      *out += sum;  // <- plain add
    }
  }
}

// Mutant 21: the last block to finish adds up the others' partial sums.
template <bool Right>
__global__ void last_block_kernel(const float* in, float* partial, unsigned* count, float* out) {
  __shared__ float s[1024];
  __shared__ bool last;
  const unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) s[t] += s[t + half];
    __syncthreads();
  }
  if (t == 0) {
    partial[blockIdx.x] = s[0];  // <- partial write
    if (Right) __threadfence();
    last = atomicAdd(count, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  float sum = 0;
  for (unsigned i = t; i < gridDim.x; i += blockDim.x) sum += partial[i];  // <- partial read
  s[t] = sum;
  __syncthreads();
  if (t == 0) {
    float total = 0;
    for (unsigned i = 0; i < blockDim.x; ++i) total += s[i];
    *out = total;
    *count = 0;  // ready for the next launch
  }
}

// Mutant 22: adds to an output that nobody cleared.
template <bool Right>
__global__ void accumulate_kernel(const float* in, float* out) {
  const unsigned t = threadIdx.x;
  if (Right) out[t] = 0;
  out[t] += in[t];  // <- uncleared
}

// Each block waits for the one before it: a decoupled look-back, in the order tickets are drawn.
template <bool Right>
__global__ void flag_chain_kernel(int* data, int* flags) {
  __shared__ int ticket;
  if (threadIdx.x == 0) {
    ticket = atomicAdd(&flags[0], 1);
    int before = 0;
    if (ticket > 0) {
      volatile int* flag = &flags[ticket];
      while (*flag == 0) {}
      __threadfence();
      before = data[ticket - 1];  // <- chain read
    }
    data[ticket] = before + 1;  // <- chain write
    if (Right) __threadfence();
    atomicExch(&flags[ticket + 1], 1);
  }
}

template <bool Right>
__global__ void block_scope_kernel(unsigned* counter) {
  if (Right) {
    atomicAdd(counter, 1u);
  } else {
    atomicAdd_block(counter, 1u);  // <- block scope
  }
}

// Block 0 hands a value to block 1. A fence that reaches its own block only is not enough.
template <bool Right>
__global__ void fence_scope_kernel(int* data, unsigned* flag, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 41;  // <- scope write
    if (Right) {
      __threadfence();
    } else {
      __threadfence_block();
    }
    atomicExch(flag, 1u);
  } else {
    while (atomicAdd(flag, 0u) == 0) {}
    __threadfence();
    *out = *data + 1;  // <- scope read
  }
}

// Every block reads all words, and says so; the last to do so writes them.
template <bool Right>
__global__ void read_by_all_kernel(int n, int* words, unsigned* count, int* out) {
  __shared__ bool last;
  int sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x))
    sum += words[i];  // <- read by all
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    if (Right) __threadfence();
    last = atomicAdd(count, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x))
    words[i] = 7;  // <- written by the last
}

template <bool Right>
__global__ void spin_lock_kernel(int* lock, int* value) {
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {}
  if (Right) __threadfence();
  *value += 1;  // <- locked
  if (Right) __threadfence();
  atomicExch(lock, 0);
}

// Lanes of two warps read one number, as often as they like, and say so. Wrong: one of them does not, and the writer does not wait for it.
template <bool Right>
__global__ void counted_readers_kernel(unsigned silent, int* count, int* out) {
  constexpr unsigned kReaders = 64;
  __shared__ int number;
  if (threadIdx.x == kReaders) number = 1;
  __syncthreads();
  if (threadIdx.x < kReaders) {
    out[threadIdx.x] = number;  // <- counted read
    __threadfence();
    if (Right || threadIdx.x != silent) atomicAdd(count, 1);
  } else if (threadIdx.x == kReaders) {
    while (atomicAdd(count, 0) < static_cast<int>(Right ? kReaders : kReaders - 1)) {}
    __threadfence();
    number = 2;  // <- write behind the count
  }
}

template <bool Right>
__global__ void grid_phases_kernel(const int* in, int* mid, int* out) {
  const unsigned n = gridDim.x * blockDim.x;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  mid[i] = in[i] * 2;  // <- phase write
  if (Right) cooperative_groups::this_grid().sync();
  out[i] = mid[n - 1 - i];  // <- phase read
}

__global__ void write_kernel(int n, int* mid) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) mid[i] = i;  // <- first launch
}
__global__ void read_kernel(int n, const int* mid, int* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = mid[n - 1 - i];  // <- second launch
}

// Launched so that it may begin beside write_kernel. Right: thread 0 waits for that one, and a barrier tells the others. Wrong: none waits.
template <bool Right>
__global__ void read_beside_kernel(int n, const int* mid, int* out) {
  if (Right && threadIdx.x == 0) plumb::wait_for_primary();
  __syncthreads();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = mid[n - 1 - i];  // <- launch beside
}

// Launched between write_kernel and read_beside_kernel, with nothing of its own to do. Right: one thread of it waits all the same.
template <bool Right>
__global__ void between_kernel() {
  if (Right && blockIdx.x == 0 && threadIdx.x == 0) plumb::wait_for_primary();
}

// Right: each thread its byte. Wrong: neighbours share one.
template <bool Right>
__global__ void bytes_kernel(unsigned char* out) {
  const unsigned t = threadIdx.x;
  out[Right ? t : t / 2] = static_cast<unsigned char>(t);  // <- byte
}

// Halves of words, then a byte of each, then words as a whole. Wrong: the words are read with no barrier behind the bytes.
template <bool Right>
__global__ void parts_kernel(unsigned* out, unsigned* words) {
  const unsigned t = threadIdx.x;
  auto* const halves = reinterpret_cast<unsigned short*>(words);
  halves[2 * t] = halves[2 * t + 1] = static_cast<unsigned short>(t);
  __syncthreads();
  reinterpret_cast<unsigned char*>(words)[4 * ((t + 1) % blockDim.x) + 3] = 1;  // <- part
  if (Right) __syncthreads();
  out[t] = words[t];  // <- whole
}

__global__ void reset_kernel() { g_counter = 0; }

template <bool Right>
__global__ void program_variable_kernel(int* out) {
  if (threadIdx.x != 0) return;
  if (Right) {
    out[blockIdx.x] = atomicAdd(&g_counter, 1);
  } else {
    out[blockIdx.x] = g_counter++;  // <- variable
  }
}

template <bool Right>
__global__ void histogram_kernel(const unsigned char* in, int n, unsigned* bins) {
  __shared__ unsigned local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
    if (Right) {
      atomicAdd(&local[in[i] % 16], 1u);
    } else {
      local[in[i] % 16]++;  // <- bin
    }
  }
  __syncthreads();
  if (threadIdx.x < 16) bins[threadIdx.x] = local[threadIdx.x];
}

// Several threads raise a flag to one value: no harm. The fault lets it be read with no barrier.
template <bool Right>
__global__ void raised_flag_kernel(const int* in, int* out) {
  __shared__ int any;
  if (threadIdx.x == 0) any = 0;
  __syncthreads();
  if (in[threadIdx.x] > 3) any = 1;  // <- raised
  if (Right) __syncthreads();
  out[threadIdx.x] = any;  // <- raised read
}

struct Best {
  float value;
  double where;
};

// Pairs with padding, copied whole.
__global__ void best_kernel(const float* in, float* out) {
  __shared__ Best s[256];
  __shared__ Best winner;
  const int t = static_cast<int>(threadIdx.x);
  s[t].value = in[t];
  s[t].where = t;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half && s[t + half].value > s[t].value) s[t] = s[t + half];
    __syncthreads();
  }
  if (t == 0) winner = s[0];
  __syncthreads();
  const Best mine = winner;
  out[t] = mine.value * 1000 + static_cast<float>(mine.where);
}

__global__ void add_kernel(int* data, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) atomicAdd(&data[i / 2], 1);
}

// Flags whose first access is a store that is no plain one, in memory that nothing has written.
__global__ void first_stores_kernel(int* flags, int* out) {
  __shared__ int told;
  if (threadIdx.x == 0) {
    reinterpret_cast<volatile int*>(flags)[0] = 1;
    cuda::atomic_ref<int, cuda::thread_scope_device>(flags[1]).store(2, cuda::std::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_block>(told).store(3, cuda::std::memory_order_relaxed);
    *out = flags[0] + flags[1] + told;
  }
}

}  // namespace

namespace plumb::simt_test {

void sum_zeroed_inside(Form f, int blocks, int threads, const float* in, float* out) {
  if (f == Form::right) device_fill(out, 0, sizeof(float), nullptr);
  launch(f == Form::right ? sum_zeroed_inside_kernel<true> : sum_zeroed_inside_kernel<false>, blocks, threads,
         0, nullptr, in, out);
}
void sum_blocks(Form f, int blocks, int threads, const float* in, float* out) {
  device_fill(out, 0, sizeof(float), nullptr);
  launch(f == Form::right ? sum_blocks_kernel<true> : sum_blocks_kernel<false>, blocks, threads, 0, nullptr,
         in, out);
}
void last_block(Form f, int blocks, int threads, const float* in, float* partial, unsigned* count,
                float* out) {
  device_fill(count, 0, sizeof(unsigned), nullptr);
  launch(f == Form::right ? last_block_kernel<true> : last_block_kernel<false>, blocks, threads, 0, nullptr,
         in, partial, count, out);
}
void accumulate(Form f, int threads, const float* in, float* out) {
  launch(f == Form::right ? accumulate_kernel<true> : accumulate_kernel<false>, 1, threads, 0, nullptr, in,
         out);
}
void flag_chain(Form f, int blocks, int* data, int* flags) {
  device_fill(flags, 0, (static_cast<std::size_t>(blocks) + 1) * sizeof(int), nullptr);
  launch(f == Form::right ? flag_chain_kernel<true> : flag_chain_kernel<false>, blocks, 32, 0, nullptr, data,
         flags);
}
void block_scope(Form f, int blocks, unsigned* counter) {
  device_fill(counter, 0, sizeof(unsigned), nullptr);
  launch(f == Form::right ? block_scope_kernel<true> : block_scope_kernel<false>, blocks, 64, 0, nullptr,
         counter);
}
void fence_scope(Form f, int* data, unsigned* flag, int* out) {
  device_fill(flag, 0, sizeof(unsigned), nullptr);
  launch(f == Form::right ? fence_scope_kernel<true> : fence_scope_kernel<false>, 2, 32, 0, nullptr, data,
         flag, out);
}
void read_by_all(Form f, int blocks, int threads, int n, int* words, unsigned* count, int* out) {
  device_fill(words, 0, static_cast<std::size_t>(n) * sizeof(int), nullptr);
  device_fill(count, 0, sizeof(unsigned), nullptr);
  launch(f == Form::right ? read_by_all_kernel<true> : read_by_all_kernel<false>, blocks, threads, 0, nullptr,
         n, words, count, out);
}
void spin_lock(Form f, int blocks, int threads, int* lock, int* value) {
  device_fill(lock, 0, sizeof(int), nullptr);
  device_fill(value, 0, sizeof(int), nullptr);
  launch(f == Form::right ? spin_lock_kernel<true> : spin_lock_kernel<false>, blocks, threads, 0, nullptr,
         lock, value);
}
void counted_readers(Form f, unsigned silent, int* count, int* out) {
  device_fill(count, 0, sizeof(int), nullptr);
  launch(f == Form::right ? counted_readers_kernel<true> : counted_readers_kernel<false>, 1, 96, 0, nullptr,
         silent, count, out);
}
void grid_phases(Form f, int blocks, int threads, const int* in, int* mid, int* out) {
  launch_cooperative(f == Form::right ? grid_phases_kernel<true> : grid_phases_kernel<false>, blocks, threads,
                     0, nullptr, in, mid, out);
}
void two_launches(Form f, int n, int* mid, int* out, void* first_stream, void* second_stream) {
  launch(write_kernel, (n + 63) / 64, 64, 0, first_stream, n, mid);
  launch(read_kernel, (n + 63) / 64, 64, 0, f == Form::right ? first_stream : second_stream, n, mid, out);
}
void programmatic_launch(Form f, int n, int* mid, int* out, bool allowed, bool filled) {
  launch(write_kernel, (n + 63) / 64, 64, 0, nullptr, n, mid);
  if (filled) device_fill(mid, 0, sizeof(int), nullptr);
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute[0].val.programmaticStreamSerializationAllowed = allowed ? 1 : 0;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>((n + 63) / 64));
  config.blockDim = dim3(64);
  config.attrs = attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, f == Form::right ? read_beside_kernel<true> : read_beside_kernel<false>, n,
                     static_cast<const int*>(mid), out);
}
void dependent_launch(Form f, int n, int* mid, int* out) {
  launch(write_kernel, (n + 63) / 64, 64, 0, nullptr, n, mid);
  launch_dependent(f == Form::right ? read_beside_kernel<true> : read_beside_kernel<false>, (n + 63) / 64, 64,
                   0, nullptr, n, mid, out);
}
void chain_of_launches(Form f, int n, int* mid, int* out) {
  launch(write_kernel, (n + 63) / 64, 64, 0, nullptr, n, mid);
  launch_dependent(f == Form::right ? between_kernel<true> : between_kernel<false>, 2, 32, 0, nullptr);
  launch_dependent(read_beside_kernel<true>, (n + 63) / 64, 64, 0, nullptr, n, mid, out);
}
int* own_memory(int n) {
  void* p = nullptr;
  return cudaMalloc(&p, static_cast<std::size_t>(n) * sizeof(int)) == cudaSuccess ? static_cast<int*>(p)
                                                                                  : nullptr;
}
void give_back(int* memory) { cudaFree(memory); }
void bytes_side_by_side(Form f, int threads, unsigned char* out) {
  launch(f == Form::right ? bytes_kernel<true> : bytes_kernel<false>, 1, threads, 0, nullptr, out);
}
void parts_of_words(Form f, int threads, unsigned* out, unsigned* words) {
  launch(f == Form::right ? parts_kernel<true> : parts_kernel<false>, 1, threads, 0, nullptr, out, words);
}
void program_variable(Form f, int blocks, int* out) {
  launch(reset_kernel, 1, 1, 0, nullptr);
  launch(f == Form::right ? program_variable_kernel<true> : program_variable_kernel<false>, blocks, 32, 0,
         nullptr, out);
}
void histogram(Form f, int threads, const unsigned char* in, int n, unsigned* bins) {
  launch(f == Form::right ? histogram_kernel<true> : histogram_kernel<false>, 1, threads, 0, nullptr, in, n,
         bins);
}
void raised_flag(Form f, int threads, const int* in, int* out) {
  launch(f == Form::right ? raised_flag_kernel<true> : raised_flag_kernel<false>, 1, threads, 0, nullptr, in,
         out);
}
void best_of(int threads, const float* in, float* out) {
  launch(best_kernel, 1, threads, 0, nullptr, in, out);
}
void fill_then_add(int* data, int n, void* stream) {
  device_fill(data, 0, static_cast<std::size_t>(n) * sizeof(int), stream);
  launch(add_kernel, (n + 31) / 32, 32, 0, stream, data, n);
}

void first_stores(int* flags, int* out) { launch(first_stores_kernel, 1, 32, 0, nullptr, flags, out); }

}  // namespace plumb::simt_test
