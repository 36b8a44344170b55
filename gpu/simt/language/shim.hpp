// The CUDA language for a host compiler: what a kernel file sees instead of <cuda_runtime.h> when it is built
// for the CPU executor (-DPLUMB_SIMT). Index variables, vector types, barriers, warp operations, atomics,
// fences, intrinsics.
//
// Why this way: every operation that synchronises, or that the executor must see, is a call into scheduler/
// with its file and line as default arguments; everything else is plain C++ that the optimiser and the
// compiler's own thread-sanitizer instrumentation handle. Functions that touch a kernel's memory on its
// behalf are PLUMB_SIMT_UNTRACKED, so that an atomic is reported once, as an atomic. __shared__, __global__ and the other
// qualifiers are left as markers for rewrite.py, which runs on the preprocessed text and so sees headers and macros alike. C++17;
// includes only what CUDA's own headers bring along,
// in their C form, which declares isnan, clock and the others outside of std too.
#pragma once
#if !defined(PLUMB_SIMT)
#error \
    "gpu/simt/language/shim.hpp is for the CPU executor: compile with -DPLUMB_SIMT (plumb_simt_kernels() in CMake does)"
#endif

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>

#include "gpu/simt/language/device_api.hpp"

#if !defined(__clang__)
// A kernel's copies, as what they read and write: calls of the functions that clang calls by itself. g++ would expand them behind its own
// instrumentation, or call the C library, into which nobody looks. -fno-builtin-memcpy and its like belong to it.
extern "C" {
void* memcpy(void* to, const void* from, size_t bytes) noexcept __asm__("__tsan_memcpy");
void* memmove(void* to, const void* from, size_t bytes) noexcept __asm__("__tsan_memmove");
void* memset(void* to, int byte, size_t bytes) noexcept __asm__("__tsan_memset");
}
#endif

// Variables, so that a program may have a gridDim of its own; the executor sets them where it switches. Constant for the thread that
// reads them: the compiler may keep them across barriers. Without a constructor, so that reads of them are not instrumented.
extern const uint3 threadIdx, blockIdx, blockDim, gridDim;
constexpr int warpSize = 32;

#include "gpu/simt/language/byte_copies.hpp"
#include "gpu/simt/language/clusters.hpp"
#include "gpu/simt/language/instructions.hpp"
#include "gpu/simt/language/math.hpp"
#include "gpu/simt/language/nv_atomics.hpp"
#include "gpu/simt/language/own_arrays.hpp"
#include "gpu/simt/language/packed.hpp"
#include "gpu/simt/language/ptx.hpp"
#include "gpu/simt/language/rounding.hpp"
#include "gpu/simt/language/textures.hpp"
#include "gpu/simt/language/unset_variables.hpp"

// ---- function and variable qualifiers ----
#define __global__ __plumb_global__
#define __device__ __plumb_device__
#define __host__ __plumb_host__
#define __constant__ __plumb_constant__
#define __managed__ __plumb_managed__
#define __grid_constant__
#define __shared__ __plumb_shared__
#define __launch_bounds__(...) __plumb_launch_bounds__(__VA_ARGS__)
#define __cluster_dims__(...) __plumb_cluster_dims__(__VA_ARGS__)
#define __forceinline__ inline
// __noinline__ is no macro: standard headers spell an attribute that way. rewrite.py takes it out where it
// stands alone.
#define __align__(n) __attribute__((aligned(n)))
#if !defined(__restrict__)
#define __restrict__ __restrict
#endif
#if !defined(__CUDA_ARCH__)
#define __CUDA_ARCH__ 800
#endif

#define __trap() ::plumb::simt::trap("__trap()", ::plumb::simt::Here::at())
#define __prof_trigger(counter) static_cast<void>(counter)
#define __brkpt() ::plumb::simt::trap("__brkpt()", ::plumb::simt::Here::at())

