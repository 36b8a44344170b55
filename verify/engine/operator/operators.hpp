// The operators of this program, with their types erased.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "verify/engine/operator/entry.hpp"

namespace plumb {

/// In the order of verify/operators.hpp.
[[nodiscard]] const std::vector<std::unique_ptr<OperatorEntry>>& operators();
/// Throws Error with "did you mean" when there is none of that name.
[[nodiscard]] const OperatorEntry& find_operator(std::string_view name);

}  // namespace plumb
