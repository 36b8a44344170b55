// Drawn cases as pictures: one for each operator, one point for each case.
#pragma once
#include <map>
#include <string>

#include "verify/bench/result.hpp"

namespace plumb {

/// Speed beside the vendor's against the case's size, both logarithmic: work where the operator's cases are bound by it, else compulsory
/// traffic. Filled: the best of ours; a ring: the adaptive rung. Readable on light and dark pages. "" where no case has a ratio.
[[nodiscard]] std::string drawn_svg(const BenchReport&, const std::string& op);
/// Writes one for each operator into a folder, which is made if need be. Returns the paths by operator. Throws Error.
std::map<std::string, std::string> write_drawn_svgs(const BenchReport&, const std::string& folder);

}  // namespace plumb