namespace plumb::simt {
/// rewrite.py puts a call of it at the start of a kernel that has __launch_bounds__.
inline void launch_bounds(unsigned most_threads) {
  if (blockDim.x * blockDim.y * blockDim.z > most_threads) refuse_block(most_threads);
}
}  // namespace plumb::simt

// ---- block barriers ----
inline void __syncthreads(PLUMB_SIMT_HERE) {
  ::plumb::simt::block_barrier(::plumb::simt::Vote::none, 0, here);
}
inline int __syncthreads_count(int p, PLUMB_SIMT_HERE) {
  return ::plumb::simt::block_barrier(::plumb::simt::Vote::count, p != 0, here);
}
inline int __syncthreads_and(int p, PLUMB_SIMT_HERE) {
  return ::plumb::simt::block_barrier(::plumb::simt::Vote::all, p != 0, here);
}
inline int __syncthreads_or(int p, PLUMB_SIMT_HERE) {
  return ::plumb::simt::block_barrier(::plumb::simt::Vote::any, p != 0, here);
}
/// A barrier of the block by its number: of all its threads, or of `threads` of them.
inline void __barrier_sync_count(unsigned id, unsigned threads, PLUMB_SIMT_HERE) {
  ::plumb::simt::named_barrier(static_cast<int>(id), static_cast<int>(threads), true, here);
}
inline void __barrier_sync(unsigned id, PLUMB_SIMT_HERE) {
  if (id == 0) return __syncthreads(here);
  ::plumb::simt::named_barrier(static_cast<int>(id), ::plumb::simt::ptx::block_size(), true, here);
}

// ---- fences ----
inline void __threadfence_block() { ::plumb::simt::fence(::plumb::simt::Scope::block); }
inline void __threadfence() { ::plumb::simt::fence(::plumb::simt::Scope::device); }
inline void __threadfence_cluster() { ::plumb::simt::fence(::plumb::simt::Scope::device); }
inline void __threadfence_system() { ::plumb::simt::fence(::plumb::simt::Scope::device); }
inline void __nanosleep(unsigned) { ::plumb::simt::pause(); }
// A launch runs when the one before it in its stream has ended; one that need not wait for that knows it from here on.
inline void cudaGridDependencySynchronize() { ::plumb::simt::wait_for_launches(); }
inline void cudaTriggerProgrammaticLaunchCompletion() {}
inline long long clock64() { return ::plumb::simt::clock_ticks(); }

// ---- warp operations ----
namespace plumb::simt {

enum class Shuffle : int { index, up, down, exclusive };

template <class T>
struct ShuffleLane {
  T value;
  int operand;
  int width;
};

// Lane `lane`'s value after a shuffle; what a lane outside the mask or an exited one holds is undefined, as on a
// device.
template <class T, Shuffle S>
PLUMB_SIMT_UNTRACKED void shuffle_lanes(unsigned mask, void* const* in, void* const* out) {
  for (int lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1u) == 0) continue;
    const auto& mine = *static_cast<const ShuffleLane<T>*>(in[lane]);
    const int width = mine.width;
    const int first = lane & ~(width - 1);
    int source = lane;
    if (S == Shuffle::index) source = first | (mine.operand & (width - 1));
    if (S == Shuffle::up && lane - mine.operand >= first) source = lane - mine.operand;
    if (S == Shuffle::down && lane + mine.operand < first + width) source = lane + mine.operand;
    if (S == Shuffle::exclusive && (lane ^ mine.operand) < first + width) source = (lane ^ mine.operand) & 31;
    if ((mask >> source & 1u) != 0) {
      __builtin_memcpy(out[lane], &static_cast<const ShuffleLane<T>*>(in[source])->value, sizeof(T));
    } else {
      undefined_value(out[lane], sizeof(T), lane, source);
    }
  }
}

