// Arithmetic that CUDA C++ takes more than one instruction for, as functions around inline PTX. For language.hpp, which kernels include;
// the CPU executor has its own (gpu/simt/language/instructions.hpp). Source: PTX ISA, "min".
#pragma once
#include <cuda_runtime.h>

namespace plumb {

/// The smaller of two; NaN if either is. fminf() drops NaN, and a comparison of the two takes two instructions.
__device__ __forceinline__ float min_or_nan(float x, float y) {
  float least;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(x), "f"(y));
  return least;
}

/// `p`, of which the compiler knows nothing but its value: it keeps the pointer in a register and does not compute it again at each use.
template <class T>
__device__ __forceinline__ T* opaque(T* p) {
  asm("" : "+l"(p));
  return p;
}

}  // namespace plumb
