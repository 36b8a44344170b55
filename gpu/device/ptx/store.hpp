// Stores of several elements as one, as functions around inline PTX. For language.hpp, which kernels include; the CPU executor has its own
// (gpu/simt/language/instructions.hpp). Source: PTX ISA, "st".
#pragma once
#include <cuda_runtime.h>

namespace plumb {

/// *p = v, global memory, by one instruction. An assignment, of a float4 too, may become a store of each element: where another branch stores
/// some of them alone, the compiler joins what both branches have in common, and each sector leaves the multiprocessor several times.
__device__ __forceinline__ void store_global(float2* p, float2 v) {
  asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(p)), "f"(v.x), "f"(v.y)
               : "memory");
}
__device__ __forceinline__ void store_global(float4* p, float4 v) {
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(p)), "f"(v.x),
               "f"(v.y), "f"(v.z), "f"(v.w)
               : "memory");
}
__device__ __forceinline__ void store_global(double2* p, double2 v) {
  asm volatile("st.global.v2.f64 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(p)), "d"(v.x), "d"(v.y)
               : "memory");
}
__device__ __forceinline__ void store_global(uint2* p, uint2 v) {
  asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(p)), "r"(v.x), "r"(v.y)
               : "memory");
}
__device__ __forceinline__ void store_global(uint4* p, uint4 v) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(p)), "r"(v.x),
               "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}

}  // namespace plumb
