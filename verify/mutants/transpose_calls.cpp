// Transpositions that are right, and cost something with every call or go wrong at one of them. `verify --mutants` must kill each.
#include <fcntl.h>
#include <sys/mman.h>

#include <map>
#include <vector>

#include "reference/ops/transpose.hpp"
#include "verify/mutants/host_mutant.hpp"

namespace plumb {
namespace {

template <class T>
using P = Transpose::Problem<T>;
template <class T>
using In = Transpose::In<T, Space::host>;
template <class T>
using Out = Transpose::Out<T, Space::host>;

template <class T>
void right(const In<T>& in, const Out<T>& out) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int64_t j = 0; j < in.A.cols; ++j) out.B(j, i) = in.A(i, j);
  }
}

template <class T>
void keeps_plans(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
  static std::map<std::int64_t, std::vector<T>> plans;
  static std::int64_t calls = 0;
  right(in, out);
  plans[++calls].assign(8, T(0));  // right: one for each shape
}
const HostMutant<Transpose> plans_m{"keeps_a_plan_per_call",
                                    keeps_plans<float>,
                                    keeps_plans<double>,
                                    {0, "a plan is kept for every call, and no call finds one",
                                     "a cache whose key is different in every call", kNumeric}};

template <class T>
void maps_scratch(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
  (void)!mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  right(in, out);
}
const HostMutant<Transpose> maps_m{"maps_scratch_and_keeps_it",
                                   maps_scratch<float>,
                                   maps_scratch<double>,
                                   {0, "scratch pages are mapped in every call and never unmapped",
                                    "an early return before munmap", kNumeric}};

template <class T>
void opens_file(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
  (void)!open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  right(in, out);
}
const HostMutant<Transpose> opens_m{
    "opens_a_file_and_keeps_it",
    opens_file<float>,
    opens_file<double>,
    {0, "a file is opened in every call and never closed", "the number of cores read from /proc", kNumeric}};

template <class T>
void wraps_counter(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
  static signed char calls = 0;
  right(in, out);
  if (++calls < 0 && in.A.rows > 0 && in.A.cols > 0) out.B(0, 0) = T(0);
  if (calls < 0) calls = 0;
}
const HostMutant<Transpose> wraps_m{"wrong_at_call_128",
                                    wraps_counter<float>,
                                    wraps_counter<double>,
                                    {0, "a counter of calls in eight bits becomes negative",
                                     "a generation number that is too narrow", kNumeric}};

}  // namespace
}  // namespace plumb
