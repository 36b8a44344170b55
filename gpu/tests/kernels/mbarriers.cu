// Test kernels that hand data from warp to warp through mbarriers in inline PTX, as producers and consumers do since Ampere and Hopper,
// each with the mistake that looks like it.
#include "gpu/device/kernel.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace {

using plumb::shared_address;

__device__ __forceinline__ void init(unsigned long long* bar, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void arrive(unsigned long long* bar) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.release.cta.shared::cta.b64 state, [%0]; }" ::"r"(
                   shared_address(bar))
               : "memory");
}
// As CUTLASS writes it, with two labels.
__device__ __forceinline__ void wait(unsigned long long* bar, int parity) {
  asm volatile(
      "{\n"
      ".reg .pred P1;\n"
      "LAB_WAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1, %2;\n"
      "@P1 bra DONE;\n"
      "bra LAB_WAIT;\n"
      "DONE:\n"
      "}" ::"r"(shared_address(bar)),
      "r"(parity), "r"(1000)
      : "memory");
}

// Warp 0 produces into a ring of two stages, warp 1 consumes. The fault: the producer says full before it is.
template <bool Right>
__global__ void ring_kernel(const int* in, int* out, int rounds) {
  __shared__ unsigned long long full[2], empty[2];
  __shared__ int stage[2][32];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) init(full + s, 32), init(empty + s, 32);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int r = 0; r < rounds; ++r) {
      wait(empty + r % 2, r / 2 % 2 ^ 1);
      if (!Right) arrive(full + r % 2);
      stage[r % 2][lane] = in[r * 32 + lane];  // <- mbarrier write
      if (Right) arrive(full + r % 2);
    }
  } else {
    int sum = 0;
    for (int r = 0; r < rounds; ++r) {
      wait(full + r % 2, r / 2 % 2);
      sum += stage[r % 2][31 - lane];  // <- mbarrier read
      arrive(empty + r % 2);
    }
    out[lane] = sum;
  }
}

// One elected lane brings tiles by bulk copies, all threads use them. The fault waits once, whatever the answer.
template <bool Right>
__global__ void bulk_kernel(const int* in, int* out, int tiles) {
  alignas(128) __shared__ int tile[2][64];
  __shared__ unsigned long long full[2];
  unsigned leader = 0;
  if (threadIdx.x < 32) {
    asm volatile("{ .reg .pred P; .reg .b32 lane; elect.sync lane|P, %1; selp.u32 %0, 1, 0, P; }"
                 : "=r"(leader)
                 : "r"(0xffffffffu));
  }
  const auto start = [&](int t) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(full + t % 2)),
                 "r"(256)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_address(tile[t % 2])),
        "l"(in + 64 * t), "r"(256), "r"(shared_address(full + t % 2))
        : "memory");
  };
  if (leader != 0) {
    init(full, 1), init(full + 1, 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    start(0);
    if (tiles > 1) start(1);
  }
  __syncthreads();
  int sum = 0;
  for (int t = 0; t < tiles; ++t) {
    if (Right) {
      wait(full + t % 2, t / 2 % 2);
    } else {
      asm volatile("{ .reg .pred P; mbarrier.try_wait.parity.shared::cta.b64 P, [%0], %1; }" ::"r"(
                       shared_address(full + t % 2)),
                   "r"(t / 2 % 2)
                   : "memory");
    }
    sum += tile[t % 2][63 - threadIdx.x];                         // <- bulk use
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // before the next copy writes there
    __syncthreads();
    if (leader != 0 && t + 2 < tiles) start(t + 2);
  }
  out[threadIdx.x] = sum;
}

// Each lane of warp 0 copies with cp.async and lets the copies arrive by themselves; warp 1 waits. The fault arrives itself, at once.
template <bool Right>
__global__ void copies_arrive_kernel(const int* in, int* out, int counted) {
  alignas(16) __shared__ int tile[128];
  __shared__ unsigned long long full;
  if (threadIdx.x == 0) init(&full, 32);
  __syncthreads();
  if (threadIdx.x < 32) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     shared_address(tile + 4 * threadIdx.x)),  // <- arriving copy
                 "l"(in + 4 * threadIdx.x)
                 : "memory");
    if (!Right) {
      arrive(&full);
    } else if (counted != 0) {
      asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(&full)) : "memory");
    } else {
      asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(shared_address(&full)) : "memory");
      arrive(&full);
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
  } else {
    wait(&full, 0);
    int sum = 0;
    for (int i = 0; i < 4; ++i) sum += tile[i * 32 + threadIdx.x % 32];  // <- arriving read
    out[threadIdx.x % 32] = sum;
  }
}

