// Test kernels that only a device's freedom shows to be wrong: values that come late, lanes that part, exchanges that fail. Every access
// that another thread's could meet is atomic or volatile, so that most have no race to report: their results are wrong.
#include <cuda/atomic>

#include "gpu/device/kernel.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace {

using cuda::std::memory_order_acquire;
using cuda::std::memory_order_relaxed;
using cuda::std::memory_order_release;
using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;

template <bool Right>
__global__ void relaxed_message_kernel(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    Word(*data).store(42, memory_order_relaxed);
    Word(*flag).store(1, Right ? memory_order_release : memory_order_relaxed);
  } else {
    while (Word(*flag).load(Right ? memory_order_acquire : memory_order_relaxed) == 0) {}
    *out = Word(*data).load(memory_order_relaxed);
  }
}

template <bool Right>
__global__ void volatile_message_kernel(int* data, int* flag, int* out) {
  volatile int* const d = data;
  volatile int* const f = flag;
  if (blockIdx.x == 0) {
    *d = 42;
    if (Right) __threadfence();
    *f = 1;
  } else {
    while (*f == 0) {}
    if (Right) __threadfence();
    *out = *d;
  }
}

// A block publishes its sum beside a flag of its own, after a fence that the wrong form leaves out.
template <bool Right>
__global__ void look_back_kernel(int* sums, int* flags, int* out) {
  volatile int* const s = sums;
  volatile int* const f = flags + 1;
  const int ticket = atomicAdd(&flags[0], 1);
  int sum = ticket + 1;
  if (ticket > 0) {
    while (f[ticket - 1] == 0) {}
    __threadfence();
    sum += s[ticket - 1];
  }
  s[ticket] = sum;
  if (Right) __threadfence();
  f[ticket] = 1;
  out[ticket] = sum;
}

// Each raises its flag and enters where the other's is down: a store, then a load of another variable.
template <bool Right>
__global__ void two_flags_kernel(int* flags, int* inside) {
  const int me = static_cast<int>(blockIdx.x);
  Word(flags[me]).store(1, memory_order_release);
  if (Right) __threadfence();
  if (Word(flags[1 - me]).load(memory_order_acquire) == 0) atomicAdd(inside, 1);
}

// What the lock guards is volatile, and is counted up by a load and a store.
template <bool Right>
__global__ void locked_count_kernel(int* lock, int* count) {
  volatile int* const c = count;
  while (atomicCAS(lock, 0, 1) != 0) {}
  if (Right) __threadfence();
  *c = *c + 1;
  if (Right) __threadfence();
  atomicExch(lock, 0);
}

template <bool Right>
__global__ void hand_made_barrier_kernel(int* data, int* arrived, int* out) {
  const int n = static_cast<int>(gridDim.x), me = static_cast<int>(blockIdx.x);
  volatile int* const d = data;
  d[me] = me + 1;
  if (Right) __threadfence();
  atomicAdd(arrived, 1);
  while (*static_cast<volatile int*>(arrived) < n) {}
  if (Right) __threadfence();
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += d[i];
  out[me] = sum;
}

// The wrong form expects an acquiring load to order the store before it with the one after it.
template <bool Right>
__global__ void acquire_is_no_release_kernel(int* data, int* seen, int* flag, int* out) {
  if (blockIdx.x == 0) {
    Word(*data).store(42, memory_order_relaxed);
    static_cast<void>(Word(*seen).load(memory_order_acquire));
    Word(*flag).store(1, Right ? memory_order_release : memory_order_relaxed);
  } else {
    while (Word(*flag).load(memory_order_acquire) == 0) {}
    *out = Word(*data).load(memory_order_relaxed);
  }
}

// The lanes in the branch add up their values. Which lanes those are, the wrong form asks of whoever happens to be there.
template <bool Right>
__global__ void branch_sum_kernel(const int* in, int* out) {
  const int v = in[threadIdx.x];
  const unsigned voted = __ballot_sync(0xffffffffu, v > 3);
  if (v > 3) {
    const unsigned lanes = Right ? voted : __activemask();
    int sum = 0;
    for (unsigned rest = lanes; rest != 0; rest &= rest - 1)
      sum += __shfl_sync(lanes, v, __ffs(static_cast<int>(rest)) - 1);
    if (static_cast<int>(threadIdx.x) == __ffs(static_cast<int>(voted)) - 1) *out = sum;
  }
}

// Each thread claims a slot that nobody else wants. A weak exchange may fail all the same.
template <bool Right>
__global__ void claimed_slots_kernel(int* slots, int* count) {
  const Word slot(slots[threadIdx.x]);
  int expected = 0;
  bool claimed = slot.compare_exchange_weak(expected, 1, memory_order_relaxed);
  while (Right && !claimed) {
    expected = 0;
    claimed = slot.compare_exchange_weak(expected, 1, memory_order_relaxed);
  }
  if (claimed) atomicAdd(count, 1);
}

// A block holds a slot of a ring while it is under way. A ring of 32 is large enough while no more blocks than that are.
template <bool Right>
__global__ void slots_of_a_ring_kernel(int* ticket, int* ring, int* lost) {
  __shared__ int slot, mine;
  if (threadIdx.x == 0) {
    mine = atomicAdd(ticket, 1);
    slot = Right ? mine : mine % 32;
    Word(ring[slot]).store(mine, memory_order_relaxed);
  }
  for (int i = 0; i < 4; ++i) __syncthreads();
  if (threadIdx.x == 0 && Word(ring[slot]).load(memory_order_relaxed) != mine) atomicAdd(lost, 1);
}

