// What OpenBLAS is told before main(): its threads and its kernels.
//
// Threads   none of its own: no program here uses them (openblas_callers() sets their number to 1). It starts them while it is loaded,
//           raises SIGINT where the system refuses one, and waits for them in exit(). They also take turns with OpenMP's threads: with
//           OPENBLAS_NUM_THREADS=16 on 16 cores, regions of 7 us took 8 ms. It asks openblas_num_threads_env() for the number that the
//           environment gives; ours, in the executable, is found before its own. Weak, so that a static OpenBLAS, which holds the same
//           function, can be linked too.
// Kernels   OpenBLAS 0.3.21 (Debian 12) does not know newer processors: on AMD's it falls back to its Haswell kernels, and its AVX-512
//           kernels are 1.7 times as fast there; on an Intel Xeon with AMX to those of 2004 (Prescott), where AVX-512 kernels are 5 times
//           as fast. A choice made by the user (OPENBLAS_CORETYPE) stands.
#include <cstdlib>

extern "C" __attribute__((weak, visibility("default"))) int openblas_num_threads_env() { return 1; }

#if defined(__x86_64__)
// Present where OpenBLAS was built with DYNAMIC_ARCH, as the distributions' are. It chooses its kernels in a
// constructor that runs before ours, so the choice has to be made again after the environment was set.
extern "C" __attribute__((weak)) void gotoblas_dynamic_quit();
extern "C" __attribute__((weak)) void gotoblas_dynamic_init();

namespace {

__attribute__((constructor)) void choose_kernels() {
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx512 && gotoblas_dynamic_quit != nullptr && gotoblas_dynamic_init != nullptr &&
      std::getenv("OPENBLAS_CORETYPE") == nullptr && setenv("OPENBLAS_CORETYPE", "SkylakeX", 0) == 0) {
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
  }
}

}  // namespace
#endif
