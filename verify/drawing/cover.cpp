#include "verify/drawing/cover.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "verify/drawing/costly.hpp"
#include "verify/drawing/draws.hpp"
#include "verify/drawing/open_tuples.hpp"

namespace plumb {
namespace {

bool has_class_beyond_tiles(const Parameter& p) {
  return p.kind == ParameterKind::extent &&
         std::any_of(p.classes.begin(), p.classes.end(),
                     [](const ValueClass& c) { return c.low == kBeyondTiles; });
}

// The first class of an extent with a value above `least`.
std::size_t smallest_class_above(std::int64_t least, const Parameter& parameter) {
  for (std::size_t c = 0; c < parameter.classes.size(); ++c) {
    const ValueClass& v = parameter.classes[c];
    const bool words = !v.words.empty(),
               small = words && (v.words.front() == "0" || (least == 1 && v.words.front() == "1"));
    if (words ? !small : v.low > least) return c;
  }
  return 0;
}

// Builds the cases of one layer, around one open tuple at a time.
class CoverBuilder {
 public:
  CoverBuilder(const CaseSpace& space, const CoverLayer& layer, std::uint64_t seed)
      : space_(space),
        seed_(seed),
        limit_(layer.limit),
        sizes_(layer.sizes),
        open_(space, layer.combinations, layer.sizes),
        costly_(space, seed),
        point_(empty_point(space)),
        other_(point_),
        kept_(point_.classes.size()) {}

  void know(const std::vector<Case>& cases) {
    for (const Case& c : cases) {
      if (const std::optional<Point> p = space_.locate(c)) open_.close_all(*p);
    }
  }
  void add_to(Cover& cover) {
    open_.for_each_open([&](const ClassTuple& tuple, std::size_t index) {
      if (!open_.open(index) || has_impossible_part(tuple)) return;
      const std::optional<Point> p = around(tuple, tries_of(tuple));
      if (!p) return;  // impossible, unless a case for another tuple happens to meet it
      cover.tuples += open_.close_all(*p);
      Case c = space_.make(*p, cover.cases.size() + 1);
      const std::string& why = space_.parameters()[tuple.parameter[0]].why;
      c.why = "covers " + describe(space_, tuple) + (tuple.size == 1 && !why.empty() ? ": " + why : "");
      cover.cases.push_back(std::move(c));
    });
    open_.for_each_open([&](const ClassTuple& tuple, std::size_t) { cover.impossible.push_back(tuple); });
  }

 private:
  static constexpr int kTries = 400;         // starts per tuple before it is called impossible
  static constexpr int kDerivedTries = 800;  // where sizes must first be found that have the tuple
  static constexpr int kShapeTries =
      6000;  // where those find nothing for a tuple about shapes, whose extents fit by chance
  // for a class alone: where they find nothing, no tuple with it is searched for, and cheap cases seldom have it by chance
  static constexpr int kTriesOfClass = 8000;
  static constexpr int kRaises = 12;     // of one extent, per start
  static constexpr int kCandidates = 8;  // points made for a tuple, of which one becomes a case
  static constexpr CaseLimit kNoLimit{std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::infinity()};
  // multiply-adds and words that the CPU executor does in the time of an empty run
  static constexpr double kCostOfAnyRun = 1e4;

  [[nodiscard]] int tries_of(const ClassTuple& tuple) const {
    if (sizes_ == Sizes::least && tuple.size == 1) return kTriesOfClass;
    return has_derived(tuple) ? kDerivedTries : kTries;
  }
  // Part of a tuple: it is searched for once, and the answer kept.
  bool is_possible(const ClassTuple& part, int tries) {
    const auto [at, fresh] = possible_.try_emplace({part.parameter, part.value_class}, true);
    if (fresh) at->second = around(part, tries).has_value();
    return at->second;
  }
  // Thousands of triples fail for one of their pairs, and what four parameters have together for three of them.
  bool has_impossible_part(const ClassTuple& tuple) {
    if (tuple.size < 3) return false;
    for (std::size_t left_out = 0; left_out < tuple.size; ++left_out) {
      ClassTuple part{tuple.size - 1, {}, {}};
      for (std::size_t k = 0, to = 0; k < tuple.size; ++k) {
        if (k == left_out) continue;
        part.parameter[to] = tuple.parameter[k], part.value_class[to++] = tuple.value_class[k];
      }
      if (has_impossible_part(part) || !is_possible(part, tries_of(part))) return true;
    }
    return false;
  }