template <Shuffle S, class T>
PLUMB_SIMT_UNTRACKED T shuffle(unsigned mask, T value, int operand, int width, const char* name, Here here) {
  static_assert(std::is_trivially_copyable<T>::value, "a shuffle moves bits");
  if (width < 1 || width > 32 || (width & (width - 1)) != 0)
    trap("shuffle width is no power of two up to 32", here);
  ShuffleLane<T> in{value, operand, width};
  T out{};
  warp_exchange(mask, name, &shuffle_lanes<T, S>, &in, &out, here);
  return out;
}

template <class T>
struct Add {
  static T of(T a, T b) { return a + b; }
};
template <class T>
struct Min {
  static T of(T a, T b) { return b < a ? b : a; }
};
template <class T>
struct Max {
  static T of(T a, T b) { return a < b ? b : a; }
};
template <class T>
struct And {
  static T of(T a, T b) { return a & b; }
};
template <class T>
struct Or {
  static T of(T a, T b) { return a | b; }
};
template <class T>
struct Xor {
  static T of(T a, T b) { return a ^ b; }
};

template <class T, class Op>
PLUMB_SIMT_UNTRACKED void reduce_lanes(unsigned mask, void* const* in, void* const* out) {
  T total{};
  bool first = true;
  for (int lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1u) == 0) continue;
    const T v = *static_cast<const T*>(in[lane]);
    total = first ? v : Op::of(total, v);
    first = false;
  }
  for (int lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1u) != 0) *static_cast<T*>(out[lane]) = total;
  }
}

template <class Op, class T>
PLUMB_SIMT_UNTRACKED T warp_reduce(unsigned mask, T value, const char* name, Here here) {
  T out{};
  warp_exchange(mask, name, &reduce_lanes<T, Op>, &value, &out, here);
  return out;
}

/// What an exchange answers: lanes, of those that took part. Exited ones do not, and it may be asked when others have exited since.
struct LanesOf {
  unsigned lanes, present;
};

PLUMB_SIMT_UNTRACKED inline void ballot_lanes(unsigned mask, void* const* in, void* const* out) {
  unsigned votes = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1u) != 0 && *static_cast<const int*>(in[lane]) != 0) votes |= 1u << lane;
  }
  for (int lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1u) != 0) *static_cast<LanesOf*>(out[lane]) = {votes, mask};
  }
}

PLUMB_SIMT_UNTRACKED inline LanesOf ballot(unsigned mask, int predicate, const char* name, Here here) {
  LanesOf out{};
  warp_exchange(mask, name, &ballot_lanes, &predicate, &out, here);
  return out;
}

/// elect.sync: the lane that it elects.
inline unsigned elect(unsigned mask, Here here) {
  unsigned rest = ballot(mask, 1, "elect.sync", here).lanes;
  for (unsigned r = elected_rank(static_cast<unsigned>(__builtin_popcount(rest)), mask); r > 0; --r)
    rest &= rest - 1;
  return static_cast<unsigned>(__builtin_ctz(rest));
}

// By words: a call of memcmp, which is left of the builtin where the compiler optimises little, would be a tracked access.
template <class T>
PLUMB_SIMT_UNTRACKED bool same_bits(const void* a, const void* b) {
  static_assert(sizeof(T) % sizeof(unsigned) == 0);
  for (unsigned word = 0; word < sizeof(T) / sizeof(unsigned); ++word) {
    if (static_cast<const unsigned*>(a)[word] != static_cast<const unsigned*>(b)[word]) return false;
  }
  return true;
}

template <class T>
PLUMB_SIMT_UNTRACKED void match_lanes(unsigned mask, void* const* in, void* const* out) {
  for (int lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1u) == 0) continue;
    unsigned equal = 0;
    for (int other = 0; other < 32; ++other) {
      if ((mask >> other & 1u) != 0 && same_bits<T>(in[lane], in[other])) equal |= 1u << other;
    }
    *static_cast<LanesOf*>(out[lane]) = {equal, mask};
  }
}

template <class T>
PLUMB_SIMT_UNTRACKED LanesOf match(unsigned mask, T value, const char* name, Here here) {
  LanesOf out{};
  warp_exchange(mask, name, &match_lanes<T>, &value, &out, here);
  return out;
}

}  // namespace plumb::simt

