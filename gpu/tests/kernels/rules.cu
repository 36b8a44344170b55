// Test kernels at the edge between a finding, a note and nothing.
#include <cuda/atomic>

#include "gpu/device/kernel.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace {

// Threads from `n` on return; the others vote at barriers.
__global__ void votes_of_the_rest_kernel(int n, int* out) {
  const int t = static_cast<int>(threadIdx.x);
  if (t >= n) return;
  const int count = __syncthreads_count(t != 1);  // <- first vote
  const int all = __syncthreads_and(1), not_all = __syncthreads_and(t != 1);
  const int any = __syncthreads_or(t == 1), none = __syncthreads_or(0);
  out[t] = count * 10000 + all * 1000 + not_all * 100 + any * 10 + none;
}

// What a thread wrote before it returned is ordered by the barrier that it never reached.
__global__ void last_words_kernel(int* out) {
  __shared__ int said;
  if (threadIdx.x == 40) {
    said = 7;
    return;
  }
  __syncthreads();  // <- without one
  out[threadIdx.x] = said;
}

// A maximum by compare-and-exchange, begun with a plain read: of which nothing else is made, or which decides by itself.
template <bool OnlyTried>
__global__ void tried_maximum_kernel(const int* in, int* most) {
  const int mine = in[blockIdx.x * blockDim.x + threadIdx.x];
  int seen = *most;  // <- first look
  if (!OnlyTried && seen >= mine) return;
  int expected;
  do {
    expected = seen;
    seen = atomicCAS(most, expected, mine > expected ? mine : expected);
  } while (seen != expected);
}

// The same of a pair of half words, which are looked at one by one.
__global__ void tried_pair_kernel(int* both) {
  const short* halves = reinterpret_cast<const short*>(both);
  const short low = halves[0], high = halves[1];  // <- first look at halves
  int seen = static_cast<int>(static_cast<unsigned>(high) << 16 | static_cast<unsigned short>(low)), expected;
  do {
    expected = seen;
    seen = atomicCAS(both, expected, expected + 0x10001);
  } while (seen != expected);
}

__global__ void exchanges_kernel(int* flags, int* out) {
  if (threadIdx.x != 0) return;
  atomicExch(&flags[0], 1);
  cuda::atomic_ref<int, cuda::thread_scope_device>(flags[1]).exchange(2, cuda::std::memory_order_relaxed);
  __atomic_exchange_n(&flags[2], 3, __ATOMIC_RELAXED);
  int old;
  asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(old) : "l"(&flags[3]), "r"(4));
  *out = flags[0] + flags[1] + flags[2] + flags[3];
}

__global__ void same_value_kernel(int* out) { *out = 5; }  // <- same value

// All lanes read, the first one writes at once.
__global__ void read_by_all_kernel(int* one, int* out) {
  out[threadIdx.x] = *one;              // <- all read
  if (threadIdx.x == 0) *one = out[0];  // <- first writes
}

// A flag that is volatile in CUDA C++, or in PTX.
template <bool Ptx>
__global__ void volatile_flag_kernel(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;
    __threadfence();
    if (Ptx) {
      asm volatile("st.volatile.global.s32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
    } else {
      *static_cast<volatile int*>(flag) = 1;  // <- volatile store
    }
  } else {
    int seen = 0;
    while (seen == 0) {
      if (Ptx) {
        asm volatile("ld.volatile.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
      } else {
        seen = *static_cast<volatile int*>(flag);  // <- volatile load
      }
    }
    __threadfence();
    *out = *data;
  }
}

// A lock with a fence behind its taking, before its release, or both; what it guards is volatile or plain.
template <class Data>
__global__ void lock_kernel(bool fence_first, bool fence_last, Data* data, int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {}
  if (fence_first) __threadfence();
  *data = static_cast<int>(blockIdx.x) + 1;  // <- under the lock
  if (fence_last) __threadfence();
  atomicExch(lock, 0);
}

}  // namespace

namespace plumb::simt_test {

void votes_of_the_rest(int threads, int n, int* out) {
  launch(votes_of_the_rest_kernel, 1, threads, 0, nullptr, n, out);
}
void last_words(int* out) { launch(last_words_kernel, 1, 64, 0, nullptr, out); }
void tried_maximum(bool only_tried, int blocks, int threads, const int* in, int* most) {
  launch(only_tried ? tried_maximum_kernel<true> : tried_maximum_kernel<false>, blocks, threads, 0, nullptr,
         in, most);
}
void tried_pair(int blocks, int threads, int* both) {
  launch(tried_pair_kernel, blocks, threads, 0, nullptr, both);
}
void exchanges(int* flags, int* out) { launch(exchanges_kernel, 1, 32, 0, nullptr, flags, out); }
void same_value(int blocks, int* out) { launch(same_value_kernel, blocks, 32, 0, nullptr, out); }
void read_by_all(int* one, int* out) { launch(read_by_all_kernel, 1, 32, 0, nullptr, one, out); }
void volatile_flag(bool ptx, int* data, int* flag, int* out) {
  launch(ptx ? volatile_flag_kernel<true> : volatile_flag_kernel<false>, 2, 1, 0, nullptr, data, flag, out);
}

void locked_store(bool is_volatile, bool fence_first, bool fence_last, int* data, int* lock) {
  if (is_volatile) {
    launch(lock_kernel<volatile int>, 2, 1, 0, nullptr, fence_first, fence_last, data, lock);
  } else {
    launch(lock_kernel<int>, 2, 1, 0, nullptr, fence_first, fence_last, data, lock);
  }
}

}  // namespace plumb::simt_test