  // A count beyond 16 bits may have no case within the limit that computes something, whatever else is asked for.
  bool has_impossible_class(const ClassTuple& tuple) {
    if (is_about_nothing(tuple)) return false;
    for (std::size_t k = 0; k < tuple.size && tuple.size > 1; ++k) {
      const ClassTuple alone{1, {tuple.parameter[k]}, {tuple.value_class[k]}};
      if (!has_derived(alone)) continue;
      const std::uint64_t drawn = drawn_;
      const bool possible = is_possible(alone, kTriesOfClass);
      drawn_ = drawn;  // as if not searched for: no other case depends on it
      if (!possible) return true;
    }
    return false;
  }
  // A form is values that some parameters have together: none of these can be another one.
  bool contradicts_form(const ClassTuple& tuple) const {
    for (std::size_t form = 0; form < tuple.size; ++form) {
      if (!space_.is_form(tuple.parameter[form])) continue;
      Point p = empty_point(space_);
      space_.make_hold(p, tuple.parameter[form], {});
      for (std::size_t k = 0; k < tuple.size; ++k) {
        const std::size_t parameter = tuple.parameter[k];
        if (!p.words[parameter].empty() && p.classes[parameter] != tuple.value_class[k]) return true;
      }
    }
    return false;
  }
  // Sizes are drawn, derived classes follow from them.
  bool has_derived(const ClassTuple& tuple) const {
    return std::any_of(tuple.parameter.begin(), tuple.parameter.begin() + tuple.size, [&](std::size_t i) {
      return space_.parameters()[i].kind == ParameterKind::derived && !space_.extent_of_shape(i);
    });
  }
  bool has_shape(const ClassTuple& tuple) const {
    return std::any_of(tuple.parameter.begin(), tuple.parameter.begin() + tuple.size,
                       [&](std::size_t i) { return space_.extent_of_shape(i).has_value(); });
  }
  // Sizes that the tuple wants to be equal, or of a form, become so. What else the tuple is about stays.
  void make_hold(Point& p, const ClassTuple& tuple) const {
    const std::vector<std::size_t> kept(tuple.parameter.begin(), tuple.parameter.begin() + tuple.size);
    for (const std::size_t parameter : kept) space_.make_hold(p, parameter, kept);
  }
  bool meets(const Point& p, const ClassTuple& tuple) const {
    for (std::size_t k = 0; k < tuple.size; ++k) {
      if (space_.class_at(p, tuple.parameter[k]) != tuple.value_class[k]) return false;
    }
    return true;
  }
  bool is_about_nothing(const ClassTuple& tuple) const {
    for (std::size_t k = 0; k < tuple.size; ++k) {
      if (space_.is_nothing(tuple.parameter[k], tuple.value_class[k])) return true;
    }
    return false;
  }
  // Whether a point that has the tuple is a test of it: it computes something, or nothing for the tuple's sake alone.
  bool tests(const Point& p, const ClassTuple& tuple) const {
    if (!space_.idle(p)) return true;
    const std::vector<std::size_t> parameters(tuple.parameter.begin(), tuple.parameter.begin() + tuple.size);
    return is_about(space_.nothings(p.classes), parameters) && !space_.idle_at_any_extent(p);
  }