inline void __syncwarp(unsigned mask = 0xffffffffu, PLUMB_SIMT_HERE) {
  ::plumb::simt::warp_exchange(mask, "__syncwarp", nullptr, nullptr, nullptr, here,
                               ::plumb::simt::WarpOrder::memory);
}
template <class T>
T __shfl_sync(unsigned mask, T v, int source, int width = 32, PLUMB_SIMT_HERE) {
  return ::plumb::simt::shuffle<::plumb::simt::Shuffle::index>(mask, v, source, width, "__shfl_sync", here);
}
template <class T>
T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32, PLUMB_SIMT_HERE) {
  return ::plumb::simt::shuffle<::plumb::simt::Shuffle::up>(mask, v, static_cast<int>(delta & 63u), width,
                                                            "__shfl_up_sync", here);
}
template <class T>
T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32, PLUMB_SIMT_HERE) {
  return ::plumb::simt::shuffle<::plumb::simt::Shuffle::down>(mask, v, static_cast<int>(delta & 63u), width,
                                                              "__shfl_down_sync", here);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T v, int lane_mask, int width = 32, PLUMB_SIMT_HERE) {
  return ::plumb::simt::shuffle<::plumb::simt::Shuffle::exclusive>(mask, v, lane_mask & 31, width,
                                                                   "__shfl_xor_sync", here);
}
inline unsigned __ballot_sync(unsigned mask, int p, PLUMB_SIMT_HERE) {
  return ::plumb::simt::ballot(mask, p, "__ballot_sync", here).lanes;
}
inline int __any_sync(unsigned mask, int p, PLUMB_SIMT_HERE) {
  return ::plumb::simt::ballot(mask, p, "__any_sync", here).lanes != 0;
}
inline int __all_sync(unsigned mask, int p, PLUMB_SIMT_HERE) {
  return ::plumb::simt::ballot(mask, p == 0, "__all_sync", here).lanes == 0;
}
/// Whether the predicate is the same in all lanes.
inline int __uni_sync(unsigned mask, int p, PLUMB_SIMT_HERE) {
  const ::plumb::simt::LanesOf votes = ::plumb::simt::ballot(mask, p, "__uni_sync", here);
  return votes.lanes == 0 || votes.lanes == votes.present;
}
inline unsigned __activemask(PLUMB_SIMT_HERE) { return ::plumb::simt::active_mask(here); }
template <class T>
T __reduce_add_sync(unsigned mask, T v, PLUMB_SIMT_HERE) {
  return ::plumb::simt::warp_reduce<::plumb::simt::Add<T>>(mask, v, "__reduce_add_sync", here);
}
template <class T>
T __reduce_min_sync(unsigned mask, T v, PLUMB_SIMT_HERE) {
  return ::plumb::simt::warp_reduce<::plumb::simt::Min<T>>(mask, v, "__reduce_min_sync", here);
}
template <class T>
T __reduce_max_sync(unsigned mask, T v, PLUMB_SIMT_HERE) {
  return ::plumb::simt::warp_reduce<::plumb::simt::Max<T>>(mask, v, "__reduce_max_sync", here);
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned v, PLUMB_SIMT_HERE) {
  return ::plumb::simt::warp_reduce<::plumb::simt::And<unsigned>>(mask, v, "__reduce_and_sync", here);
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned v, PLUMB_SIMT_HERE) {
  return ::plumb::simt::warp_reduce<::plumb::simt::Or<unsigned>>(mask, v, "__reduce_or_sync", here);
}
inline unsigned __reduce_xor_sync(unsigned mask, unsigned v, PLUMB_SIMT_HERE) {
  return ::plumb::simt::warp_reduce<::plumb::simt::Xor<unsigned>>(mask, v, "__reduce_xor_sync", here);
}
template <class T>
unsigned __match_any_sync(unsigned mask, T v, PLUMB_SIMT_HERE) {
  return ::plumb::simt::match(mask, v, "__match_any_sync", here).lanes;
}
template <class T>
unsigned __match_all_sync(unsigned mask, T v, int* all, PLUMB_SIMT_HERE) {
  const ::plumb::simt::LanesOf equal = ::plumb::simt::match(mask, v, "__match_all_sync", here);
  *all = equal.lanes == equal.present;
  return *all != 0 ? equal.lanes : 0u;
}

