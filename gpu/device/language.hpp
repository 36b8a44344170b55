// The language of kernel files: CUDA C++, and words of our own for the instructions that CUDA C++ has no name for. One of the three
// headers (language, launch, memory) that connect kernels to a GPU or to the CPU executor.
//
// The include path of the build chooses <cuda_runtime.h>. The executor's header of this name (gpu/simt/language/include) brings its own
// definition of every word below; so this file is the only place where a build for a GPU differs.
//
//   ptx/async_copy.hpp   cp_async16, cp_async<Bytes>, ..._zfill, cp_async_commit, cp_async_wait<N>, prefetch_l2, named_barrier_*
//   ptx/bulk_copy.hpp    mbarrier_*, bulk_copy, bulk_copy_once
//   ptx/mma.hpp          to_tf32, mma_m16n8k8_tf32, mma_m8n8k4_f64, mma_m16n8k{4,8,16}_f64
//   ptx/arithmetic.hpp   min_or_nan, opaque
//   ptx/store.hpp        store_global
#pragma once
#include <cuda_runtime.h>

#if defined(__CUDACC__)  // host files see types and launches only

#if !defined(PLUMB_SIMT)
#define PLUMB_INLINE_PTX  // words that are functions around it are defined in their headers, not by the executor
#include "gpu/device/ptx/arithmetic.hpp"
#include "gpu/device/ptx/async_copy.hpp"
#include "gpu/device/ptx/bulk_copy.hpp"
#include "gpu/device/ptx/mma.hpp"
#include "gpu/device/ptx/store.hpp"
#if defined(PLUMB_STRESS)
#include "gpu/device/stress.hpp"
#endif

/// Whether this compilation may use the instructions of compute capability sm / 10. Kernels that need them have no body otherwise; a
/// variant states in its traits what it needs (min_sm), so that an empty kernel is never launched.
#if defined(__CUDA_ARCH__)
#define PLUMB_SM_AT_LEAST(sm) (__CUDA_ARCH__ >= 10 * (sm))
#else
#define PLUMB_SM_AT_LEAST(sm) 1
#endif

/// Declares `name` as a T* to the block's dynamic shared memory, aligned to 128 bytes; the same bytes for every T. Replaces
/// `extern __shared__ T name[]`, which clashes in templates of several types. It follows the static shared variables: aligned to 16 bytes
/// only, behind one of them, the 16-byte copies of a tile took up to 1.5 times as long (gemm of fp64, H100).
#define PLUMB_DYNAMIC_SHARED(T, name)                                     \
  extern __shared__ __align__(128) unsigned char plumb_dynamic_shared_[]; \
  T* const name = reinterpret_cast<T*>(plumb_dynamic_shared_)
#endif

#endif