  // The best of some points that have the tuple.
  std::optional<Point> around(const ClassTuple& tuple, int tries) {
    if (costly_.has_below(tuple) || contradicts_form(tuple) || has_impossible_class(tuple)) {
      drawn_ += static_cast<std::uint64_t>(tries);  // as if searched for: no other case depends on it
      return std::nullopt;
    }
    std::optional<Point> best;
    double most = -1;
    const bool derived = has_derived(tuple), may_be_costly = !derived && !is_about_nothing(tuple);
    bool has_costly = false;
    const int most_tries = std::max(tries, has_shape(tuple) ? kShapeTries : 0);
    const std::uint64_t usual = drawn_ + static_cast<std::uint64_t>(tries);
    for (int attempt = 0, found = 0; found < kCandidates && attempt < (found == 0 ? most_tries : tries);
         ++attempt) {
      Draws draws(seed_, ++drawn_);
      Point& p = point_;
      start(p, tuple, attempt, draws);
      if (!space_.valid_at_some_size(p)) continue;
      if (attempt % 4 == 1 ? !raise_one(p, draws) : !shrink_to_limit(space_, p, kept_, limit_, draws)) {
        has_costly = has_costly || (may_be_costly && space_.valid(p, kNoLimit));
        continue;
      }
      if (derived) make_hold(p, tuple);
      if ((derived && !space_.valid(p, limit_)) || !meets(p, tuple) || !tests(p, tuple)) continue;
      space_.update_derived(p);
      improve(p, tuple, draws);
      if (sizes_ == Sizes::least) lower(p, draws);
      ++found;
      // what is searched for on behalf of more parameters may meet nothing that is open
      const double worth = worth_of(open_.open_of(p.classes, space_.idle(p)), p);
      if (worth > most) best = p, most = worth;
    }
    drawn_ = std::min(drawn_, usual);  // as if no more tries had been made: no other case depends on it
    if (!best && has_costly) costly_.add(tuple);
    return best;
  }

  // The tuple's classes, with small, smallest and drawn extents in turn. They stay as they are: kept_.
  void start(Point& p, const ClassTuple& tuple, int attempt, Draws& draws) {
    const bool derived = has_derived(tuple), small = attempt % 4 < (derived ? 1 : 2);
    const auto* const end = tuple.parameter.begin() + tuple.size;
    kept_.assign(kept_.size(), false);
    draws.values(space_, p, [&](std::size_t i) -> std::size_t {
      const Parameter& parameter = space_.parameters()[i];
      const auto* const at = std::find(tuple.parameter.begin(), end, i);
      if (at != end) {
        kept_[i] = true;
        return tuple.value_class[static_cast<std::size_t>(at - tuple.parameter.begin())];
      }
      if (const std::optional<std::size_t> drawn = class_of_shape(tuple, i, draws)) {
        kept_[i] = true;
        return *drawn;
      }
      if (parameter.kind == ParameterKind::extent && small)
        return smallest_class_above(!derived && (attempt % 4 == 0 || attempt % 8 == 5) ? 1 : 0, parameter);
      return attempt > 0 ? draws.below(parameter.classes.size()) : 0;
    });
    space_.settle(p, kept_);
    if (attempt % 4 == 3)
      kept_[draws.below(kept_.size())] = true;  // an extreme beside which the others shrink
  }

  bool is_about_shape_of(std::size_t extent, const ClassTuple& tuple) const {
    return std::any_of(tuple.parameter.begin(), tuple.parameter.begin() + tuple.size,
                       [&](std::size_t i) { return space_.extent_of_shape(i) == extent; });
  }
  // Where the tuple is about the shape of that extent, one of the classes that have it.
  std::optional<std::size_t> class_of_shape(const ClassTuple& tuple, std::size_t extent, Draws& draws) const {
    std::vector<std::size_t> all;
    for (std::size_t k = 0; k < tuple.size; ++k) {
      if (space_.extent_of_shape(tuple.parameter[k]) != extent) continue;
      for (std::size_t c = 0; c < space_.parameters()[extent].classes.size(); ++c) {
        if (space_.shape_of(tuple.parameter[k], c) == tuple.value_class[k]) all.push_back(c);
      }
    }
    if (all.empty()) return std::nullopt;
    return all[draws.below(all.size())];
  }

