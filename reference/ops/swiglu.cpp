// The contract in swiglu.hpp, for the judge.
#include "reference/ops/swiglu.hpp"

#include "reference/formula/formula.hpp"

namespace plumb {
PLUMB_FORMULA(SwiGlu)
}  // namespace plumb
