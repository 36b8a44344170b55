// What ThreadSanitizer prints about a race of host threads, as a finding. The child that ran the variant ends at its first race.
#pragma once
#include <optional>
#include <string>

#include "verify/judge/checks.hpp"

namespace plumb {

/// The first race that is reported in `said`: its reason names both accesses with their lines, its detail is the report with both
/// stacks. Nothing where there is no whole report of a race.
[[nodiscard]] std::optional<Finding> race_in(const std::string& said);

}  // namespace plumb