// One block adds to a word, the other stores to its lower half: of different sizes, neither is atomic for the other.
template <bool Right>
__global__ void half_of_a_word_kernel(unsigned* word) {
  if (blockIdx.x == 0) {
    atomicAdd(word, 0x10000u);  // <- word
  } else if (Right) {
    atomicOr(word, 1u);
  } else {
    *reinterpret_cast<volatile unsigned short*>(word) = 1;  // <- half
  }
}

// A stack without locks, as node numbers in a word. The right form counts in the upper half of the word how often it has changed: without it a
// block that stands before its exchange finds the node that it has read on top again, and puts a successor there that another block owns.
template <bool Tagged>
__device__ unsigned long long changed_to(unsigned long long old, unsigned top) {
  return Tagged ? ((old >> 32) + 1) << 32 | top : top;
}
template <bool Tagged>
__device__ unsigned pop(unsigned long long* head, int* next) {
  unsigned long long old = atomicAdd(head, 0ull);
  for (;;) {
    const auto top = static_cast<unsigned>(old);
    if (top == 0) return 0;
    const auto below = static_cast<unsigned>(atomicAdd(next + top, 0));
    const unsigned long long seen = atomicCAS(head, old, changed_to<Tagged>(old, below));
    if (seen == old) return top;
    old = seen;
  }
}
template <bool Tagged>
__device__ void push(unsigned long long* head, int* next, unsigned node) {
  unsigned long long old = atomicAdd(head, 0ull);
  for (;;) {
    atomicExch(next + node, static_cast<int>(static_cast<unsigned>(old)));
    __threadfence();
    const unsigned long long seen = atomicCAS(head, old, changed_to<Tagged>(old, node));
    if (seen == old) return;
    old = seen;
  }
}
template <bool Tagged>
__global__ void stack_of_nodes_kernel(unsigned long long* head, int* next, int* owners) {
  for (int round = 0; round < 4; ++round) {
    const unsigned first = pop<Tagged>(head, next), second = pop<Tagged>(head, next);
    for (const unsigned node : {first, second}) {
      if (node != 0 && atomicAdd(owners + node, 1) != 0) atomicExch(owners, 1);
    }
    for (const unsigned node : {first, second}) {
      if (node == 0) continue;
      atomicSub(owners + node, 1);
      push<Tagged>(head, next, node);
    }
  }
}

}  // namespace

namespace plumb::simt_test {

#define PLUMB_TWIN(kernel) (f == Form::right ? kernel<true> : kernel<false>)

void relaxed_message(Form f, int* data, int* flag, int* out) {
  launch(PLUMB_TWIN(relaxed_message_kernel), 2, 1, 0, nullptr, data, flag, out);
}
void volatile_message(Form f, int* data, int* flag, int* out) {
  launch(PLUMB_TWIN(volatile_message_kernel), 2, 1, 0, nullptr, data, flag, out);
}
void look_back(Form f, int blocks, int* sums, int* flags, int* out) {
  launch(PLUMB_TWIN(look_back_kernel), blocks, 1, 0, nullptr, sums, flags, out);
}
void two_flags(Form f, int* flags, int* inside) {
  launch(PLUMB_TWIN(two_flags_kernel), 2, 1, 0, nullptr, flags, inside);
}
void locked_count(Form f, int blocks, int* lock, int* count) {
  launch(PLUMB_TWIN(locked_count_kernel), blocks, 1, 0, nullptr, lock, count);
}
void hand_made_barrier(Form f, int blocks, int* data, int* arrived, int* out) {
  launch(PLUMB_TWIN(hand_made_barrier_kernel), blocks, 1, 0, nullptr, data, arrived, out);
}
void acquire_is_no_release(Form f, int* data, int* seen, int* flag, int* out) {
  launch(PLUMB_TWIN(acquire_is_no_release_kernel), 2, 1, 0, nullptr, data, seen, flag, out);
}
void branch_sum(Form f, const int* in, int* out) {
  launch(PLUMB_TWIN(branch_sum_kernel), 1, 32, 0, nullptr, in, out);
}
void claimed_slots(Form f, int threads, int* slots, int* count) {
  launch(PLUMB_TWIN(claimed_slots_kernel), 1, threads, 0, nullptr, slots, count);
}
void slots_of_a_ring(Form f, int blocks, int* ticket, int* ring, int* lost) {
  launch(PLUMB_TWIN(slots_of_a_ring_kernel), blocks, 64, 0, nullptr, ticket, ring, lost);
}
void half_of_a_word(Form f, unsigned* word) {
  launch(PLUMB_TWIN(half_of_a_word_kernel), 2, 1, 0, nullptr, word);
}

void stack_of_nodes(Form f, int blocks, unsigned long long* head, int* next, int* owners) {
  launch(PLUMB_TWIN(stack_of_nodes_kernel), blocks, 1, 0, nullptr, head, next, owners);
}

#undef PLUMB_TWIN

}  // namespace plumb::simt_test
