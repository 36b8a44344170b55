// Calling OpenBLAS from several threads. Stands apart because its serial build, the one Debian and Ubuntu call
// libopenblas-serial, is not re-entrant: it is built without locks, two threads may be handed the same scratch buffer, and about
// one product in 5,000 then comes out wrong (0.3.21, two threads, n = 256). The pthread and openmp builds lock.
#pragma once
#include <mutex>

extern "C" {
int openblas_get_parallel(void);  // 0: serial, 1: pthreads, 2: OpenMP
void openblas_set_num_threads(int);
}

namespace plumb {

/// Held around every OpenBLAS call that other threads may make at the same time:
///   const OpenBlasTurn turn;
///   cblas_sgemm(...);
/// One caller at a time with the serial build; no lock with the others, which are set to one thread per caller.
class OpenBlasTurn {
 public:
  OpenBlasTurn() : lock_(mutex(), std::defer_lock) {
    static const bool serial = [] {
      if (openblas_get_parallel() == 0) return true;
      openblas_set_num_threads(1);
      return false;
    }();
    if (serial) lock_.lock();
  }

 private:
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  std::unique_lock<std::mutex> lock_;
};

}  // namespace plumb
