// masked_attention, host 01: the definition, a query at once.
//
// Change    first rung.
// Traffic   k and v once for each query, from the cache where they fit.
// Limits    scalar products without vectors.
// Fails at  nothing, slowly.

#include "reference/cpu/attention/rows.hpp"
#include "reference/ops/masked_attention.hpp"

namespace plumb {
namespace {

template <class T>
void run(const MaskedAttention::Problem<T>& p, const MaskedAttention::In<T, Space::host>& in,
         const MaskedAttention::Out<T, Space::host>& out, Context&) {
  for (std::int64_t row = 0; row < p.g * p.n; ++row) {
    const std::int64_t group = row / p.n;
    const std::int64_t query = row % p.n;
    const Keys<T> keys{in.k, in.v, group * p.m, p.m, p.scale};
    attend<T>(in.q.data + row * in.q.ld, keys, out.o.data + row * out.o.ld,
              [&](std::int64_t j) { return j < in.keys[group] && value(in.mask(query, j)) != 0; });
  }
}

PLUMB_REGISTER(MaskedAttention, "01_serial", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
