// Loops with `ordered(n)` and `depend(sink)` / `depend(source)`, in front of libomp under ThreadSanitizer: Archer has no word for their
// order ("doacross dependences are not supported yet", ompt_tsan_dependences in LLVM's openmp/tools/archer/ompt-tsan.cpp), and correct
// loops would be reported. The order is told here: what came before a source is seen after a sink that waited for it. Iterations are
// known by their first number, so that in loops of several dimensions a race within one row of iterations may be missed.
#include <array>
#include <cstddef>

#include "verify/interposed/next.hpp"

extern "C" {
void __tsan_acquire(void* at);
void __tsan_release(void* at);
}

namespace {

using plumb::next_of;

// An address for each iteration. Two that share one are ordered without need: a race less, never a false one.
void* iteration(unsigned long long first) {
  static std::array<char, 1 << 16> all;
  return &all[first * 8 % all.size()];
}

}  // namespace

extern "C" {

void GOMP_doacross_post(long* counts) {
  static auto* const next = next_of<void(long*)>("GOMP_doacross_post");
  __tsan_release(iteration(static_cast<unsigned long long>(counts[0])));
  next(counts);
}

// As many arguments as the loop has dimensions. More are handed on than came: the next one reads its own.
void GOMP_doacross_wait(long first, long b, long c, long d, long e, long f) {
  static auto* const next = next_of<void(long, ...)>("GOMP_doacross_wait");
  next(first, b, c, d, e, f);
  __tsan_acquire(iteration(static_cast<unsigned long long>(first)));
}

void GOMP_doacross_ull_post(unsigned long long* counts) {
  static auto* const next = next_of<void(unsigned long long*)>("GOMP_doacross_ull_post");
  __tsan_release(iteration(counts[0]));
  next(counts);
}

using Ull = unsigned long long;
void GOMP_doacross_ull_wait(Ull first, Ull b, Ull c, Ull d, Ull e, Ull f) {
  static auto* const next = next_of<void(Ull, ...)>("GOMP_doacross_ull_wait");
  next(first, b, c, d, e, f);
  __tsan_acquire(iteration(first));
}

}  // extern "C"
