// The contract in causal_attention.hpp, for the judge.
#include "reference/ops/causal_attention.hpp"

#include "reference/formula/formula.hpp"

namespace plumb {
PLUMB_FORMULA(CausalAttention)
}  // namespace plumb
