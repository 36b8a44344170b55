// Test kernels of what the asynchronous proxy and a thread's own accesses need between them, each with the mistakes that are made there.
// requires: tensor_map
#include "gpu/tests/kernels/proxies.hpp"

#include <cstdint>

#include "gpu/device/kernel.hpp"
#include "gpu/device/tensor_map.hpp"

namespace {

using plumb::Mbarrier;
using plumb::shared_address;
using plumb::TensorMap;
using plumb::simt_test::MapFault;
using plumb::simt_test::OutFault;
using plumb::simt_test::ProxyFault;
using plumb::simt_test::RegisterFault;

constexpr int kCount = 64, kRows = 3, kBytes = kCount * 4;

// ---- a buffer refilled ----

template <ProxyFault F>
__global__ void refill_kernel(const float* in, float* out) {
  __shared__ __align__(16) float stage[kCount];
  __shared__ Mbarrier full;
  const int t = threadIdx.x;
  constexpr int kInit = F == ProxyFault::init_by_copier ? 0 : 32;
  if (t == kInit) {
    plumb::mbarrier_init(&full, 1);  // <- proxy init
    if (F == ProxyFault::init_proxy_fence) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    constexpr bool kUnfenced = F == ProxyFault::unfenced_init || F == ProxyFault::init_by_copier ||
                               F == ProxyFault::init_proxy_fence;
    if (!kUnfenced) plumb::mbarrier_fence_init();
  }
  if (F == ProxyFault::unfenced_zeros) stage[t] = 0;  // <- proxy zeros
  __syncthreads();
  float best = 0;
  for (int r = 0; r < kRows; ++r) {
    if (t == 0) {
      if (F == ProxyFault::copier_fences) asm volatile("fence.proxy.async;" ::: "memory");
      plumb::mbarrier_arrive_expect(&full, kBytes);
      plumb::bulk_copy(stage, in + r * kCount, kBytes, &full);  // <- proxy copy
    }
    plumb::mbarrier_wait(&full, r & 1);
    if (F == ProxyFault::unfenced_write) {
      stage[t] *= 2;  // <- proxy write
      __syncthreads();
      best = fmaxf(best, stage[t] / 2);
    } else {
      best = fmaxf(best, stage[kCount - 1 - t]);  // <- proxy read
    }
    constexpr bool kUnfenced = F == ProxyFault::unfenced_write || F == ProxyFault::unfenced_read ||
                               F == ProxyFault::global_fence || F == ProxyFault::copier_fences;
    if (F == ProxyFault::global_fence) asm volatile("fence.proxy.async.global;" ::: "memory");
    if (!kUnfenced) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
  }
  out[t] = best;
}

// ---- a map that changes ----

__device__ __forceinline__ void release_map() {
  asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
}
__device__ __forceinline__ void acquire_map(const void* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}
__device__ __forceinline__ void load(float* to, const void* map, Mbarrier* full) {
  plumb::mbarrier_arrive_expect(full, kBytes);
  asm volatile(  // <- map copy
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
      "%3}], "
      "[%4];" ::"r"(shared_address(to)),
      "l"(map), "r"(0), "r"(0), "r"(shared_address(full))
      : "memory");
}

template <MapFault F>
__global__ void map_kernel(const __grid_constant__ TensorMap one, const __grid_constant__ TensorMap two,
                           const float* second, TensorMap* slot, float* out) {
  __shared__ __align__(128) float a[kCount];
  __shared__ __align__(128) float b[kCount];
  __shared__ __align__(128) TensorMap own;
  __shared__ Mbarrier full[2];
  constexpr bool kByWarp = F == MapFault::replaced_by_warp;
  constexpr bool kReplaced = F == MapFault::replaced || F == MapFault::replaced_no_acquire || kByWarp ||
                             F == MapFault::replaced_unmet;
  const int t = threadIdx.x;
  if (t == 0) {
    for (Mbarrier& bar : full) plumb::mbarrier_init(&bar, 1);
    plumb::mbarrier_fence_init();
    if (kReplaced) own = one;
    for (int i = 0; i < 16; ++i) slot->words[i] = one.words[i];
    release_map();
    acquire_map(slot);
    load(a, slot, full);
  }
  constexpr bool kInFlight =
      F == MapFault::in_flight || F == MapFault::in_flight_replace || F == MapFault::in_flight_barrier;
  __syncthreads();
  if (!kInFlight) plumb::mbarrier_wait(full, 0);
  __syncthreads();
  if (kReplaced && t < 32) {
    if (t == 0)
      asm volatile(  // <- own map replace
          "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(shared_address(&own)),
          "l"(second)
          : "memory");
    if (F != MapFault::replaced_unmet) __syncwarp();
    asm volatile(  // <- own map copy
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], "
        "128;" ::"l"(slot),
        "r"(shared_address(&own))
        : "memory");
    if (kByWarp) acquire_map(slot);
    if (kByWarp && t == 5) load(b, slot, full + 1);
  }
  if (F == MapFault::acquired_early && t == 0) acquire_map(slot);
  if (F == MapFault::in_flight_replace && t == 0) {
    asm volatile(  // <- map replace
        "tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(slot), "l"(second)
        : "memory");
    release_map();
  } else if (!kReplaced && t == (F == MapFault::in_flight_barrier ? 1 : 0)) {
    for (int i = 0; i < 16; ++i) slot->words[i] = two.words[i];  // <- map write
    if (F != MapFault::no_release) release_map();
  }
  __syncthreads();
  if (t == 0 && !kByWarp) {
    constexpr bool kUnacquired =
        F == MapFault::no_acquire || F == MapFault::acquired_early || F == MapFault::replaced_no_acquire;
    if (!kUnacquired) acquire_map(slot);
    load(b, slot, full + 1);
  }
  plumb::mbarrier_wait(full, 0);
  plumb::mbarrier_wait(full + 1, 0);
  out[t] = a[t] + b[t];
}