  // Tries larger classes for one free extent at a time until the point is valid: a long row needs many columns.
  bool raise_one(Point& p, Draws& draws) {
    std::vector<std::size_t> free;
    for (const std::size_t i : space_.drawn_parameters()) {
      if (!kept_[i] && space_.parameters()[i].kind == ParameterKind::extent) free.push_back(i);
    }
    bool valid = space_.valid(p, limit_);
    for (int step = 0; step < kRaises && !free.empty() && !valid; ++step) {
      const std::size_t parameter = free[draws.below(free.size())];
      const std::size_t value_class = p.classes[parameter];
      const double number = p.numbers[parameter];
      const std::string word = p.words[parameter];
      draws.value(space_, p, parameter, draws.below(space_.parameters()[parameter].classes.size()));
      valid = space_.valid(p, limit_);
      if (!valid)
        p.classes[parameter] = value_class, p.numbers[parameter] = number, p.words[parameter] = word;
    }
    return valid;
  }

  // Each free parameter in a drawn order takes the class that meets the most open tuples and leaves the point valid.
  void improve(Point& p, const ClassTuple& tuple, Draws& draws) {
    std::vector<std::size_t> order(p.classes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draws.below(i)]);
    for (const std::size_t parameter : order) {
      const bool free = (!kept_[parameter] || is_about_shape_of(parameter, tuple)) &&
                        space_.parameters()[parameter].kind != ParameterKind::derived;
      if (free) improve(p, tuple, parameter, draws);
    }
  }
  void improve(Point& p, const ClassTuple& tuple, std::size_t parameter, Draws& draws) {
    const std::size_t classes = space_.parameters()[parameter].classes.size(), first = draws.below(classes);
    const bool idle = space_.idle(p);
    open_.open_with_each(parameter, p.classes, idle, met_);
    const std::size_t now = p.classes[parameter] < classes ? met_[p.classes[parameter]] : 0;
    better_.clear();
    for (std::size_t k = 0; k < classes; ++k) {
      const std::size_t value_class = (first + k) % classes;
      if (met_[value_class] > now) better_.emplace_back(met_[value_class], value_class);
    }
    std::stable_sort(better_.begin(), better_.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [met, value_class] : better_) {
      other_ = p;
      draws.value(space_, other_, parameter, value_class);
      settle(other_, tuple, parameter);
      if (!space_.valid(other_, limit_) || !meets(other_, tuple)) continue;
      if (space_.idle(other_) != idle || !tests(other_, tuple)) continue;
      space_.update_derived(other_);
      std::swap(p, other_);
      return;
    }
  }

  // What a tuple is about stays, and the parameter that was drawn.
  void settle(Point& p, const ClassTuple& tuple, std::size_t drawn) const {
    std::vector<bool> kept(p.classes.size());
    kept[drawn] = true;
    for (std::size_t k = 0; k < tuple.size; ++k)
      kept[space_.extent_of_shape(tuple.parameter[k]).value_or(tuple.parameter[k])] = true;
    space_.settle(p, kept);
  }

  // A case that meets so many open tuples, against others: where sizes are to be the least, for what it costs.
  [[nodiscard]] double worth_of(std::size_t met, const Point& p) const {
    const double cost = sizes_ == Sizes::least ? space_.multiply_adds(p) + space_.bytes(p) / 4 : 0;
    return static_cast<double>(met) / (kCostOfAnyRun + cost);
  }

  // Each extent beyond any tile moves to the lower end of its class, a little above it so that sizes are as ragged as drawn ones, where no
  // other class changes by that.
  void lower(Point& p, Draws& draws) const {
    for (std::size_t i = p.classes.size(); i-- > 0;) {  // rows become shorter before there are fewer columns
      const Parameter& parameter = space_.parameters()[i];
      if (parameter.kind != ParameterKind::extent || p.classes[i] == parameter.classes.size()) continue;
      const ValueClass& c = parameter.classes[p.classes[i]];
      const auto width = static_cast<std::size_t>(c.low / 8 + 1);
      const std::int64_t above = c.low + static_cast<std::int64_t>(draws.below(width));
      if (c.low < kBeyondTiles || static_cast<double>(above) >= p.numbers[i]) continue;  // or a list of words
      Point other = p;
      space_.set(other, i, std::to_string(above));
      if (other.classes == p.classes && space_.valid(other, limit_)) p = std::move(other);
    }
  }

