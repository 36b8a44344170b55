// A number of OpenMP threads that the runtime survives.
#pragma once
#include <omp.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

namespace plumb {

/// Takes fewer threads than OMP_NUM_THREADS asks for where that is far beyond the processors, and says so: libgomp keeps
/// some memory of each thread on the stack, and ends with SIGSEGV at 100,000 of them.
inline void limit_threads() {
  constexpr int kAlwaysTaken = 256, kPerProcessor = 4;
  const int most = std::max(kAlwaysTaken, kPerProcessor * omp_get_num_procs());
  if (omp_get_max_threads() <= most) return;
  fmt::print(stderr, "note: OMP_NUM_THREADS={}: {} processors here, {} threads are used\n",
             omp_get_max_threads(), omp_get_num_procs(), most);
  omp_set_num_threads(most);
}

}  // namespace plumb