__global__ void map_once_kernel(bool acquires, const TensorMap* slot, float* out) {
  __shared__ __align__(128) float a[kCount];
  __shared__ Mbarrier full;
  if (threadIdx.x == 0) {
    plumb::mbarrier_init(&full, 1);
    plumb::mbarrier_fence_init();
    if (acquires) acquire_map(slot);
    load(a, slot, &full);
  }
  __syncthreads();
  plumb::mbarrier_wait(&full, 0);
  out[threadIdx.x] = a[threadIdx.x];
}

// ---- what a copy out of shared memory writes ----

__device__ __forceinline__ void wait_written() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ __forceinline__ void copy_out(bool reduces, float* to, const float* from) {
  if (reduces) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 256;" ::"l"(to),
                 "r"(shared_address(from))
                 : "memory");
  } else {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(to),  // <- copy out
                 "r"(shared_address(from))
                 : "memory");
  }
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

template <OutFault F>
__global__ void out_kernel(const float* in, float* out, float* again) {
  __shared__ __align__(128) float s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  if (F == OutFault::reduced) out[t] = 0;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    copy_out(F == OutFault::reduced, out, s);
    if (F == OutFault::read_wait || F == OutFault::overwritten || F == OutFault::two_waits) {
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    } else if (F == OutFault::older_group) {
      asm volatile("cp.async.bulk.wait_group 1;" ::: "memory");
    } else if (F != OutFault::late_wait) {
      wait_written();
    }
    if (F == OutFault::two_waits) wait_written();
  }
  __syncthreads();
  if (F == OutFault::overwritten) {
    out[t] = 1;  // <- written over
  } else {
    again[t] = out[63 - t];  // <- read back
  }
  if (t == 0) wait_written();
}

// ---- registers of a product ----

#define PRODUCT(d, r0, r1, r2, r3, desc)                                                                    \
  asm volatile(                                                                                             \
      "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1;" \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                      \
      : "r"(r0), "r"(r1), "r"(r2), "r"(r3), "l"(desc))

__device__ __forceinline__ void product_of(float (&d)[4], const unsigned (&r)[4], unsigned long long desc) {
  PRODUCT(d, r[0], r[1], r[2], r[3], desc);  // <- register product
}
__device__ __forceinline__ void product_by_value(float (&d)[4], unsigned r0, unsigned r1, unsigned r2,
                                                 unsigned r3, unsigned long long desc) {
  PRODUCT(d, r0, r1, r2, r3, desc);
}
__device__ __forceinline__ void fetch(unsigned (&r)[4], const float* a) {
  for (int i = 0; i < 4; ++i) r[i] = __float_as_uint(a[threadIdx.x * 4 + i]);  // <- register fetch
}
#define FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT() asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory")

template <RegisterFault F>
__global__ void register_kernel(const float* a, float* out) {
  __shared__ __align__(128) float ones[64];
  const int t = threadIdx.x;
  if (t < 64) ones[t] = 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const unsigned long long desc = (shared_address(ones) & 0x3ffffu) >> 4 | 8ull << 16 | 16ull << 32;
  float d[4] = {};
  unsigned r[4], other[4];
  float seen = 0;
  fetch(r, a);
  FENCE();
  if (F == RegisterFault::a_by_value) {
    product_by_value(d, r[0], r[1], r[2], r[3], desc);
  } else {
    product_of(d, r, desc);
  }
  if (F == RegisterFault::second_a) {
    fetch(other, a + 512);
    product_of(d, other, desc);
    COMMIT();
    WAIT();
    FENCE();
    product_of(d, r, desc);
    fetch(other, a + 512);
    product_of(d, other, desc);
    COMMIT();
    WAIT();
  } else {
    COMMIT();
    if (F == RegisterFault::sum_read) seen = d[0];  // <- register sum read
    if (F == RegisterFault::sum_written) d[1] = 0;  // <- register sum write
    constexpr bool kOther = F == RegisterFault::own_variables || F == RegisterFault::a_by_value;
    if (F == RegisterFault::a_written) fetch(r, a + 512);
    if (kOther) fetch(other, a + 512);
    WAIT();
    if (F != RegisterFault::a_written && !kOther) fetch(r, a + 512);
    FENCE();
    product_of(d, kOther ? other : r, desc);
    COMMIT();
    WAIT();
  }
  for (int i = 0; i < 4; ++i) out[t * 4 + i] = d[i] + 0 * seen;
}

