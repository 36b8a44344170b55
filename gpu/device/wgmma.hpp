// requires: sm_90a
// Warpgroup-wide matrix products (wgmma, sm_90a alone) for the shape in use, as functions around inline PTX; the
// CPU executor has its own (gpu/simt/language/instructions.hpp). Four consecutive warps, the first a multiple of
// four, call them together. Fragment layouts: warp w of the group has rows 16 w.. of A and of the sums, laid out
// in each warp as ptx/mma.hpp has them. Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
#pragma once
#include "gpu/device/language.hpp"
#include "reference/core/abi.hpp"

namespace plumb {

/// Describes an operand in shared memory that is made of cores of 8 rows by 16 bytes, each 128 contiguous
/// bytes, rows running along M or N: `along_k` bytes from a core to the next along K, `along_rows` to the
/// next 8 rows.
__device__ __forceinline__ unsigned long long wgmma_cores(const void* shared, int along_k, int along_rows) {
  return static_cast<unsigned long long>((shared_address(shared) & 0x3ffff) >> 4) |
         static_cast<unsigned long long>(along_k >> 4) << 16 |
         static_cast<unsigned long long>(along_rows >> 4) << 32;
}

#if defined(PLUMB_INLINE_PTX)
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define PLUMB_WGMMA(...) asm volatile(__VA_ARGS__)
#else
#define PLUMB_WGMMA(...) (void)0  // not sm_90a: no caller gets here
#endif

/// Before the first product, and before one that reads registers written since.
__device__ __forceinline__ void wgmma_fence() { PLUMB_WGMMA("wgmma.fence.sync.aligned;\n" ::: "memory"); }
/// Closes the group of products started since the last commit.
__device__ __forceinline__ void wgmma_commit() {
  PLUMB_WGMMA("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}
/// Waits until at most N groups are in flight.
template <int N>
__device__ __forceinline__ void wgmma_wait() {
  PLUMB_WGMMA("wgmma.wait_group.sync.aligned %0;\n" ::"n"(N) : "memory");
}

/// d(64x128) = a(64x8) b(8x128) + (add ? d : 0), tf32 operands, fp32 sums; a in registers, b described.
/// Asynchronous: neither d nor a may be touched before the wait.
__device__ __forceinline__ void wgmma_m64n128k8_tf32(float (&d)[64], const unsigned (&a)[4],
                                                     unsigned long long b, bool add) {
  PLUMB_WGMMA(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, p, 1, 1;\n"
      "}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]),
        "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
        "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]),
        "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),
        "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]),
        "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]),
        "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)));
}

#undef PLUMB_WGMMA
#endif

#if defined(__CUDACC__)
// Products of operands that both lie in shared memory, as copies by swizzled tensor maps leave them: PTX in both worlds, since the executor
// reads it.
#if !defined(PLUMB_INLINE_PTX) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define PLUMB_WGMMA(...) asm volatile(__VA_ARGS__)
#else
#define PLUMB_WGMMA(...) (void)0  // not sm_90a: no caller gets here
#endif

/// Describes an operand in shared memory of rows of 128 bytes, swizzled, 8 of them 1024 bytes on a boundary of 1024: rows run along M or N and
/// elements along K. Turned, rows run along K and elements along M or N, 64 of 16 bits, and `next` bytes on are the next 64.
__device__ __forceinline__ unsigned long long wgmma_swizzled(const void* shared, int next = 16) {
  return static_cast<unsigned long long>((shared_address(shared) & 0x3ffff) >> 4) |
         static_cast<unsigned long long>(next >> 4) << 16 | 64ull << 32 | 1ull << 62;
}

/// Registers that a thread of the warpgroup may have from here on; the group calls it together.
template <int N>
__device__ __forceinline__ void more_registers() {
  PLUMB_WGMMA("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(N));
}
template <int N>
__device__ __forceinline__ void fewer_registers() {
  PLUMB_WGMMA("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(N));
}

#define PLUMB_8(d, i)                                                                         \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define PLUMB_32(d, i) PLUMB_8(d, i), PLUMB_8(d, i + 8), PLUMB_8(d, i + 16), PLUMB_8(d, i + 24)
#define PLUMB_SUMS_64(d) PLUMB_32(d, 0)
#define PLUMB_SUMS_128(d) PLUMB_32(d, 0), PLUMB_32(d, 32)
#define PLUMB_SUMS_256(d) PLUMB_32(d, 0), PLUMB_32(d, 32), PLUMB_32(d, 64), PLUMB_32(d, 96)
#define PLUMB_NAMES_64                                                     \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define PLUMB_REST_64 "%32, %33, p, 1, 1"
#define PLUMB_ADD_64 "%34"
#define PLUMB_NAMES_128                                                              \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "           \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define PLUMB_REST_128 "%64, %65, p, 1, 1"
#define PLUMB_ADD_128 "%66"
#define PLUMB_NAMES_256                                                                          \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                       \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "             \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "             \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "             \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "             \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "             \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define PLUMB_REST_256 "%128, %129, p, 1, 1"
#define PLUMB_ADD_256 "%130"

/// d(64 x N) = a(64 x 32 bytes) b(32 bytes x N) + (add ? d : 0), fp32 sums; both operands described, B turned where its elements have 16 bits.
/// Asynchronous: d may not be touched before the wait.
template <class In, int N>
struct WgmmaShared;

#define PLUMB_WGMMA_OF(In, N, type, turns)                                                   \
  template <>                                                                                \
  struct WgmmaShared<In, N> {                                                                \
    static __device__ __forceinline__ void multiply(float (&d)[N / 2], unsigned long long a, \
                                                    unsigned long long b, bool add) {        \
      PLUMB_WGMMA("{\n.reg .pred p;\nsetp.ne.b32 p, " PLUMB_ADD_##N                          \
                  ", 0;\nwgmma.mma_async.sync.aligned.m64n" #N type " {" PLUMB_NAMES_##N     \
                  "}, " PLUMB_REST_##N turns ";\n}\n"                                        \
                  : PLUMB_SUMS_##N(d)                                                        \
                  : "l"(a), "l"(b), "r"(static_cast<int>(add)));                             \
    }                                                                                        \
  }
#define PLUMB_WGMMA_WIDTHS(In, type, turns) \
  PLUMB_WGMMA_OF(In, 64, type, turns);      \
  PLUMB_WGMMA_OF(In, 128, type, turns);     \
  PLUMB_WGMMA_OF(In, 256, type, turns)
PLUMB_WGMMA_WIDTHS(f16, "k16.f32.f16.f16", ", 0, 1");
PLUMB_WGMMA_WIDTHS(bf16, "k16.f32.bf16.bf16", ", 0, 1");
PLUMB_WGMMA_WIDTHS(e4m3, "k32.f32.e4m3.e4m3", "");
PLUMB_WGMMA_WIDTHS(e5m2, "k32.f32.e5m2.e5m2", "");

#undef PLUMB_WGMMA_WIDTHS
#undef PLUMB_WGMMA_OF
#undef PLUMB_WGMMA
#endif

}  // namespace plumb
