#include "verify/drawing/redundant.hpp"

#include <algorithm>

namespace plumb {

std::vector<bool> redundant(const std::vector<std::vector<std::size_t>>& met, std::size_t tuples,
                            const std::vector<std::size_t>& order) {
  std::vector<std::size_t> cases(tuples);  // that meet each tuple
  for (const std::vector<std::size_t>& of_case : met) {
    for (const std::size_t tuple : of_case) ++cases[tuple];
  }
  std::vector<bool> left_out(met.size());
  for (const std::size_t i : order) {
    if (std::any_of(met[i].begin(), met[i].end(), [&](std::size_t tuple) { return cases[tuple] == 1; }))
      continue;
    left_out[i] = true;
    for (const std::size_t tuple : met[i]) --cases[tuple];
  }
  return left_out;
}

}  // namespace plumb
