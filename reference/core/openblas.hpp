// How OpenBLAS is called: which kernels it runs, and from how many threads. Stands apart because every
// 80_openblas variant must set both before its first call.
#pragma once
#include <cblas.h>
#include <omp.h>

#include <cstdlib>

#if defined(__x86_64__)
// Present where OpenBLAS was built with DYNAMIC_ARCH, as the distributions' are. It chooses its kernels in a
// constructor that runs before ours, so the choice has to be made again after the environment was set.
extern "C" __attribute__((weak)) void gotoblas_dynamic_quit();
extern "C" __attribute__((weak)) void gotoblas_dynamic_init();
#endif

namespace plumb {

/// Settles OpenBLAS's kernels and threads, and returns how many of our threads may call it at once. Call it
/// before the first BLAS call, outside parallel regions.
///
/// Kernels   OpenBLAS 0.3.21 (Debian 12) does not know newer AMD parts and falls back to its Haswell kernels;
/// its AVX-512
///           kernels are 1.7 times as fast there. A choice made by the user (OPENBLAS_CORETYPE) stands.
/// Threads   the serial build hands out its packing buffers without a lock: called by two threads at once it
/// multiplies the
///           wrong operands (3 to 13 of 108 gemm cases on two cores, 0.3.21; OpenBLAS issues 2126 and 2711),
///           so it gets one caller. The pthread build is set to use no threads of its own; the OpenMP build
///           sees our parallel region by itself.
inline int openblas_callers() {
  static const int callers = [] {
#if defined(__x86_64__)
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (avx512 && gotoblas_dynamic_quit != nullptr && gotoblas_dynamic_init != nullptr &&
        std::getenv("OPENBLAS_CORETYPE") == nullptr && setenv("OPENBLAS_CORETYPE", "SkylakeX", 0) == 0) {
      gotoblas_dynamic_quit();
      gotoblas_dynamic_init();
    }
#endif
    const int build = openblas_get_parallel();
    if (build == OPENBLAS_THREAD) openblas_set_num_threads(1);
    return build == OPENBLAS_SEQUENTIAL ? 1 : 0;
  }();
  return callers == 1 ? 1 : omp_get_max_threads();
}

/// What to say in the report where openblas_callers() is 1.
inline constexpr const char* kOpenblasIsSerial =
    "the serial build of OpenBLAS is not safe to call from several threads: one core "
    "(libopenblas-pthread-dev uses all)";

}  // namespace plumb
