// The cases of tier smoke, which several suites look at.
#pragma once
#include <vector>

#include "verify/engine/operator/entry.hpp"
#include "verify/selection/tier_cases.hpp"

namespace plumb {

/// Of an operator, on a device or on the executor. Made once for all tests: a second each.
const std::vector<Case>& smoke_cases(const OperatorEntry& entry, CaseSpeed speed);

}  // namespace plumb
