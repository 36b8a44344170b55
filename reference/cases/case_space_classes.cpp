// Of a case space, the classes that are a matter of several parameters at once, and the traps that stand for one such class.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/cases/case_space.hpp"
#include "reference/cases/case_words.hpp"
#include "reference/core/error.hpp"
#include "reference/core/text.hpp"

namespace plumb {
namespace {

// One part of a trap's constraint.
struct Term {
  std::string_view key;
  std::vector<std::string_view>
      words;  // alternatives; none: the operator must have the parameter, or must not
  bool optional = false, absent = false;
};

std::vector<std::string_view> parts_of(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::vector<Term> terms_of(std::string_view constraint) {
  std::vector<Term> terms;
  for (const std::string_view part : parts_of(constraint, ',')) {
    const std::size_t equals = part.find('=');
    Term term{part.substr(0, equals), {}};
    if (equals != std::string_view::npos) term.words = parts_of(part.substr(equals + 1), '|');
    term.absent = term.key.starts_with('-'), term.optional = term.key.ends_with('?');
    if (term.absent) term.key.remove_prefix(1);
    if (term.optional) term.key.remove_suffix(1);
    terms.push_back(std::move(term));
  }
  return terms;
}

bool has_word(std::string_view words, std::string_view wanted) {
  const std::vector<std::string_view> all = parts_of(words, ' ');
  return std::find(all.begin(), all.end(), wanted) != all.end();
}

}  // namespace

std::vector<std::pair<std::string, std::string>> parse_values(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const Term& term : terms_of(text)) values.emplace_back(term.key, term.words.at(0));
  return values;
}

std::vector<std::pair<std::size_t, TimedValues>> CaseSpace::timed_shape(std::string_view shape) const {
  std::vector<std::pair<std::size_t, TimedValues>> values;
  for (const Term& term : terms_of(shape)) {
    if (term.words.empty())
      throw Error(fmt::format("{}: shape '{}' gives '{}' no value", op_, shape, term.key));
    const std::string_view first = term.words.front();
    const std::size_t dots = first.find("..");
    TimedValues of;
    if (dots != std::string_view::npos)
      of = timed_range(parse_size(first.substr(0, dots), term.key),
                       parse_size(first.substr(dots + 2), term.key));
    else
      of = timed_words({term.words.begin(), term.words.end()});
    values.emplace_back(index(term.key), std::move(of));
  }
  return values;
}

CaseSpace& CaseSpace::timed_family(TimedFamily family) {
  if (family.shapes.empty()) throw Error(fmt::format("{}: family '{}' has no shapes", op_, family.name));
  for (const std::string& shape : family.shapes) {
    if (timed_shape(shape).empty())
      throw Error(fmt::format("{}: a shape of family '{}' names no parameter", op_, family.name));
  }
  timed_families_.push_back(std::move(family));
  return *this;
}

CaseSpace& CaseSpace::count(std::string key, std::function<double(const Point&)> value, const Count& what) {
  Values with;
  for (const auto& [parameter, word] : parse_values(what.with)) with.emplace_back(index(parameter), word);
  derived(
      std::move(key), fmt::format("beyond {}", what.beyond > 65'535 ? "16 bits" : "a byte"),
      [value = std::move(value), beyond = what.beyond](const Point& p) { return value(p) > beyond; },
      std::move(with));
  return *this;
}

void CaseSpace::derived(std::string key, std::string name, std::function<bool(const Point&)> holds,
                        Values with) {
  derived_.push_back({parameters_.size(), std::move(holds), {}, {}, std::move(with)});
  add({std::move(key), ParameterKind::derived, {{std::move(name), {}}}, ""});
}

CaseSpace& CaseSpace::alike(const std::vector<std::string>& extents) {
  std::vector<std::size_t> equal;
  for (const std::string& key : extents) equal.push_back(index(key));
  const std::string key = fmt::format("{}", fmt::join(extents, " and "));
  derived(key, "alike", [equal](const Point& p) {
    return p.numbers[equal.front()] > 1 && std::all_of(equal.begin(), equal.end(), [&](std::size_t i) {
             return p.numbers[i] == p.numbers[equal.front()];
           });
  });
  derived_.back().equal = equal;
  const auto may_be_large = [&](std::size_t i) {
    return std::any_of(parameters_[i].classes.begin(), parameters_[i].classes.end(),
                       [](const ValueClass& c) { return c.low == kBeyondTiles; });
  };
  if (equal.size() != 2 || !std::all_of(equal.begin(), equal.end(), may_be_large)) return *this;
  const Trap trap{"alike, several tiles", fmt::format("{}=300,{}=300", extents[0], extents[1]),
                  "a square of several tiles", Met::dear};
  // many arrays of such a size are too large
  if (has(kFillKey) && !fits(values_of(trap, false).front(), kDearOnce)) return *this;
  return one_case(trap);
}

// Extents beyond a warp that leave 1, 2 and 3 of groups of four: each has code of its own for what is left, and a kernel may be made for one
// value of another parameter.
void CaseSpace::add_rests_of_four(const std::string& extent) {
  constexpr double kWarp = 32;
  const std::size_t of = index(extent);
  for (const int rest : {1, 2, 3}) {
    derived(
        fmt::format("{} by four", extent), fmt::format("{} left", rest),
        [of, rest](const Point& p) { return p.numbers[of] > kWarp && std::fmod(p.numbers[of], 4) == rest; },
        {{of, std::to_string(40 + rest)}});
  }
}

CaseSpace& CaseSpace::one_case(const Trap& trap) {
  add_trap(trap, false);
  return *this;
}

CaseSpace& CaseSpace::complete() {
  // of dense arrays: sizes that the CPU executor has no room for, whatever the others are, are met once, on a device
  for (std::size_t i = 0; i < parameters_.size() && !layout_.sparse; ++i) {
    if (parameters_[i].kind != ParameterKind::extent) continue;
    for (ValueClass& c : parameters_[i].classes) {
      const std::string least = c.words.empty() ? std::to_string(c.low) : c.words.front();
      c.once = c.once || (least != "0" && !fits({{i, least}}, kCheapOnce));
    }
  }
  for (const std::string& extent : unrolled_) add_rests_of_four(extent);
  for (const Trap& trap : known_traps()) add_trap(trap, true);
  return *this;
}

std::optional<std::size_t> CaseSpace::meant(std::string_view word, bool by_role) const {
  for (const auto& [extent, roles] : roles_) {
    if (by_role && has_word(roles, word)) return extent;
  }
  for (const std::size_t i : drawn_) {
    const bool is_size = parameters_[i].kind == ParameterKind::extent && parameters_[i].key != kRowMeanKey;
    if (parameters_[i].key == word && !(by_role && is_size)) return i;
  }
  return std::nullopt;
}

std::vector<CaseSpace::Values> CaseSpace::values_of(const Trap& trap, bool by_role) const {
  std::vector<Values> all(1);
  for (const Term& term : terms_of(trap.constraint)) {
    const std::optional<std::size_t> parameter = meant(term.key, by_role);
    if (!parameter && (term.optional || term.absent)) continue;
    if (!parameter && !by_role)
      throw Error(fmt::format("{}: trap '{}' needs a parameter '{}'", op_, trap.name, term.key));
    if (!parameter || term.absent) return {};
    std::vector<Values> longer;
    for (const Values& values : all) {
      const bool said = std::any_of(values.begin(), values.end(),
                                    [&](const auto& value) { return value.first == *parameter; });
      if (said || term.words.empty()) longer.push_back(values);
      for (std::size_t k = 0; !said && k < term.words.size(); ++k) {
        longer.push_back(values);
        longer.back().emplace_back(*parameter, term.words[k]);
      }
    }
    all = std::move(longer);
  }
  return all;
}

// Whether the smallest case with these values can be made within a limit.
bool CaseSpace::fits(const Values& values, const CaseLimit& limit) const {
  Point p{&parameters_, std::vector<std::size_t>(parameters_.size()),
          std::vector<std::string>(parameters_.size()), std::vector<double>(parameters_.size())};
  for (const std::size_t i : drawn_)
    place(p, i, parameters_[i].kind == ParameterKind::extent ? "1" : parameters_[i].simplest);
  for (const auto& [parameter, word] : values) {
    if (parameters_[parameter].key == kLayoutKey && word.starts_with("not_") &&
        word > fmt::format("not_{}", layout_.arrays))
      return false;  // of two arrays, none is the third
    const std::vector<ValueClass>& classes = parameters_[parameter].classes;
    if (parameters_[parameter].key == kFillKey &&
        std::none_of(classes.begin(), classes.end(),
                     [&w = word](const ValueClass& c) { return contains(c, w); }))
      return false;  // the oracle and the bound are not made for it
    place(p, parameter, word);
  }
  return valid(p, limit) && !idle(p);
}

void CaseSpace::add_trap(const Trap& trap, bool known) {
  for (const Values& values : values_of(trap, known)) {
    if (known && !fits(values, trap.met == Met::once ? kCheapOnce : kDearOnce)) continue;
    std::vector<std::string> said;
    for (const auto& [parameter, word] : values)
      said.push_back(fmt::format("{}={}", parameters_[parameter].key, word));
    const std::string key = fmt::format("{}", fmt::join(said, ","));
    if (trap.met == Met::with_all) {
      add_form(trap, key, values);
    } else {
      add_in_each_type(trap, key, values);
    }
  }
}

void CaseSpace::add_form(const Trap& trap, const std::string& key, const Values& values) {
  derived(key, trap.name, [values](const Point& p) {
    return std::all_of(values.begin(), values.end(),
                       [&](const auto& one) { return p.words[one.first] == one.second; });
  });
  parameters_.back().why = trap.why;
  derived_.back().together = values;
}

// Where a case is made for it, all other words are the simplest.
void CaseSpace::add_in_each_type(const Trap& trap, const std::string& key, const Values& values) {
  Values together;
  for (const std::size_t i : drawn_) {
    if (parameters_[i].kind == ParameterKind::word) together.emplace_back(i, parameters_[i].simplest);
  }
  const std::size_t of_layout = index(kLayoutKey);
  std::string layout = parameters_[of_layout].simplest;
  for (const auto& [parameter, word] : values) {
    if (parameter == of_layout) layout = word;
    together.emplace_back(parameter, word);
  }
  // asked at every point: numbers of classes are compared first
  const std::size_t of_type = index(kDtypeKey);
  const auto class_of = [&](std::size_t parameter, const std::string& word) {
    const std::vector<ValueClass>& classes = parameters_[parameter].classes;
    const auto at =
        std::find_if(classes.begin(), classes.end(), [&](const auto& c) { return c.name == word; });
    return static_cast<std::size_t>(at - classes.begin());
  };
  const std::size_t layout_class = class_of(of_layout, layout);
  const std::size_t types = parameters_[of_type].classes.size();
  for (std::size_t type = 0; type < types; ++type) {
    const std::string word = parameters_[of_type].classes[type].name;
    derived(fmt::format("{} of {}", key, word), trap.name, [=](const Point& p) {
      return p.classes[of_type] == type && p.classes[of_layout] == layout_class &&
             std::all_of(values.begin(), values.end(),
                         [&](const auto& one) { return same_value(p.words[one.first], one.second); });
    });
    parameters_.back().classes.front().once = true;
    parameters_.back().classes.front().dear = trap.met == Met::dear;
    parameters_.back().why = trap.why;
    derived_.back().together = together;
    derived_.back().together.emplace_back(of_type, word);
  }
}

}  // namespace plumb
