// The one header a kernel file includes: the CUDA language where nvcc compiles it, the CPU executor's shim
// where g++ or clang does (-DPLUMB_SIMT), and the launch seam in both. Stands apart so that no kernel names
// either world.
#pragma once

#if defined(PLUMB_SIMT)
#include "gpu/simt/language/shim.hpp"
#else
#include <cuda_runtime.h>
#if defined(PLUMB_STRESS)
#include "gpu/runtime/stress.hpp"
#endif

/// Declares `name` as a T* to the block's dynamic shared memory, aligned to 16 bytes; the same bytes for
/// every T. Replaces `extern __shared__ T name[]`, which clashes in templates of several types.
#define PLUMB_DYNAMIC_SHARED(T, name)                                    \
  extern __shared__ __align__(16) unsigned char plumb_dynamic_shared_[]; \
  T* const name = reinterpret_cast<T*>(plumb_dynamic_shared_)

#endif

#include "gpu/runtime/launch.hpp"
