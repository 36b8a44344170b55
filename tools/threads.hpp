// A number of OpenMP threads that the runtime survives.
#pragma once
#include <omp.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "reference/core/threads.hpp"

namespace plumb {

/// Takes fewer threads than OMP_NUM_THREADS asks for where that is far beyond the processors, or where the system refuses to
/// start so many, and says so: libgomp keeps some memory of each thread on the stack, ends with SIGSEGV at 100,000 of them, and
/// with exit code 1 where one cannot be started.
inline void limit_threads() {
  constexpr int kAlwaysTaken = 256, kPerProcessor = 4;
  const int most = std::max(kAlwaysTaken, kPerProcessor * omp_get_num_procs());
  if (omp_get_max_threads() > most) {
    fmt::print(stderr, "note: OMP_NUM_THREADS={}: {} processors here, {} threads are used\n",
               omp_get_max_threads(), omp_get_num_procs(), most);
    omp_set_num_threads(most);
  }
  // two files are read side by side, each with as many threads
  const int wanted = omp_get_max_threads(), threads = limit_openmp_threads(wanted);
  if (threads < wanted)
    fmt::print(stderr, "note: {} of {} threads are used: no more can be started{}\n", threads, wanted,
               process_limit_text());
}

}  // namespace plumb
