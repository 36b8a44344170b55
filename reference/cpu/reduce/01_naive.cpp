// reduce, host 01: one loop.
//
// Change    first rung: the definition, term after term in the operator's own precision.
// Traffic   compulsory bytes.
// Limits    one core; the chain of dependent adds. The error grows with n: by n u M at worst, as a random
//           walk usually.
// Fails at  [1, 1e20, 1, -1e20]: 0 instead of 2.
#include "reference/cpu/reduce/parts.hpp"
#include "reference/ops/reduce.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Reduce::Problem<T>& p, const Reduce::In<T, Space::host>& in,
         const Reduce::Out<T, Space::host>& out, Context&) {
  if (p.kind == Reduce::Kind::max) {
    T best = kMinusInf<T>;
    for (std::int64_t i = 0; i < in.x.size; ++i) best = larger(best, in.x[i]);
    out.result[0] = best;
    return;
  }
  T sum = 0;
  for (std::int64_t i = 0; i < in.x.size; ++i) sum += in.x[i];
  out.result[0] = sum;
}

PLUMB_REGISTER(Reduce, "01_naive", run, float, double);

}  // namespace
}  // namespace plumb