// ---- atomics: relaxed, at the scope in the name; sequenced by the executor, which may switch threads before
// each ----
#define PLUMB_SIMT_ATOMIC(name, suffix, scope, exchanges, expression)                        \
  template <class T>                                                                         \
  PLUMB_SIMT_UNTRACKED T name##suffix(T* p, ::plumb::simt::same_t<T> v, PLUMB_SIMT_HERE) {   \
    ::plumb::simt::atomic_begin(p, sizeof(T), ::plumb::simt::Scope::scope, here, exchanges); \
    const T old = *p;                                                                        \
    const T now = expression;                                                                \
    *p = now;                                                                                \
    ::plumb::simt::atomic_end(__builtin_memcmp(&old, &now, sizeof(T)) != 0);                 \
    return old;                                                                              \
  }
#define PLUMB_SIMT_ATOMICS_THAT(exchanges, name, expression)      \
  PLUMB_SIMT_ATOMIC(name, , device, exchanges, expression)        \
  PLUMB_SIMT_ATOMIC(name, _system, device, exchanges, expression) \
  PLUMB_SIMT_ATOMIC(name, _block, block, exchanges, expression)
#define PLUMB_SIMT_ATOMICS(name, expression) PLUMB_SIMT_ATOMICS_THAT(false, name, expression)
PLUMB_SIMT_ATOMICS(atomicAdd, ::plumb::simt::atomic_sum(p, old, v))
PLUMB_SIMT_ATOMICS(atomicSub, static_cast<T>(old - v))
PLUMB_SIMT_ATOMICS(atomicMin, v < old ? v : old)
PLUMB_SIMT_ATOMICS(atomicMax, old < v ? v : old)
PLUMB_SIMT_ATOMICS_THAT(true, atomicExch, v)
PLUMB_SIMT_ATOMICS(atomicAnd, old& v)
PLUMB_SIMT_ATOMICS(atomicOr, old | v)
PLUMB_SIMT_ATOMICS(atomicXor, old ^ v)
PLUMB_SIMT_ATOMICS(atomicInc, old >= v ? T{0} : static_cast<T>(old + 1))
PLUMB_SIMT_ATOMICS(atomicDec, old == 0 || old > v ? v : static_cast<T>(old - 1))
#undef PLUMB_SIMT_ATOMICS
#undef PLUMB_SIMT_ATOMICS_THAT
#undef PLUMB_SIMT_ATOMIC
#define PLUMB_SIMT_CAS(suffix, scope)                                                               \
  template <class T>                                                                                \
  PLUMB_SIMT_UNTRACKED T atomicCAS##suffix(T* p, ::plumb::simt::same_t<T> expected,                 \
                                           ::plumb::simt::same_t<T> desired, PLUMB_SIMT_HERE) {     \
    ::plumb::simt::atomic_begin(p, sizeof(T), ::plumb::simt::Scope::scope, here, false, &expected); \
    const T old = *p;                                                                               \
    const bool hit = __builtin_memcmp(&old, &expected, sizeof(T)) == 0;                             \
    if (hit) *p = desired;                                                                          \
    ::plumb::simt::atomic_end(hit&& __builtin_memcmp(&old, &desired, sizeof(T)) != 0);              \
    return old;                                                                                     \
  }
PLUMB_SIMT_CAS(, device)
PLUMB_SIMT_CAS(_system, device)
PLUMB_SIMT_CAS(_block, block)
#undef PLUMB_SIMT_CAS

