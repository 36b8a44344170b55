#include "verify/selection/tier_cases.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace plumb {
namespace {

constexpr std::uint64_t kCoverSeed = 1;

// What one case may cost: `thin` has room for one extreme extent beside small ones, `small` for a few tiles each way, `once` for what a
// single case is to have, or one of each form: on the executor a size beyond 16 bits beside one vector of 16 bytes.
struct Limits {
  CaseLimit small, thin, once, context;
};
constexpr Limits kDeviceLimits{{5e4, 2e5}, {2.9e5, 1e6}, {1e6, 1.3e6}, {1e5, 2e5}};
constexpr Limits kExecutorLimits{{4e3, 1.2e4}, {2.9e5, 3e5}, {3.3e5, 4e5}, {8e3, 2.5e4}};
constexpr CaseLimit kFullLimit{2e6, 2e7};
constexpr double kLargestElement = 8;  // bytes

constexpr std::size_t kSeedsInFurtherTypes = 3;  // of special values

bool is_large(const CaseSpace& space, const Case& c) {
  const std::optional<Point> p = space.locate(c);
  return p && (space.multiply_adds(*p) > kExecutorLimits.small.work ||
               space.bytes(*p) > kLargestElement * kExecutorLimits.small.elements);
}

// What a fill or a type shows of a size, the pairs of the executor's array show in less time. A listed size that is larger than theirs
// stays in smoke once, and once more with special values, both in one type: sizes take them in turn. Seeds are another reason.
void leave_large_sizes_to_full(const CaseSpace& space, std::vector<Case>& listed) {
  using Size = std::vector<std::pair<std::string, std::string>>;
  std::map<Size, std::vector<Case*>> of_size;
  std::vector<Size> sizes;
  for (Case& c : listed) {
    if (c.tier != Tier::smoke || !is_large(space, c)) continue;
    std::vector<Case*>& cases = of_size[c.params];
    if (cases.empty()) sizes.push_back(c.params);
    cases.push_back(&c);
  }
  for (std::size_t n = 0; n < sizes.size(); ++n) {
    const std::vector<Case*>& cases = of_size[sizes[n]];
    if (std::any_of(cases.begin(), cases.end(), [](const Case* c) { return c->seed != 1; })) continue;
    const Dtype type = (n % 2 == 0 ? cases.front() : cases.back())->dtype;
    bool met[] = {false, false};  // without and with special values
    for (Case* const c : cases) {
      bool& again = met[c->fill == Fill::hostile ? 1 : 0];
      if (again || c->dtype != type) c->tier = Tier::full;
      again = again || c->dtype == type;
    }
  }
}

// Which special value meets which position follows from the seed: all of them are met in the first type, some in the others.
void leave_seeds_to_full(std::vector<Case>& listed) {
  for (Case& c : listed) {
    const bool further = c.dtype != listed.front().dtype && c.seed > kSeedsInFurtherTypes;
    if (c.tier == Tier::smoke && c.fill == Fill::hostile && further) c.tier = Tier::full;
  }
}

}  // namespace

CaseSpeed speed_of(const std::vector<std::string>& devices, bool few_kernels) {
  const bool simt = std::find(devices.begin(), devices.end(), name(Device::simt)) != devices.end();
  if (!simt) return CaseSpeed::device;
  return few_kernels ? CaseSpeed::executor_of_few : CaseSpeed::executor;
}

std::vector<CoverLayer> cover_layers(const CaseSpace& space, Tier tier, CaseSpeed speed) {
  if (tier == Tier::stress) return {};
  const CoverLayer dear{single_dear(space), kExecutorLimits.once, Sizes::least};
  if (tier == Tier::full) {
    if (on_executor(speed)) return {{parameter_pairs(space), kDeviceLimits.small}, dear};
    return {{parameter_triples(space), kDeviceLimits.small}, {parameter_pairs(space), kFullLimit}};
  }
  if (on_executor(speed)) {
    std::vector<CoverLayer> layers{{parameter_pairs(space), kExecutorLimits.small, Sizes::least},
                                   {single_cheap(space), kExecutorLimits.thin, Sizes::least}};
    if (speed == CaseSpeed::executor_of_few) layers.push_back(dear);
    return layers;
  }
  std::vector<Combination> triples = fill_scalar_size_triples(space);
  triples.insert(triples.end(), space.triples_together().begin(), space.triples_together().end());
  std::vector<Combination> once = single_parameters(space), of_forms = form_pairs(space);
  once.insert(once.end(), of_forms.begin(), of_forms.end());
  return {{std::move(triples), kDeviceLimits.small},
          {parameter_pairs(space), kDeviceLimits.thin},
          {std::move(once), kDeviceLimits.once}};
}

CoverLayer context_layer(const CaseSpace& contexts, CaseSpeed speed) {
  if (on_executor(speed)) return {context_pairs(contexts), kExecutorLimits.context, Sizes::least};
  std::vector<Combination> in_each_type = context_triples(contexts), pairs = context_pairs(contexts);
  in_each_type.insert(in_each_type.end(), pairs.begin(), pairs.end());
  return {std::move(in_each_type), kDeviceLimits.context};
}

std::vector<Case> listed_cases(const OperatorEntry& entry, CaseSpeed speed) {
  std::vector<Case> all = entry.cases();
  if (on_executor(speed)) leave_large_sizes_to_full(entry.space(), all), leave_seeds_to_full(all);
  return all;
}

std::vector<Case> tier_cases(const OperatorEntry& entry, Tier most, CaseSpeed speed) {
  std::vector<Case> all = listed_cases(entry, speed);
  const CaseSpace space = entry.space();
  for (const Tier tier : {Tier::smoke, Tier::full}) {
    if (tier > most) break;
    std::vector<Case> known;
    std::copy_if(all.begin(), all.end(), std::back_inserter(known),
                 [&](const Case& c) { return c.tier <= tier; });
    const auto add = [&](Cover made) {
      for (Case& c : made.cases) {
        c.tier = tier;
        if (std::find(all.begin(), all.end(), c) != all.end()) continue;
        known.push_back(c), all.push_back(std::move(c));
      }
    };
    add(cover(space, cover_layers(space, tier, speed), known, kCoverSeed));
    if (tier != Tier::smoke) continue;
    const CaseSpace contexts = space.contexts();
    add(cover(contexts, {context_layer(contexts, speed)}, known, kCoverSeed));
  }
  return all;
}

}  // namespace plumb
