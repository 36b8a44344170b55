// The contract in edge_softmax.hpp, for the judge.
#include "reference/ops/edge_softmax.hpp"

#include "reference/formula/formula.hpp"

namespace plumb {
PLUMB_FORMULA(EdgeSoftmax)
}  // namespace plumb
