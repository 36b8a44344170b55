#include "verify/drawing/costly.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "verify/drawing/draws.hpp"

namespace plumb {
namespace {

// Whether a case costs no less where this extent alone is larger, at points that are drawn.
bool costs_no_less(const CaseSpace& space, std::size_t parameter, Draws& draws) {
  constexpr int kPoints = 64;
  for (int i = 0; i < kPoints; ++i) {
    Point p = empty_point(space);
    draws.values(space, p, [&](std::size_t k) { return draws.below(space.parameters()[k].classes.size()); });
    Point q = p;
    draws.value(space, q, parameter, draws.below(space.parameters()[parameter].classes.size()));
    const auto& [less, more] = p.numbers[parameter] <= q.numbers[parameter] ? std::tie(p, q) : std::tie(q, p);
    if (space.multiply_adds(more) < space.multiply_adds(less) || space.bytes(more) < space.bytes(less))
      return false;
  }
  return true;
}

std::pair<double, double> ends_of(const ValueClass& c) {
  if (c.words.empty()) return {c.low, c.high};
  std::vector<double> values;
  for (const std::string& word : c.words) values.push_back(std::stod(word));
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, *most};
}

}  // namespace

CostlyTuples::CostlyTuples(const CaseSpace& space, std::uint64_t seed) {
  for (std::size_t i = 0; i < space.parameters().size(); ++i) {
    const Parameter& p = space.parameters()[i];
    Draws draws(seed, i);
    std::vector<std::pair<double, double>>& ends = ends_.emplace_back();
    if (p.kind == ParameterKind::extent && costs_no_less(space, i, draws))
      std::transform(p.classes.begin(), p.classes.end(), std::back_inserter(ends), ends_of);
  }
}

void CostlyTuples::add(const ClassTuple& tuple) { known_.push_back(tuple); }

bool CostlyTuples::has_below(const ClassTuple& tuple) const {
  return std::any_of(known_.begin(), known_.end(),
                     [&](const ClassTuple& known) { return no_cheaper(tuple, known); });
}

bool CostlyTuples::no_cheaper(const ClassTuple& tuple, const ClassTuple& known) const {
  if (tuple.size != known.size || tuple.parameter != known.parameter) return false;
  for (std::size_t k = 0; k < tuple.size; ++k) {
    if (tuple.value_class[k] == known.value_class[k]) continue;
    const auto& ends = ends_[tuple.parameter[k]];
    if (ends.empty() || ends[tuple.value_class[k]].first < ends[known.value_class[k]].second) return false;
  }
  return true;
}

}  // namespace plumb