// A state in place of a parity, a test in place of a wait, and half of the threads that leave after the first phase.
__global__ void states_kernel(const int* in, int* out) {
  __shared__ unsigned long long bar;
  __shared__ int s[64];
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) init(&bar, 64);
  __syncthreads();
  s[t] = in[t];
  unsigned long long state;
  if (t < 32) {
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(shared_address(&bar)) : "memory");
  } else {
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];"
                 : "=l"(state)
                 : "r"(shared_address(&bar))
                 : "memory");
    return;
  }
  asm volatile(
      "{ .reg .pred p;\n"
      "again: mbarrier.test_wait.shared.b64 p, [%1], %0;\n"
      "@!p bra.uni again; }" ::"l"(state),
      "r"(shared_address(&bar))
      : "memory");
  out[t] = s[t] + s[t + 32];
  s[t] = 3 * out[t];
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(shared_address(&bar)) : "memory");
  wait(&bar, 1);
  out[t] += s[31 - t];
  __syncwarp();
  if (t == 0) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(shared_address(&bar)) : "memory");
}

// 10! by a loop of branches, in a template and twice in one function.
template <class T>
__global__ void loop_kernel(T* out) {
  for (int twice = 0; twice < 2; ++twice) {
    unsigned product;
    asm("{\n\t.reg .u32 n; .reg .pred more;\n\tmov.u32 n, 10; mov.u32 %0, 1;\n"
        "$L__%=:\n\tmul.lo.u32 %0, %0, n;\n\tsub.u32 n, n, 1;\n\tsetp.gt.u32 more, n, 1;\n\t@more bra "
        "$L__%=;\n\t}"
        : "=r"(product));
    out[twice] = static_cast<T>(product);
  }
}

__global__ void unfinished_kernel(const int* in) {
  alignas(16) __shared__ int tile[64];
  __shared__ unsigned long long bar;
  plumb::mbarrier_init(&bar, 1);
  plumb::mbarrier_arrive_expect(&bar, 256);
  plumb::bulk_copy(tile, in, 256, &bar);  // <- unfinished copy
}

__global__ void misaligned_bulk_kernel(const int* in) {
  alignas(16) __shared__ int tile[64];
  __shared__ unsigned long long bar;
  plumb::mbarrier_init(&bar, 1);
  plumb::mbarrier_arrive_expect(&bar, 128);
  plumb::bulk_copy(tile, in + 1, 128, &bar);  // <- misaligned bulk
  plumb::mbarrier_wait(&bar, 0);
}

// The phase waits for more bytes than are copied.
__global__ void bytes_missing_kernel(const int* in, int* out) {
  alignas(16) __shared__ int tile[64];
  __shared__ unsigned long long bar;
  plumb::mbarrier_init(&bar, 1);
  plumb::mbarrier_arrive_expect(&bar, 256);
  plumb::bulk_copy(tile, in, 128, &bar);
  plumb::mbarrier_wait(&bar, 0);  // <- missing bytes
  out[0] = tile[0];
}

// The arrival announces no bytes, so that the wait of all threads is over at once.
__global__ void bytes_unannounced_kernel(const int* in, int* out) {
  alignas(16) __shared__ int tile[64];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    plumb::mbarrier_init(&bar, 1);
    arrive(&bar);
    plumb::bulk_copy(tile, in, 256, &bar);  // <- unannounced copy
  }
  __syncthreads();
  plumb::mbarrier_wait(&bar, 0);
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];  // <- unannounced read
}

}  // namespace

namespace plumb::simt_test {

void mbarrier_ring(Form f, const int* in, int* out, int rounds) {
  launch(f == Form::right ? ring_kernel<true> : ring_kernel<false>, 1, 64, 0, nullptr, in, out, rounds);
}
void mbarrier_bulk(Form f, const int* in, int* out, int tiles) {
  launch(f == Form::right ? bulk_kernel<true> : bulk_kernel<false>, 1, 64, 0, nullptr, in, out, tiles);
}
void mbarrier_copies_arrive(Form f, const int* in, int* out, bool counted) {
  launch(f == Form::right ? copies_arrive_kernel<true> : copies_arrive_kernel<false>, 1, 64, 0, nullptr, in,
         out, counted ? 1 : 0);
}
void mbarrier_states(const int* in, int* out) { launch(states_kernel, 1, 64, 0, nullptr, in, out); }
void ptx_loop(int* out) { launch(loop_kernel<int>, 1, 1, 0, nullptr, out); }
void mbarrier_unfinished(const int* in) { launch(unfinished_kernel, 1, 1, 0, nullptr, in); }
void mbarrier_misaligned(const int* in) { launch(misaligned_bulk_kernel, 1, 1, 0, nullptr, in); }
void mbarrier_bytes_unannounced(const int* in, int* out) {
  launch(bytes_unannounced_kernel, 1, 64, 0, nullptr, in, out);
}
void mbarrier_bytes_missing(const int* in, int* out) {
  launch(bytes_missing_kernel, 1, 1, 0, nullptr, in, out);
}

}  // namespace plumb::simt_test
