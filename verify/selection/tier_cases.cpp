#include "verify/selection/tier_cases.hpp"

#include <algorithm>
#include <optional>

namespace plumb {
namespace {

constexpr std::uint64_t kCoverSeed = 1;

// What one case may cost: `thin` has room for one extreme extent beside small ones, `small` for a few tiles each way, `once` for what a
// single case is to have, or one of each form.
struct Limits {
  CaseLimit small, thin, once;
};
constexpr Limits kDeviceLimits{{5e4, 2e5}, {2.9e5, 1e6}, {1e6, 1.3e6}};
constexpr Limits kExecutorLimits{{4e3, 1.2e4}, {2.9e5, 3e5}, {}};
constexpr CaseLimit kFullLimit{2e6, 2e7};
constexpr double kLargestElement = 8;  // bytes

// What a fill shows of a size, the pairs of the executor's array show in less time. Of a listed size that is larger than theirs, the first
// fill in each type stays in smoke, and the special values.
void leave_fills_to_full(const CaseSpace& space, std::vector<Case>& listed) {
  const auto stays = [](const Case& c) { return c.tier != Tier::smoke || c.fill == Fill::hostile; };
  const auto is_large = [&](const Case& c) {
    const std::optional<Point> p = space.locate(c);
    return p && (space.multiply_adds(*p) > kExecutorLimits.small.work ||
                 space.bytes(*p) > kLargestElement * kExecutorLimits.small.elements);
  };
  for (auto c = listed.begin(); c != listed.end(); ++c) {
    if (stays(*c) || !is_large(*c)) continue;
    const bool again = std::any_of(listed.begin(), c, [&](const Case& before) {
      return !stays(before) && before.dtype == c->dtype && before.params == c->params;
    });
    if (again) c->tier = Tier::full;
  }
}

}  // namespace

CaseSpeed speed_of(const std::vector<std::string>& devices) {
  const bool simt = std::find(devices.begin(), devices.end(), name(Device::simt)) != devices.end();
  return simt ? CaseSpeed::executor : CaseSpeed::device;
}

std::vector<CoverLayer> cover_layers(const CaseSpace& space, Tier tier, CaseSpeed speed) {
  if (tier == Tier::stress) return {};
  if (tier == Tier::full) {
    if (speed == CaseSpeed::executor) return {{parameter_pairs(space), kDeviceLimits.small}};
    return {{parameter_triples(space), kDeviceLimits.small}, {parameter_pairs(space), kFullLimit}};
  }
  if (speed == CaseSpeed::executor)
    return {{parameter_pairs(space), kExecutorLimits.small},
            {single_parameters(space), kExecutorLimits.thin}};
  std::vector<Combination> triples = fill_scalar_size_triples(space);
  triples.insert(triples.end(), space.triples_together().begin(), space.triples_together().end());
  std::vector<Combination> once = single_parameters(space), of_forms = form_pairs(space);
  once.insert(once.end(), of_forms.begin(), of_forms.end());
  return {{std::move(triples), kDeviceLimits.small},
          {parameter_pairs(space), kDeviceLimits.thin},
          {std::move(once), kDeviceLimits.once}};
}

std::vector<Case> tier_cases(const OperatorEntry& entry, Tier most, CaseSpeed speed) {
  std::vector<Case> all = entry.cases();
  const CaseSpace space = entry.space();
  if (speed == CaseSpeed::executor) leave_fills_to_full(space, all);
  for (const Tier tier : {Tier::smoke, Tier::full}) {
    if (tier > most) break;
    std::vector<Case> known;
    std::copy_if(all.begin(), all.end(), std::back_inserter(known),
                 [&](const Case& c) { return c.tier <= tier; });
    Cover made = cover(space, cover_layers(space, tier, speed), known, kCoverSeed);
    for (Case& c : made.cases) {
      c.tier = tier;
      if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(std::move(c));
    }
  }
  return all;
}

}  // namespace plumb
