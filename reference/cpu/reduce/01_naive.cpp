// reduce, host 01: one loop.
//
// Change    first rung: the definition, term after term in the operator's own precision.
// Traffic   compulsory bytes.
// Limits    one core; the chain of dependent adds. The error grows with n: by n u M at worst, as a random
//           walk usually.
// Fails at  [1, 1e20, 1, -1e20]: 0 instead of 2.
#include "reference/core/values.hpp"
#include "reference/cpu/reduce/parts.hpp"
#include "reference/ops/reduce.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Reduce::Problem<T>& p, const Reduce::In<T, Space::host>& in,
         const Reduce::Out<T, Space::host>& out, Context&) {
  using V = scalar_t<T>;
  if (p.kind == Reduce::Kind::max) {
    V best = kMinusInf<V>;
    for (std::int64_t i = 0; i < in.x.size; ++i) best = larger(best, value(in.x[i]));
    out.result[0] = stored<out_t<T>>(best);
    return;
  }
  V sum = 0;
  for (std::int64_t i = 0; i < in.x.size; ++i) sum += value(in.x[i]);
  out.result[0] = stored<out_t<T>>(sum);
}

PLUMB_REGISTER(Reduce, "01_naive", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
