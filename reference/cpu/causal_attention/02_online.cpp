// causal_attention, host 02: queries by threads, keys by blocks with an online softmax.
//
// Change    against 01: an OpenMP loop over queries; scores are not kept.
// Traffic   k and v once for each query, from the cache where they fit.
// Limits    scalar products without vectors.
// Fails at  few queries: they have few cores.

#include "reference/cpu/attention/rows.hpp"
#include "reference/ops/causal_attention.hpp"

namespace plumb {
namespace {

template <class T>
void run(const CausalAttention::Problem<T>& p, const CausalAttention::In<T, Space::host>& in,
         const CausalAttention::Out<T, Space::host>& out, Context&) {
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < p.g * p.r * p.n; ++row) {
    const std::int64_t group = row / (p.r * p.n);
    const std::int64_t last = row % p.n + (p.m > p.n ? p.m - p.n : 0);
    const Keys<T> keys{in.k, in.v, group * p.m, p.m, p.scale};
    attend_online<T>(in.q.data + row * in.q.ld, keys, out.o.data + row * out.o.ld,
                     [&](std::int64_t j) { return j <= last; });
  }
}

PLUMB_REGISTER(CausalAttention, "02_online", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
