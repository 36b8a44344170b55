// What the operands of a case hold that kernels go wrong on: told of failures, and counted over them (report/common.hpp).
#pragma once
#include <string>
#include <vector>

#include "verify/image/image.hpp"

namespace plumb {

/// "NaN in x", "infinities in x", "rows of A that cancel": at least two values of a row are not 0, and their exact sum is. Of the inputs among
/// `arrays`, from their sources. Empty beyond 2^26 values.
[[nodiscard]] std::vector<std::string> describe_operands(const std::vector<Segment>& arrays);
/// Whether NaN is among them.
[[nodiscard]] bool hold_nan(const std::vector<std::string>& operands);

}  // namespace plumb