// ---- loads and stores with cache hints: plain accesses of the named type ----
template <class T>
T __ldg(const T* p) {
  return *p;
}
template <class T>
T __ldca(const T* p) {
  return *p;
}
template <class T>
T __ldcg(const T* p) {
  return *p;
}
template <class T>
T __ldcs(const T* p) {
  return *p;
}
template <class T>
T __ldlu(const T* p) {
  return *p;
}
template <class T>
T __ldcv(const T* p) {
  return *const_cast<const volatile T*>(p);
}
template <class T>
void __stwb(T* p, ::plumb::simt::same_t<T> v) {
  *p = v;
}
template <class T>
void __stcg(T* p, ::plumb::simt::same_t<T> v) {
  *p = v;
}
template <class T>
void __stcs(T* p, ::plumb::simt::same_t<T> v) {
  *p = v;
}
template <class T>
void __stwt(T* p, ::plumb::simt::same_t<T> v) {
  *p = v;
}
inline unsigned __cvta_generic_to_shared(const void* p) { return ::plumb::simt::shared_offset(p); }
inline std::size_t __cvta_generic_to_global(const void* p) { return reinterpret_cast<std::size_t>(p); }
inline void* __cvta_shared_to_generic(std::size_t offset) {
  return ::plumb::simt::shared_at(static_cast<unsigned>(offset));
}
inline void* __cvta_global_to_generic(std::size_t address) { return reinterpret_cast<void*>(address); }
inline bool __isShared(const void* p) { return ::plumb::simt::is_shared(p); }
inline bool __isCtaShared(const void* p) { return ::plumb::simt::is_shared(p); }
inline bool __isGlobal(const void* p) { return !::plumb::simt::is_shared(p); }

// ---- pipeline primitives (<cuda_pipeline.h>) ----
inline void __pipeline_memcpy_async(void* shared_dst, const void* global_src, std::size_t bytes,
                                    std::size_t zfill = 0, PLUMB_SIMT_HERE) {
  ::plumb::simt::async_copy(shared_dst, global_src, static_cast<int>(bytes), static_cast<int>(bytes - zfill),
                            here);
}
inline void __pipeline_commit() { ::plumb::simt::async_commit(); }
inline void __pipeline_wait_prior(int n) { ::plumb::simt::async_wait(n); }

