// Transpositions that are right, and cost something with every call or go wrong at one of them. `verify --mutants` must kill each.
#include <fcntl.h>
#include <sys/mman.h>

#include <map>
#include <vector>

#include "reference/ops/transpose.hpp"
#include "verify/mutants/host_mutant.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(Transpose);

template <class T>
void right(const In<T>& in, const Out<T>& out) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int64_t j = 0; j < in.A.cols; ++j) out.B(j, i) = in.A(i, j);
  }
}

PLUMB_FAULT(keeps_plans, "keeps_a_plan_per_call", 0, "a plan is kept for every call, and no call finds one",
            "a cache whose key is different in every call", kNumeric) {
  static std::map<std::int64_t, std::vector<T>> plans;
  static std::int64_t calls = 0;
  right(in, out);
  plans[++calls].assign(8, T(0));  // right: one for each shape
}

PLUMB_FAULT(maps_scratch, "maps_scratch_and_keeps_it", 0,
            "scratch pages are mapped in every call and never unmapped", "an early return before munmap",
            kNumeric) {
  (void)!mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  right(in, out);
}

PLUMB_FAULT(opens_file, "opens_a_file_and_keeps_it", 0, "a file is opened in every call and never closed",
            "the number of cores read from /proc", kNumeric) {
  (void)!open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  right(in, out);
}

PLUMB_FAULT(wraps_counter, "wrong_at_call_128", 0, "a counter of calls in eight bits becomes negative",
            "a generation number that is too narrow", kNumeric) {
  static signed char calls = 0;
  right(in, out);
  if (++calls < 0 && in.A.rows > 0 && in.A.cols > 0) out.B(0, 0) = T(0);
  if (calls < 0) calls = 0;
}

}  // namespace
}  // namespace plumb
