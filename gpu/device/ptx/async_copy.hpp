// Asynchronous copies from global to shared memory (cp.async, sm_80) and named barriers (bar.sync id), as functions around inline PTX.
// For language.hpp, which kernels include; the CPU executor has its own (gpu/simt/language/instructions.hpp). Source: PTX ISA,
// "cp.async", "cp.async.wait_group", "bar.sync", "bar.arrive".
#pragma once
#include <cuda_runtime.h>

namespace plumb {

/// Starts copying 16 bytes to shared memory, past L1. Both addresses are multiples of 16.
__device__ __forceinline__ void cp_async16(void* shared_dst, const void* global_src) {
  const unsigned dst = static_cast<unsigned>(__cvta_generic_to_shared(shared_dst));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(dst), "l"(global_src) : "memory");
}
/// As cp_async16; only the first `valid` bytes (0..16) are read, the rest of the destination becomes zero.
__device__ __forceinline__ void cp_async16_zfill(void* shared_dst, const void* global_src, int valid) {
  const unsigned dst = static_cast<unsigned>(__cvta_generic_to_shared(shared_dst));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(dst), "l"(global_src), "r"(valid)
               : "memory");
}
/// Starts copying Bytes (4, 8 or 16) to shared memory, through L1. Both addresses are multiples of Bytes.
template <int Bytes>
__device__ __forceinline__ void cp_async(void* shared_dst, const void* global_src) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
  const unsigned dst = static_cast<unsigned>(__cvta_generic_to_shared(shared_dst));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;\n" ::"r"(dst), "l"(global_src), "n"(Bytes)
               : "memory");
}
/// As cp_async; only the first `valid` bytes (0..Bytes) are read, the rest of the destination becomes zero.
template <int Bytes>
__device__ __forceinline__ void cp_async_zfill(void* shared_dst, const void* global_src, int valid) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
  const unsigned dst = static_cast<unsigned>(__cvta_generic_to_shared(shared_dst));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;\n" ::"r"(dst), "l"(global_src), "n"(Bytes),
               "r"(valid)
               : "memory");
}
/// Closes the calling thread's group of copies started since the last commit.
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }
/// Waits until at most N of the calling thread's most recent groups are still in flight.
template <int N>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory");
}
/// Waits for all of the calling thread's copies.
__device__ __forceinline__ void cp_async_wait_all() { asm volatile("cp.async.wait_all;\n" ::: "memory"); }

/// Asks for the 128 bytes around an address to be brought into the second-level cache.
__device__ __forceinline__ void prefetch_l2(const void* global_src) {
  asm volatile("prefetch.global.L2 [%0];\n" ::"l"(global_src));
}

/// Barrier `id` (1..15; 0 is __syncthreads) among `threads` threads of the block, a multiple of 32, whole
/// warps.
__device__ __forceinline__ void named_barrier_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;\n" ::"r"(id), "r"(threads) : "memory");
}
/// Counts towards barrier `id` without waiting: the producer's half of a hand-over.
__device__ __forceinline__ void named_barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;\n" ::"r"(id), "r"(threads) : "memory");
}

}  // namespace plumb
