// Bulk copies from global to shared memory (cp.async.bulk, sm_90) and the barriers in shared memory that they complete on (mbarrier), as
// functions around inline PTX. For language.hpp, which kernels include; the CPU executor has its own
// (gpu/simt/language/instructions.hpp). Source: PTX ISA, "cp.async.bulk", "mbarrier".
#pragma once
#include <cuda_runtime.h>

namespace plumb {

/// A barrier in shared memory. Its phases alternate in parity, the first is 0; a phase ends when all arrivals
/// and all announced bytes have come.
using Mbarrier = unsigned long long;

__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define PLUMB_SM90(...) asm volatile(__VA_ARGS__)
#else
#define PLUMB_SM90(...) (void)0  // for an older chip, where no caller gets here
#endif

/// By one thread, before the others' first use and a mbarrier_fence_init() and __syncthreads().
__device__ __forceinline__ void mbarrier_init(Mbarrier* bar, int arrivals) {
  PLUMB_SM90("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(shared_address(bar)), "r"(arrivals)
             : "memory");
}
/// Makes initialised barriers visible to the copy engine.
__device__ __forceinline__ void mbarrier_fence_init() {
  PLUMB_SM90("fence.mbarrier_init.release.cluster;\n" ::: "memory");
}
/// The thread's accesses to shared memory come before those of copies that are started behind it: before the barrier after which another
/// thread refills what this one has read.
__device__ __forceinline__ void bulk_copy_fence() {
  PLUMB_SM90("fence.proxy.async.shared::cta;\n" ::: "memory");
}
__device__ __forceinline__ void mbarrier_arrive(Mbarrier* bar) {
  PLUMB_SM90("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(shared_address(bar)) : "memory");
}
/// Arrives, and announces `bytes` of bulk copies that the phase waits for.
__device__ __forceinline__ void mbarrier_arrive_expect(Mbarrier* bar, int bytes) {
  PLUMB_SM90("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(shared_address(bar)), "r"(bytes)
             : "memory");
}
/// Waits for the end of the phase of this parity.
__device__ __forceinline__ void mbarrier_wait(Mbarrier* bar, int parity) {
  PLUMB_SM90(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(shared_address(bar)),
      "r"(parity)
      : "memory");
}
/// Starts copying `bytes`, a multiple of 16, between addresses that are multiples of 16; completes on `bar`,
/// where the bytes must have been announced.
__device__ __forceinline__ void bulk_copy(void* shared_dst, const void* global_src, int bytes,
                                          Mbarrier* bar) {
  PLUMB_SM90(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\n" ::"r"(
          shared_address(shared_dst)),
      "l"(global_src), "r"(bytes), "r"(shared_address(bar))
      : "memory");
}
/// As bulk_copy, of what is read once: it leaves the second-level cache before what others keep there.
__device__ __forceinline__ void bulk_copy_once(void* shared_dst, const void* global_src, int bytes,
                                               Mbarrier* bar) {
  PLUMB_SM90(
      "{\n"
      ".reg .b64 first;\n"
      "createpolicy.fractional.L2::evict_first.b64 first, 1.0;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, "
      "[%3], "
      "first;\n"
      "}\n" ::"r"(shared_address(shared_dst)),
      "l"(global_src), "r"(bytes), "r"(shared_address(bar))
      : "memory");
}

#undef PLUMB_SM90

}  // namespace plumb
