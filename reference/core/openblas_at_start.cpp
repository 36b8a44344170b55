// What OpenBLAS is told before main(): its threads and its kernels.
//
// Threads   it starts them while it is loaded, and raises SIGINT where the system refuses one; with too little address space one of them
//           spins, and exit() waits for it. No program here uses them: openblas_callers() sets their number to 1. OpenBLAS asks
//           openblas_num_threads_env() for the number that the environment gives; ours, in the executable, is found before its own. A
//           number that the user gives stands. Weak, so that a static OpenBLAS, which holds the same function, can be linked too.
// Kernels   OpenBLAS 0.3.21 (Debian 12) does not know newer processors: on AMD's it falls back to its Haswell kernels, and its AVX-512
//           kernels are 1.7 times as fast there; on an Intel Xeon with AMX to those of 2004 (Prescott), where AVX-512 kernels are 5 times
//           as fast. A choice made by the user (OPENBLAS_CORETYPE) stands.
#include <cstdlib>

extern "C" __attribute__((weak, visibility("default"))) int openblas_num_threads_env() {
  const char* const given = std::getenv("OPENBLAS_NUM_THREADS");
  const int threads = given == nullptr ? 0 : std::atoi(given);
  return threads > 0 ? threads : 1;
}

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
