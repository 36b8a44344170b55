#include "verify/selection/drawn_cases.hpp"

#include <algorithm>

#include "reference/core/text.hpp"
#include "verify/drawing/draw.hpp"

namespace plumb {
namespace {

// Special values are drawn there alone.
constexpr std::uint64_t kDrawsToOneOfContexts = 5;

}  // namespace

std::vector<Case> drawn_cases(const CaseSpace& space, const CaseFilter& filter, const CaseChoice& choice) {
  std::vector<Case> cases;
  if (!std::any_of(filter.operator_globs().begin(), filter.operator_globs().end(),
                   [&](const std::string& glob) { return glob_match(glob, space.op()); }))
    return cases;
  const CaseSpace contexts = space.contexts();
  const std::uint64_t draws = 64 * static_cast<std::uint64_t>(choice.drawn);
  for (std::uint64_t number = 0; number < draws && cases.size() < static_cast<std::size_t>(choice.drawn);
       ++number) {
    const std::uint64_t seed = choice.seed.value_or(1);
    Case c = choice.timed
                 ? draw_timed_case(space, seed, number, *choice.timed)
                 : draw_case(number % kDrawsToOneOfContexts == kDrawsToOneOfContexts - 1 ? contexts : space,
                             seed, number, choice.limit);
    const bool fill = choice.fills.empty() ||
                      std::find(choice.fills.begin(), choice.fills.end(), c.fill) != choice.fills.end();
    if (fill && filter.matches(c)) cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace plumb
