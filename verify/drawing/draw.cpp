#include "verify/drawing/draw.hpp"

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/random.hpp"
#include "verify/drawing/draws.hpp"

namespace plumb {
namespace {

std::size_t class_by_weight(const Parameter& parameter, Draws& draws) {
  double total = 0;
  for (const ValueClass& c : parameter.classes) total += c.weight;
  double at = draws.unit() * total;
  for (std::size_t k = 0; k + 1 < parameter.classes.size(); ++k) {
    at -= parameter.classes[k].weight;
    if (at < 0) return k;
  }
  return parameter.classes.size() - 1;
}

// One drawn case in eight is square, has other extents alike or is of a form, where its operator's description names any.
void sometimes_hold(const CaseSpace& space, Point& p, const CaseLimit& limit, Draws& draws) {
  if (draws.below(8) != 0) return;
  const std::size_t which = draws.below(space.parameters().size());
  if (space.parameters()[which].classes.front().once) return;  // made to hold it is simple in all else
  Point held = p;
  space.make_hold(held, which);
  for (std::size_t i = 0; i < held.classes.size(); ++i) {  // a size that one parameter alone may have
    const Parameter& known = space.parameters()[i];
    if (known.kind != ParameterKind::derived && held.classes[i] == known.classes.size()) return;
  }
  if (space.valid(held, limit)) p = std::move(held);
}

}  // namespace

Case draw_case(const CaseSpace& space, std::uint64_t seed, std::uint64_t number, const CaseLimit& limit) {
  Draws draws(seed, number);
  const auto& parameters = space.parameters();
  for (int attempt = 0; attempt < 256; ++attempt) {
    Point p = empty_point(space);
    draws.values(space, p, [&](std::size_t i) { return class_by_weight(parameters[i], draws); });
    std::vector<bool> kept(parameters.size());
    kept[draws.below(parameters.size())] = true;
    space.settle(p, kept);
    if (!shrink_to_limit(space, p, kept, limit, draws)) continue;
    sometimes_hold(space, p, limit, draws);
    space.update_derived(p);
    Case c = space.make(p, random_bits(seed, 35, number) >> 24);
    c.why = space.class_names(p);
    return c;
  }
  throw Error(
      fmt::format("{}: 256 draws gave no case within the limit of {:.3g} elements and {:.3g} multiply-adds",
                  space.op(), limit.elements, limit.work));
}

}  // namespace plumb
