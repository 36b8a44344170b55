// OpenBLAS starts its threads while it is loaded, before main(), and raises SIGINT where the system refuses one; with too little
// address space one of them spins, and exit() waits for it. No program here uses them: openblas_callers() sets their number to 1.
// OpenBLAS asks this function for the number that the environment gives; ours, in the executable, is found before its own. A number
// that the user gives stands. Weak, so that a static OpenBLAS, which holds the same function, can be linked too.
#include <cstdlib>

extern "C" __attribute__((weak, visibility("default"))) int openblas_num_threads_env() {
  const char* const given = std::getenv("OPENBLAS_NUM_THREADS");
  const int threads = given == nullptr ? 0 : std::atoi(given);
  return threads > 0 ? threads : 1;
}
