// The contract in attention.hpp, for the judge.
#include "reference/ops/attention.hpp"

#include "reference/formula/formula.hpp"

namespace plumb {
PLUMB_FORMULA(Attention)
}  // namespace plumb
