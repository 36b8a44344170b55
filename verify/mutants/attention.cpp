// Planted faults of attention: each is a right kernel with one thing changed. `verify --mutants` must kill every one.
#include "reference/ops/attention.hpp"
#include "verify/mutants/attention_faults.hpp"

namespace plumb {
namespace {

struct SeenBy {
  template <class P, class In>
  auto operator()(const P&, const In&) const {
    return [](std::int64_t, std::int64_t, std::int64_t) { return true; };
  }
};
const AttentionFaults<Attention, SeenBy> shared;
const NarrowMutants<Attention, NarrowAttention<Attention, SeenBy>::Narrow, narrow_faults::OfSums, f16, bf16>
    narrow_types_m;

}  // namespace
}  // namespace plumb
