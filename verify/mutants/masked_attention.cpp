// Planted faults of masked_attention: each is a right kernel with one thing changed. `verify --mutants` must kill every one.
#include "reference/ops/masked_attention.hpp"
#include "verify/mutants/attention_faults.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(MaskedAttention);

struct SeenBy {
  template <class P, class In>
  auto operator()(const P&, const In& in, std::int64_t more = 0) const {
    return [&in, more](std::int64_t group, std::int64_t query, std::int64_t j) {
      return j < in.keys[group] + more && value(in.mask(query, j)) != 0;
    };
  }
};
const AttentionFaults<MaskedAttention, SeenBy> shared;
const NarrowMutants<MaskedAttention, NarrowAttention<MaskedAttention, SeenBy>::Narrow, narrow_faults::OfSums,
                    f16, bf16>
    narrow_types_m;

PLUMB_FAULT(length_off_by_one, "length_off_by_one", 0, "one key behind the last of a group is seen",
            "< and <= confused", kNumeric) {
  attend_seen<MaskedAttention, T>(p, in, out, SeenBy()(p, in, 1));
}

PLUMB_FAULT(mask_of_the_next_query, "mask_of_the_next_query", 0, "the mask of another query is used",
            "an index into a tile", kNumeric) {
  attend_seen<MaskedAttention, T>(p, in, out, [&](std::int64_t group, std::int64_t query, std::int64_t j) {
    return j < in.keys[group] && in.mask((query + 1) % in.mask.rows, j) != 0;
  });
}

}  // namespace
}  // namespace plumb