template <ProxyFault F>
void launch_refill(const float* in, float* out) {
  plumb::launch(refill_kernel<F>, 1, kCount, 0, nullptr, in, out);
}
template <MapFault F>
void launch_map(const float* from, void* slot, float* out) {
  TensorMap one, two;
  plumb::make_tensor_map(one, from, 1, kCount, kCount, 1, kCount);
  plumb::make_tensor_map(two, from + kCount, 1, kCount, kCount, 1, kCount);
  plumb::launch(map_kernel<F>, 1, kCount, 0, nullptr, one, two, from + kCount, static_cast<TensorMap*>(slot),
                out);
}
template <OutFault F>
void launch_out(const float* in, float* out, float* again) {
  plumb::launch(out_kernel<F>, 1, kCount, 0, nullptr, in, out, again);
}
template <RegisterFault F>
void launch_registers(const float* a, float* out) {
  plumb::launch(register_kernel<F>, 1, 128, 0, nullptr, a, out);
}

}  // namespace

namespace plumb::simt_test {

#define PLUMB_CASE(Fault, name, call) \
  case Fault::name:                   \
    return call<Fault::name>

void proxy_refill(ProxyFault f, const float* in, float* out) {
  switch (f) {
    PLUMB_CASE(ProxyFault, none, launch_refill)(in, out);
    PLUMB_CASE(ProxyFault, unfenced_write, launch_refill)(in, out);
    PLUMB_CASE(ProxyFault, unfenced_read, launch_refill)(in, out);
    PLUMB_CASE(ProxyFault, unfenced_zeros, launch_refill)(in, out);
    PLUMB_CASE(ProxyFault, global_fence, launch_refill)(in, out);
    PLUMB_CASE(ProxyFault, copier_fences, launch_refill)(in, out);
    PLUMB_CASE(ProxyFault, unfenced_init, launch_refill)(in, out);
    PLUMB_CASE(ProxyFault, init_by_copier, launch_refill)(in, out);
    PLUMB_CASE(ProxyFault, init_proxy_fence, launch_refill)(in, out);
  }
}
void proxy_map(MapFault f, const float* from, void* slot, float* out) {
  switch (f) {
    PLUMB_CASE(MapFault, none, launch_map)(from, slot, out);
    PLUMB_CASE(MapFault, in_flight, launch_map)(from, slot, out);
    PLUMB_CASE(MapFault, in_flight_replace, launch_map)(from, slot, out);
    PLUMB_CASE(MapFault, in_flight_barrier, launch_map)(from, slot, out);
    PLUMB_CASE(MapFault, no_release, launch_map)(from, slot, out);
    PLUMB_CASE(MapFault, no_acquire, launch_map)(from, slot, out);
    PLUMB_CASE(MapFault, acquired_early, launch_map)(from, slot, out);
    PLUMB_CASE(MapFault, replaced, launch_map)(from, slot, out);
    PLUMB_CASE(MapFault, replaced_no_acquire, launch_map)(from, slot, out);
    PLUMB_CASE(MapFault, replaced_by_warp, launch_map)(from, slot, out);
    PLUMB_CASE(MapFault, replaced_unmet, launch_map)(from, slot, out);
  }
}
void proxy_map_once(bool acquires, const void* slot, float* out) {
  launch(map_once_kernel, 1, kCount, 0, nullptr, acquires, static_cast<const TensorMap*>(slot), out);
}
void encode_proxy_map(const float* from, void* slot) {
  TensorMap map;
  make_tensor_map(map, from, 1, kCount, kCount, 1, kCount);
  device_copy(slot, &map, sizeof map, nullptr);  // <- map from the host
}
void proxy_out(OutFault f, const float* in, float* out, float* again) {
  switch (f) {
    PLUMB_CASE(OutFault, none, launch_out)(in, out, again);
    PLUMB_CASE(OutFault, reduced, launch_out)(in, out, again);
    PLUMB_CASE(OutFault, two_waits, launch_out)(in, out, again);
    PLUMB_CASE(OutFault, read_wait, launch_out)(in, out, again);
    PLUMB_CASE(OutFault, late_wait, launch_out)(in, out, again);
    PLUMB_CASE(OutFault, overwritten, launch_out)(in, out, again);
    PLUMB_CASE(OutFault, older_group, launch_out)(in, out, again);
  }
}
void proxy_registers(RegisterFault f, const float* a, float* out) {
  switch (f) {
    PLUMB_CASE(RegisterFault, none, launch_registers)(a, out);
    PLUMB_CASE(RegisterFault, a_written, launch_registers)(a, out);
    PLUMB_CASE(RegisterFault, sum_read, launch_registers)(a, out);
    PLUMB_CASE(RegisterFault, sum_written, launch_registers)(a, out);
    PLUMB_CASE(RegisterFault, second_a, launch_registers)(a, out);
    PLUMB_CASE(RegisterFault, a_by_value, launch_registers)(a, out);
    PLUMB_CASE(RegisterFault, own_variables, launch_registers)(a, out);
  }
}

}  // namespace plumb::simt_test