  const CaseSpace& space_;
  std::uint64_t seed_, drawn_ = 0;
  CaseLimit limit_;
  Sizes sizes_;
  OpenTuples open_;
  CostlyTuples costly_;
  std::map<std::pair<ClassTuple::Places, ClassTuple::Places>, bool> possible_;
  // of one attempt; here, so that thousands of them allocate nothing
  Point point_, other_;
  std::vector<bool> kept_;
  std::vector<std::size_t> met_;                             // open tuples, by class
  std::vector<std::pair<std::size_t, std::size_t>> better_;  // how many open tuples, by which class
};

}  // namespace

bool met_once(const CaseSpace& space, Sizes sizes, std::size_t parameter, std::size_t value_class) {
  const std::vector<Parameter>& all = space.parameters();
  if (sizes == Sizes::any || !has_class_beyond_tiles(all[parameter])) return false;
  if (all[parameter].classes[value_class].low != kBeyondTiles) return false;
  return std::count_if(all.begin(), all.end(), has_class_beyond_tiles) > 1;
}

std::string describe(const CaseSpace& space, const ClassTuple& tuple) {
  std::string text;
  for (std::size_t k = 0; k < tuple.size; ++k) {
    const Parameter& p = space.parameters()[tuple.parameter[k]];
    text += fmt::format("{}{}: {}", k == 0 ? "" : " with ", p.key, p.classes[tuple.value_class[k]].name);
  }
  return text;
}

