// reduce, host 06: a share per OpenMP thread.
//
// Change    every thread reduces a contiguous share; the shares are combined in the order of the threads.
//           OpenMP's own reduction clause combines them as they arrive, which is not reproducible.
// Traffic   compulsory bytes, and one value per thread.
// Limits    the chain of dependent adds, on every core. Reproducible for a fixed number of threads.
// Fails at  [1, 1e20, 1, -1e20], as rung 01.
#include <omp.h>

#include "reference/core/values.hpp"
#include "reference/cpu/reduce/parts.hpp"
#include "reference/ops/reduce.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Reduce::Problem<T>& p, const Reduce::In<T, Space::host>& in,
         const Reduce::Out<T, Space::host>& out, Context& context) {
  using V = scalar_t<T>;
  const std::int64_t threads = omp_get_max_threads();
  auto* partial = static_cast<V*>(context.workspace(threads * static_cast<std::int64_t>(sizeof(V))));
  const bool max = p.kind == Reduce::Kind::max;
#pragma omp parallel for schedule(static, 1)
  for (std::int64_t t = 0; t < threads; ++t) {
    const std::int64_t begin = in.x.size * t / threads, end = in.x.size * (t + 1) / threads;
    V mine = max ? kMinusInf<V> : V(0);
    if (max) {
      for (std::int64_t i = begin; i < end; ++i) mine = larger(mine, value(in.x[i]));
    } else {
      for (std::int64_t i = begin; i < end; ++i) mine += value(in.x[i]);
    }
    partial[t] = mine;
  }
  V all = max ? kMinusInf<V> : V(0);
  for (std::int64_t t = 0; t < threads; ++t) all = max ? larger(all, partial[t]) : all + partial[t];
  out.result[0] = stored<out_t<T>>(all);
}

PLUMB_REGISTER(Reduce, "06_openmp", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
