// Our own words for instructions (gpu/device/language.hpp lists them) as calls of the executor. Each takes the place of a function around
// inline PTX and has its meaning; the place of the call is the kernel's. A copy lands at its wait, or at a random earlier moment.
#pragma once
#include "gpu/simt/language/async_proxy.hpp"
#include "gpu/simt/language/device_api.hpp"
#include "gpu/simt/language/ptx.hpp"

/// The executor offers what it offers for every chip.
#define PLUMB_SM_AT_LEAST(sm) 1

/// Declares `name` as a T* to the block's dynamic shared memory, aligned to 16 bytes.
#define PLUMB_DYNAMIC_SHARED(T, name) T* const name = static_cast<T*>(::plumb::simt::dynamic_shared())

namespace plumb {

// ---- gpu/device/ptx/async_copy.hpp ----
inline void cp_async16(void* shared_dst, const void* global_src, PLUMB_SIMT_HERE) {
  simt::async_copy(shared_dst, global_src, 16, 16, here);
}
inline void cp_async16_zfill(void* shared_dst, const void* global_src, int valid, PLUMB_SIMT_HERE) {
  simt::async_copy(shared_dst, global_src, 16, valid, here);
}
template <int Bytes>
void cp_async(void* shared_dst, const void* global_src, PLUMB_SIMT_HERE) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
  simt::async_copy(shared_dst, global_src, Bytes, Bytes, here);
}
template <int Bytes>
void cp_async_zfill(void* shared_dst, const void* global_src, int valid, PLUMB_SIMT_HERE) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
  simt::async_copy(shared_dst, global_src, Bytes, valid, here);
}
inline void cp_async_commit() { simt::async_commit(); }
template <int N>
void cp_async_wait() {
  simt::async_wait(N);
}
inline void cp_async_wait_all() { simt::async_wait_all(); }
inline void prefetch_l2(const void*) {}
inline void named_barrier_sync(int id, int threads, PLUMB_SIMT_HERE) {
  simt::named_barrier(id, threads, true, here);
}
inline void named_barrier_arrive(int id, int threads, PLUMB_SIMT_HERE) {
  simt::named_barrier(id, threads, false, here);
}

// ---- gpu/device/ptx/bulk_copy.hpp ----
using Mbarrier = unsigned long long;
inline unsigned shared_address(const void* p) { return simt::shared_offset(p); }
inline void mbarrier_init(Mbarrier* bar, int arrivals, PLUMB_SIMT_HERE) {
  simt::object_barrier_init(bar, arrivals, here);
}
inline void mbarrier_fence_init() { simt::barrier_init_fence(); }
inline void bulk_copy_fence(PLUMB_SIMT_HERE) { simt::proxy_fence(here); }
inline void mbarrier_arrive(Mbarrier* bar, PLUMB_SIMT_HERE) {
  (void)simt::object_barrier_arrive(bar, 1, 0, false, here);
}
inline void mbarrier_arrive_expect(Mbarrier* bar, int bytes, PLUMB_SIMT_HERE) {
  simt::object_barrier_expect(bar, bytes, here);
  mbarrier_arrive(bar, here);
}
inline void mbarrier_wait(Mbarrier* bar, int parity, PLUMB_SIMT_HERE) {
  while (!simt::ptx::barrier_test(bar, true, static_cast<unsigned>(parity), true, here)) {}
}
inline void bulk_copy(void* shared_dst, const void* global_src, int bytes, Mbarrier* bar, PLUMB_SIMT_HERE) {
  simt::bulk_copy(shared_dst, global_src, bytes, bar, here);
}
inline void bulk_copy_once(void* shared_dst, const void* global_src, int bytes, Mbarrier* bar,
                           PLUMB_SIMT_HERE) {
  bulk_copy(shared_dst, global_src, bytes, bar, here);
}

// ---- gpu/device/ptx/mma.hpp ----
using simt::ptx::to_tf32;
inline void mma_m16n8k8_tf32(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2], PLUMB_SIMT_HERE) {
  simt::mma(simt::Element::tf32, simt::Element::tf32, simt::Total::f32, 8, c, a, b, here);
}
inline void mma_m16n8k4_f64(double (&c)[4], const double (&a)[2], const double (&b)[1], PLUMB_SIMT_HERE) {
  simt::mma_f64(c, a, b, 16, 4, here);
}
inline void mma_m16n8k8_f64(double (&c)[4], const double (&a)[4], const double (&b)[2], PLUMB_SIMT_HERE) {
  simt::mma_f64(c, a, b, 16, 8, here);
}
inline void mma_m16n8k16_f64(double (&c)[4], const double (&a)[8], const double (&b)[4], PLUMB_SIMT_HERE) {
  simt::mma_f64(c, a, b, 16, 16, here);
}
inline void mma_m8n8k4_f64(double (&c)[2], const double (&a)[1], const double (&b)[1], PLUMB_SIMT_HERE) {
  simt::mma_f64(c, a, b, 8, 4, here);
}

// ---- gpu/device/wgmma.hpp ----
inline void wgmma_fence(PLUMB_SIMT_HERE) { simt::wgmma_fence(here); }
inline void wgmma_commit(PLUMB_SIMT_HERE) { simt::wgmma_commit(here); }
template <int N>
void wgmma_wait(PLUMB_SIMT_HERE) {
  simt::wgmma_wait(N, here);
}
inline void wgmma_m64n128k8_tf32(float (&d)[64], const unsigned (&a)[4], unsigned long long b, bool add,
                                 PLUMB_SIMT_HERE) {
  void* sums[64];
  for (int i = 0; i < 64; ++i) sums[i] = d + i;
  const void* places[4];
  for (int i = 0; i < 4; ++i) places[i] = a + i;
  simt::wgmma({128, simt::Total::f32, simt::Element::tf32, simt::Element::tf32}, sums, a, 0, b, add, here,
              places);
}

// ---- gpu/device/tensor_map.hpp ----
struct TensorMap;
inline void copy_tile(void* shared_dst, const TensorMap* map, int row, int col, Mbarrier* bar,
                      PLUMB_SIMT_HERE) {
  const int at[] = {col, row};
  simt::tensor_load(shared_dst, map, at, 2, bar, here);
}

// ---- gpu/device/ptx/arithmetic.hpp ----
inline float min_or_nan(float x, float y) { return x != x ? x : x > y || y != y ? y : x; }
template <class T>
T* opaque(T* p) {
  return p;
}

// ---- gpu/device/ptx/store.hpp ----
template <class Vector>
void store_global(Vector* p, ::plumb::simt::same_t<Vector> v) {
  *p = v;
}

}  // namespace plumb
