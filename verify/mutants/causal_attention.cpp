// Planted faults of causal_attention: each is a right kernel with one thing changed. `verify --mutants` must kill every one.
#include "reference/ops/causal_attention.hpp"
#include "verify/mutants/attention_faults.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(CausalAttention);

struct SeenBy {
  template <class P, class In>
  auto operator()(const P& p, const In&, std::int64_t more = 0) const {
    return [&p, more](std::int64_t, std::int64_t query, std::int64_t j) {
      return j <= query + more + std::max<std::int64_t>(p.m - p.n, 0);
    };
  }
};
const AttentionFaults<CausalAttention, SeenBy> shared;
const NarrowMutants<CausalAttention, NarrowAttention<CausalAttention, SeenBy>::Narrow, narrow_faults::OfSums,
                    f16, bf16>
    narrow_types_m;

PLUMB_FAULT(mask_off_by_one, "mask_off_by_one", 0, "a query sees one key too many", "< and <= confused",
            kNumeric) {
  attend_seen<CausalAttention, T>(p, in, out, SeenBy()(p, in, 1));
}

PLUMB_FAULT(mask_from_the_first_key, "mask_from_the_first_key", 0,
            "where there are more keys than queries, these are taken for the first ones",
            "two conventions confused", kNumeric) {
  attend_seen<CausalAttention, T>(
      p, in, out, [](std::int64_t, std::int64_t query, std::int64_t j) { return j <= query; });
}

}  // namespace
}  // namespace plumb
