// The contract in bias_gelu_residual.hpp, for the judge.
#include "reference/ops/bias_gelu_residual.hpp"

#include "reference/formula/formula.hpp"

namespace plumb {
PLUMB_FORMULA(BiasGeluResidual)
}  // namespace plumb