// ---- arithmetic intrinsics ----
inline unsigned __float_as_uint(float x) { return ::plumb::simt::bits_of(x); }
inline int __float_as_int(float x) { return static_cast<int>(::plumb::simt::bits_of(x)); }
inline float __uint_as_float(unsigned x) { return ::plumb::simt::from_bits(x); }
inline float __int_as_float(int x) { return ::plumb::simt::from_bits(static_cast<unsigned>(x)); }
inline long long __double_as_longlong(double x) { return static_cast<long long>(::plumb::simt::bits_of(x)); }
inline double __longlong_as_double(long long x) {
  return ::plumb::simt::from_bits(static_cast<unsigned long long>(x));
}
inline int __double2loint(double x) { return static_cast<int>(::plumb::simt::bits_of(x)); }
inline int __double2hiint(double x) { return static_cast<int>(::plumb::simt::bits_of(x) >> 32); }
inline double __hiloint2double(int hi, int lo) {
  return ::plumb::simt::from_bits(static_cast<unsigned long long>(static_cast<unsigned>(hi)) << 32 |
                                  static_cast<unsigned>(lo));
}
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fdividef(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline float __frsqrt_rn(float a) { return static_cast<float>(1.0 / sqrt(static_cast<double>(a))); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __drcp_rn(double a) { return 1.0 / a; }
inline double __dsqrt_rn(double a) { return sqrt(a); }
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return powf(10.0f, x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __saturatef(float x) { return !(x > 0.0f) ? 0.0f : x < 1.0f ? x : 1.0f; }
inline void __sincosf(float x, float* s, float* c) {
  *s = sinf(x);
  *c = cosf(x);
}
inline int __mul24(int a, int b) {  // of the low 24 bits
  const int x = static_cast<int>(static_cast<unsigned>(a) << 8) >> 8;
  const int y = static_cast<int>(static_cast<unsigned>(b) << 8) >> 8;
  return static_cast<int>(static_cast<unsigned>(x) * static_cast<unsigned>(y));
}
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
inline int __mulhi(int a, int b) { return static_cast<int>((static_cast<long long>(a) * b) >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>((static_cast<__int128>(a) * b) >> 64);
}
inline int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
inline int __rhadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
inline unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}
inline unsigned __sad(int a, int b, unsigned c) {
  return c + (a < b ? static_cast<unsigned>(b) - static_cast<unsigned>(a)
                    : static_cast<unsigned>(a) - static_cast<unsigned>(b));
}
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a < b ? b - a : a - b); }

// ---- bit intrinsics ----
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(hi) << 32 | lo;
  return static_cast<unsigned>(both << (shift & 31u) >> 32);
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(hi) << 32 | lo;
  return static_cast<unsigned>(both >> (shift & 31u));
}
/// The shift confined to 32.
inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);
}
inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);
}
/// Where the bit of `mask` stands that is the offset-th set one from `base` upwards, or downwards where the offset is negative; ~0 where
/// there is none. Offset 0 asks for the bit at `base` itself.
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
  int left = offset == 0 ? 1 : abs(offset);
  const int step = offset < 0 ? -1 : 1;
  for (int at = static_cast<int>(base); at >= 0 && at < 32 && (offset != 0 || at == static_cast<int>(base));
       at += step) {
    if ((mask >> at & 1u) != 0 && --left == 0) return static_cast<unsigned>(at);
  }
  return ~0u;
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long both = static_cast<unsigned long long>(y) << 32 | x;
  unsigned out = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned s = selector >> (4 * i) & 0xfu;
    unsigned byte = static_cast<unsigned>(both >> (8 * (s & 7u))) & 0xffu;
    if ((s & 8u) != 0) byte = (byte & 0x80u) != 0 ? 0xffu : 0u;
    out |= byte << (8 * i);
  }
  return out;
}

// ---- min and max as CUDA overloads them: any two arithmetic types, in their common type; functions, not templates, where the two are
// alike, which a library's own templates leave alone and a program may declare again ----
template <class A, class B,
          class = std::enable_if_t<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value>>
constexpr std::common_type_t<A, B> min(A a, B b) {
  using C = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point<C>::value) {
    return static_cast<C>(fmin(static_cast<C>(a), static_cast<C>(b)));
  } else {
    return static_cast<C>(b) < static_cast<C>(a) ? static_cast<C>(b) : static_cast<C>(a);
  }
}
template <class A, class B,
          class = std::enable_if_t<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value>>
constexpr std::common_type_t<A, B> max(A a, B b) {
  using C = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point<C>::value) {
    return static_cast<C>(fmax(static_cast<C>(a), static_cast<C>(b)));
  } else {
    return static_cast<C>(a) < static_cast<C>(b) ? static_cast<C>(b) : static_cast<C>(a);
  }
}
#define PLUMB_SIMT_MIN_MAX(T)                        \
  inline T min(T a, T b) { return min<T, T>(a, b); } \
  inline T max(T a, T b) { return max<T, T>(a, b); }
PLUMB_SIMT_MIN_MAX(int)
PLUMB_SIMT_MIN_MAX(unsigned)
PLUMB_SIMT_MIN_MAX(long)
PLUMB_SIMT_MIN_MAX(unsigned long)
PLUMB_SIMT_MIN_MAX(long long)
PLUMB_SIMT_MIN_MAX(unsigned long long)
PLUMB_SIMT_MIN_MAX(float)
PLUMB_SIMT_MIN_MAX(double)
#undef PLUMB_SIMT_MIN_MAX
