// The words of the CUDA language that a stress build (-DPLUMB_STRESS) replaces: barriers, fences, atomics and shuffles wait a random
// while before and after, each thread its own, and blockIdx numbers the grid's blocks in another order. Delays that all threads share
// hide as much as they show. Delays per thread show a missing barrier also beside one that is there. language.hpp includes this after
// CUDA's own headers, so the kernels' source does not change.
#pragma once
#include <cuda_runtime.h>

#include "gpu/device/stress_seed.hpp"

namespace plumb {
namespace stress {
namespace {

__device__ unsigned seed;  // 0: no delays, and blocks in their own order

struct Registrar {
  StressSeed entry;
  Registrar() : entry{&seed, stress_seeds} { stress_seeds = &entry; }
};
const Registrar registrar;

__device__ __forceinline__ unsigned mix(unsigned h) {
  h = (h ^ (h >> 16)) * 0x7feb352du;
  h = (h ^ (h >> 15)) * 0x846ca68bu;
  return h ^ (h >> 16);
}

// One thread in eight waits, 2 to 2^14 cycles: short ones meet the next instruction, long ones the next block.
__device__ __noinline__ void pause() {
  const unsigned s = *static_cast<volatile unsigned*>(&seed);
  if (s == 0) return;
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned h = mix(s ^ mix(thread ^ mix(block ^ static_cast<unsigned>(clock64()))));
  if (h % 8 != 0) return;
  const long long begin = clock64(), cycles = 2LL << (h / 8 % 14);
  while (clock64() - begin < cycles) {}
}

// A bijection of [0, n): turned by a shift, and run backwards for half of all seeds.
__device__ __forceinline__ unsigned reorder(unsigned i, unsigned n, unsigned s) {
  if (s == 0) return i;
  const unsigned turned = (i + mix(s) % n) % n;
  return s & 2u ? n - 1 - turned : turned;
}

__device__ __forceinline__ uint3 block_index() {
  const unsigned s = *static_cast<volatile unsigned*>(&seed);
  return make_uint3(reorder(blockIdx.x, gridDim.x, s), reorder(blockIdx.y, gridDim.y, s),
                    reorder(blockIdx.z, gridDim.z, s));
}
// Most kernels read this first: each warp then starts at a different time.
__device__ __forceinline__ uint3 block_index_late() {
  pause();
  return block_index();
}

struct Pauses {
  __device__ __forceinline__ Pauses() { pause(); }
  __device__ __forceinline__ ~Pauses() { pause(); }
};

}  // namespace
}  // namespace stress
}  // namespace plumb

// `call` between two pauses, with its value. On the right the names are CUDA's own: a macro does not expand within itself.
#define PLUMB_STRESSED(call) (::plumb::stress::Pauses{}, call)
#define __syncthreads() PLUMB_STRESSED(__syncthreads())
#define __syncthreads_count(p) PLUMB_STRESSED(__syncthreads_count(p))
#define __syncthreads_and(p) PLUMB_STRESSED(__syncthreads_and(p))
#define __syncthreads_or(p) PLUMB_STRESSED(__syncthreads_or(p))
#define __syncwarp(...) PLUMB_STRESSED(__syncwarp(__VA_ARGS__))
#define __threadfence() PLUMB_STRESSED(__threadfence())
#define __threadfence_block() PLUMB_STRESSED(__threadfence_block())
#define atomicAdd(...) PLUMB_STRESSED(atomicAdd(__VA_ARGS__))
#define atomicMax(...) PLUMB_STRESSED(atomicMax(__VA_ARGS__))
#define atomicMin(...) PLUMB_STRESSED(atomicMin(__VA_ARGS__))
#define atomicExch(...) PLUMB_STRESSED(atomicExch(__VA_ARGS__))
#define atomicCAS(...) PLUMB_STRESSED(atomicCAS(__VA_ARGS__))
#define blockIdx (::plumb::stress::block_index_late())