std::vector<Combination> single_parameters(const CaseSpace& space) {
  std::vector<Combination> all;
  for (std::size_t a = 0; a < space.parameters().size(); ++a) all.push_back({a});
  return all;
}
namespace {
bool has_dear_class(const Parameter& p) {
  return std::any_of(p.classes.begin(), p.classes.end(), [](const ValueClass& c) { return c.dear; });
}
std::vector<Combination> single_where(const CaseSpace& space, bool dear) {
  std::vector<Combination> all = single_parameters(space);
  std::erase_if(all,
                [&](const Combination& one) { return has_dear_class(space.parameters()[one[0]]) != dear; });
  return all;
}
}  // namespace
std::vector<Combination> single_cheap(const CaseSpace& space) { return single_where(space, false); }
std::vector<Combination> single_dear(const CaseSpace& space) { return single_where(space, true); }
std::vector<Combination> parameter_pairs(const CaseSpace& space) {
  std::vector<Combination> all;
  for (std::size_t a = 0; a < space.parameters().size(); ++a) {
    for (std::size_t b = a + 1; b < space.parameters().size(); ++b) {
      const bool follow = space.parameters()[a].kind == ParameterKind::derived;  // and so does b
      if (!follow) all.push_back({a, b});
    }
  }
  return all;
}
std::vector<Combination> form_pairs(const CaseSpace& space) {
  std::vector<Combination> all = parameter_pairs(space);
  std::erase_if(all, [&](const Combination& pair) { return !space.is_form(pair[1]); });
  return all;
}
std::vector<Combination> context_pairs(const CaseSpace& contexts) {
  std::vector<Combination> all = parameter_pairs(contexts);
  std::erase_if(all, [&](const Combination& pair) {
    return contexts.is_special(pair[0]) || contexts.extent_of_shape(pair[1]);
  });
  return all;
}
std::vector<Combination> context_triples(const CaseSpace& contexts) {
  std::vector<Combination> all;
  const std::size_t dtype = contexts.index("dtype"), layout = contexts.index("layout");
  for (const Combination& pair : context_pairs(contexts)) {
    const bool where = contexts.parameters()[pair[0]].kind == ParameterKind::extent || pair[0] == layout;
    if (where && contexts.is_special(pair[1])) all.push_back({dtype, pair[0], pair[1]});
  }
  return all;
}
std::vector<Combination> size_shape_pairs(const CaseSpace& contexts) {
  std::vector<Combination> all;
  const std::vector<Parameter>& parameters = contexts.parameters();
  for (std::size_t shape = 0; shape < parameters.size(); ++shape) {
    const std::optional<std::size_t> of = contexts.extent_of_shape(shape);
    for (std::size_t extent = 0; of && extent < parameters.size(); ++extent) {
      if (parameters[extent].kind == ParameterKind::extent && extent != *of) all.push_back({extent, shape});
    }
  }
  return all;
}
std::vector<Combination> shape_pairs(const CaseSpace& contexts) {
  std::vector<Combination> all;
  for (std::size_t a = 0; a < contexts.parameters().size(); ++a) {
    for (std::size_t b = a + 1; b < contexts.parameters().size(); ++b) {
      if (contexts.extent_of_shape(a) && contexts.extent_of_shape(b)) all.push_back({a, b});
    }
  }
  return all;
}
namespace {
std::vector<Combination> beside(std::size_t parameter, std::vector<Combination> combinations) {
  for (Combination& c : combinations) {
    c.push_back(parameter);
    std::sort(c.begin(), c.end());
  }
  return combinations;
}
}  // namespace
std::vector<Combination> beside_each_special(const CaseSpace& contexts,
                                             const std::vector<Combination>& combinations) {
  std::vector<Combination> all;
  for (std::size_t i = 0; i < contexts.parameters().size(); ++i) {
    if (!contexts.is_special(i) && contexts.parameters()[i].key != "special") continue;
    const std::vector<Combination> more = beside(i, combinations);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}
std::vector<Combination> beside_each_type(const CaseSpace& space,
                                          const std::vector<Combination>& combinations) {
  return beside(space.index("dtype"), combinations);
}
std::vector<Combination> parameter_triples(const CaseSpace& space) {
  std::vector<Combination> all;
  for (const Combination& pair : parameter_pairs(space)) {
    for (std::size_t c = pair[1] + 1; c < space.parameters().size(); ++c) {
      if (space.parameters()[c].kind != ParameterKind::derived) all.push_back({pair[0], pair[1], c});
    }
  }
  return all;
}
std::vector<Combination> fill_scalar_size_triples(const CaseSpace& space) {
  const auto kind_of = [&](std::size_t i) {
    const Parameter& p = space.parameters()[i];
    return p.key == "fill"                                         ? 0
           : p.kind == ParameterKind::scalar                       ? 1
           : p.kind == ParameterKind::extent || p.key == "pattern" ? 2
                                                                   : 3;
  };
  std::vector<Combination> all;
  for (const Combination& triple : parameter_triples(space)) {
    std::array<int, 3> kinds{};
    std::transform(triple.begin(), triple.end(), kinds.begin(), kind_of);
    std::sort(kinds.begin(), kinds.end());
    if (kinds == std::array<int, 3>{0, 1, 2}) all.push_back(triple);
  }
  return all;
}

Cover cover(const CaseSpace& space, const std::vector<CoverLayer>& layers, const std::vector<Case>& known,
            std::uint64_t seed) {
  Cover all;
  for (const CoverLayer& layer : layers) {
    CoverBuilder builder(space, layer, seed);
    builder.know(known);
    builder.know(all.cases);
    builder.add_to(all);
  }
  return all;
}

std::size_t number_tuples(const CaseSpace& space, const CoverLayer& layer, const std::vector<Case>& cases,
                          std::size_t first, std::vector<std::vector<std::size_t>>& met) {
  const OpenTuples tuples(space, layer.combinations, layer.sizes);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (const std::optional<Point> p = space.locate(cases[i]))
      tuples.for_each_met(*p, [&](std::size_t index) { met[i].push_back(first + index); });
  }
  return first + tuples.size();
}

std::vector<ClassTuple> tuples_not_met(const CaseSpace& space, const std::vector<Combination>& combinations,
                                       const std::vector<Case>& cases) {
  OpenTuples tuples(space, combinations);
  for (const Case& c : cases) {
    if (const std::optional<Point> p = space.locate(c)) tuples.close_all(*p);
  }
  std::vector<ClassTuple> open;
  tuples.for_each_open([&](const ClassTuple& tuple, std::size_t) { open.push_back(tuple); });
  return open;
}

}  // namespace plumb
