#include "verify/selection/tier_cases.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "verify/drawing/redundant.hpp"

namespace plumb {
namespace {

constexpr std::uint64_t kCoverSeed = 1;

// What one case may cost: `thin` has room for one extreme extent beside small ones, `small` for a few tiles each way, `once` for what a
// single case is to have, or one of each form: on the executor a size beyond 16 bits beside one vector of 16 bytes.
struct Limits {
  CaseLimit small, thin, once, context;
};
constexpr Limits kDeviceLimits{{5e4, 2e5}, {2.9e5, 1e6}, {1.6e6, 1.6e6}, {1e5, 2e5}};
constexpr Limits kExecutorLimits{{4e3, 1.2e4}, kCheapOnce, kDearOnce, {8e3, 2.5e4}};
constexpr CaseLimit kFullLimit{2e6, 2e7};
constexpr double kLargestElement = 8;  // bytes

bool is_large(const CaseSpace& space, const Case& c) {
  const std::optional<Point> p = space.locate(c);
  return p && (space.multiply_adds(*p) > kExecutorLimits.small.work ||
               space.bytes(*p) > kLargestElement * kExecutorLimits.small.elements);
}

bool is_beyond_16_bits(const CaseSpace& space, const Case& c) {
  const std::optional<Point> p = space.locate(c);
  return p && std::any_of(space.parameters().begin(), space.parameters().end(), [&](const Parameter& of) {
           return of.kind == ParameterKind::extent && (*p)[of.key] > 65'535;
         });
}

// One case of a size without and one with special values stay in smoke, of each of `types`.
void leave_further_to_full(const std::vector<Case*>& cases, const std::set<Dtype>& types) {
  std::set<std::pair<Dtype, bool>> met;
  for (Case* const c : cases) {
    const bool again = !met.emplace(c->dtype, c->fill == Fill::hostile).second;
    if (again || types.count(c->dtype) == 0) c->tier = Tier::full;
  }
}

bool stores_narrow(Dtype dtype) { return is_narrow(facts(dtype).in) || is_narrow(facts(dtype).out); }

std::set<Dtype> types_of(const std::vector<Case*>& cases) {
  std::set<Dtype> types;
  for (const Case* const c : cases) types.insert(c->dtype);
  return types;
}

// Of the types of `cases` one that stores narrow numbers and one that does not, those whose turn it is.
std::set<Dtype> types_in_turn(const std::vector<Case*>& cases, std::size_t turn) {
  std::set<Dtype> chosen;
  for (const bool narrow : {false, true}) {
    std::vector<Dtype> types;
    for (const Dtype t : types_of(cases)) {
      if (stores_narrow(t) == narrow) types.push_back(t);
    }
    if (!types.empty()) chosen.insert(types[turn % types.size()]);
  }
  return chosen;
}

// What a fill or a type shows of a size, the pairs of the executor's array show in less time. A listed size that is larger than theirs
// stays in smoke once, and once more with special values, both in one type and in one that stores narrow numbers: sizes take them in turn.
// Arrays have few sizes beyond 16 bits: of those all types stay. Seeds are another reason.
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
  std::size_t turn = 0;
  for (const Size& size : sizes) {
    const std::vector<Case*>& cases = of_size[size];
    if (std::any_of(cases.begin(), cases.end(), [](const Case* c) { return c->seed != 1; })) continue;
    if (is_beyond_16_bits(space, *cases.front())) {
      leave_further_to_full(cases, types_of(cases));
    } else {
      leave_further_to_full(cases, types_in_turn(cases, turn++));
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

namespace {

// What the array over an operator's own classes is to meet.
std::vector<CoverLayer> layers_of_classes(const CaseSpace& space, Tier tier, CaseSpeed speed) {
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
  const std::vector<Combination> together = space.triples_together();
  triples.insert(triples.end(), together.begin(), together.end());
  std::vector<Combination> once = single_parameters(space), of_forms = form_pairs(space);
  once.insert(once.end(), of_forms.begin(), of_forms.end());
  return {{std::move(triples), kDeviceLimits.small},
          {parameter_pairs(space), kDeviceLimits.thin},
          {std::move(once), kDeviceLimits.once}};
}

// Special values in each two shapes and in each size, on a device of each type. Each size beside each shape of another extent is of smoke
// where few kernels are judged on the executor, else of full.
CoverLayer context_layer(const CaseSpace& contexts, Tier tier, CaseSpeed speed) {
  std::vector<Combination> all;
  const auto add = [&](const std::vector<Combination>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  if (tier == Tier::smoke && !on_executor(speed)) {
    add(beside_each_type(contexts, beside_each_special(contexts, shape_pairs(contexts))));
    add(context_triples(contexts));
  }
  if (tier == Tier::full || speed == CaseSpeed::executor_of_few)
    add(beside_each_special(contexts, size_shape_pairs(contexts)));
  if (tier == Tier::smoke) add(context_pairs(contexts));
  if (on_executor(speed)) return {std::move(all), kExecutorLimits.context, Sizes::least};
  return {std::move(all), kDeviceLimits.context};
}

std::vector<Case> up_to(Tier tier, const std::vector<Case>& all) {
  std::vector<Case> judged;
  std::copy_if(all.begin(), all.end(), std::back_inserter(judged),
               [&](const Case& c) { return c.tier <= tier; });
  return judged;
}

// Leaves out the cases of a tier that were made for what others meet, too: the dearest first.
void leave_out_redundant(const std::vector<TierArray>& arrays, Tier tier, std::vector<Case>& all) {
  const std::vector<Case> judged = up_to(tier, all);
  std::vector<std::vector<std::size_t>> met(judged.size());
  std::size_t tuples = 0;
  std::vector<double> cost(judged.size());
  for (const auto& [space, layers] : arrays) {
    for (const CoverLayer& layer : layers) tuples = number_tuples(space, layer, judged, tuples, met);
    for (std::size_t i = 0; i < judged.size(); ++i) {
      if (const std::optional<Point> p = space.locate(judged[i]))
        cost[i] = space.multiply_adds(*p) + space.bytes(*p);
    }
  }
  std::vector<std::size_t> made;
  for (std::size_t i = 0; i < judged.size(); ++i) {
    if (judged[i].drawn && judged[i].tier == tier) made.push_back(i);
  }
  std::stable_sort(made.begin(), made.end(), [&](std::size_t a, std::size_t b) { return cost[a] > cost[b]; });
  const std::vector<bool> left_out = redundant(met, tuples, made);
  std::size_t next = 0;
  std::erase_if(all, [&](const Case& c) { return c.tier <= tier && left_out[next++]; });
}

}  // namespace

std::vector<TierArray> tier_arrays(const CaseSpace& space, Tier tier, CaseSpeed speed) {
  if (tier == Tier::stress) return {};
  std::vector<TierArray> arrays{{space, layers_of_classes(space, tier, speed)}};
  CaseSpace contexts = space.contexts();
  CoverLayer layer = context_layer(contexts, tier, speed);
  arrays.push_back({std::move(contexts), {std::move(layer)}});
  return arrays;
}

std::vector<Case> listed_cases(const OperatorEntry& entry, CaseSpeed speed) {
  std::vector<Case> all = entry.cases();
  if (on_executor(speed)) leave_large_sizes_to_full(entry.space(), all), leave_seeds_to_full(all);
  return all;
}

std::vector<Case> tier_cases(const OperatorEntry& entry, Tier most, CaseSpeed speed) {
  std::vector<Case> all = listed_cases(entry, speed);
  for (const Tier tier : {Tier::smoke, Tier::full}) {
    if (tier > most) break;
    const std::vector<TierArray> arrays = tier_arrays(entry.space(), tier, speed);
    for (const auto& [space, layers] : arrays) {
      for (Case& c : cover(space, layers, up_to(tier, all), kCoverSeed).cases) {
        c.tier = tier;
        if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(std::move(c));
      }
    }
    leave_out_redundant(arrays, tier, all);
  }
  return all;
}

}  // namespace plumb
