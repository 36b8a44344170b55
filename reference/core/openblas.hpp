// From how many threads OpenBLAS is called. Stands apart because every 80_openblas variant must set it before its first call.
#pragma once
#include <cblas.h>
#include <omp.h>

namespace plumb {

/// Settles OpenBLAS's threads, and returns how many of our threads may call it at once. Call it before the first BLAS call, outside
/// parallel regions. Its kernels are settled before main() (openblas_at_start.cpp).
///
/// The serial build hands out its packing buffers without a lock: called by two threads at once it multiplies the
/// wrong operands (3 to 13 of 108 gemm cases on two cores, 0.3.21; OpenBLAS issues 2126 and 2711),
/// so it gets one caller. The pthread build is set to use no threads of its own; the OpenMP build
/// sees our parallel region by itself.
inline int openblas_callers() {
  static const int callers = [] {
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
