#include "verify/tests/smoke_cases.hpp"

#include <map>
#include <string>
#include <utility>

namespace plumb {

const std::vector<Case>& smoke_cases(const OperatorEntry& entry, CaseSpeed speed) {
  static std::map<std::pair<std::string, CaseSpeed>, std::vector<Case>> made;
  const auto [at, fresh] = made.try_emplace({entry.name(), speed});
  if (fresh) {
    at->second = tier_cases(entry, Tier::smoke, speed);
    std::erase_if(at->second, [](const Case& c) { return c.tier != Tier::smoke; });
  }
  return at->second;
}

}  // namespace plumb
