// Cases of covering arrays that later ones have made redundant.
#pragma once
#include <cstddef>
#include <vector>

namespace plumb {

/// Of each case, whether all tuples that it meets are met by others that stay: `met` has the numbers, below `tuples`, of those of each
/// case. `order`: the cases that may be left out, in the order in which they are looked at. What stays meets the same tuples.
[[nodiscard]] std::vector<bool> redundant(const std::vector<std::vector<std::size_t>>& met,
                                          std::size_t tuples, const std::vector<std::size_t>& order);

}  // namespace plumb
