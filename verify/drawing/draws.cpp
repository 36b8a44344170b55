#include "verify/drawing/draws.hpp"

#include <string>

namespace plumb {

Point empty_point(const CaseSpace& space) {
  const std::size_t n = space.parameters().size();
  return {&space.parameters(), std::vector<std::size_t>(n), std::vector<std::string>(n),
          std::vector<double>(n)};
}

bool shrink_to_limit(const CaseSpace& space, Point& p, const std::vector<bool>& kept, const CaseLimit& limit,
                     Draws& draws) {
  const auto& parameters = space.parameters();
  while (!space.valid(p, limit)) {
    std::size_t largest = parameters.size();
    for (const std::size_t i : space.drawn_parameters()) {
      if (kept[i] || parameters[i].kind != ParameterKind::extent || p.classes[i] == 0 || p.numbers[i] <= 1)
        continue;  // and never to nothing: the case would compute nothing
      if (largest == parameters.size() || p.numbers[i] > p.numbers[largest]) largest = i;
    }
    if (largest == parameters.size()) return false;
    const std::size_t least = space.is_nothing(largest, 0) && p.classes[largest] > 1 ? 1 : 0;
    draws.value(space, p, largest, least + draws.below(p.classes[largest] - least));
  }
  return true;
}

}  // namespace plumb
