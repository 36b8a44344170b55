// Of a case space, the contexts in which each class is to be met: the same parameters in few classes each, beside the values that operands
// may hold whatever their fill is.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "reference/cases/case_space.hpp"
#include "reference/cases/case_words.hpp"

namespace plumb {
namespace {

struct Bucket {
  const char* name;
  std::int64_t low, high;  // both ends inside
  std::vector<const char*>
      sizes;          // that cases have: most are whole vectors, others a few beyond blocks or neither
  std::size_t shape;  // of an extent of such a size: its place in kShapes
};

constexpr const char* kShapes[] = {"one", "few", "many"};
constexpr std::size_t kNoShape = std::size(kShapes);

// Sizes that kernels treat alike whatever else a case has. Lists of an operator's own fall into the same ones.
const std::vector<Bucket>& buckets() {
  static const std::vector<Bucket> kBuckets = {
      {"zero", 0, 0, {"0"}, kNoShape},
      {"one", 1, 1, {"1"}, 0},
      {"below a warp", 2, 31, {"2", "3", "4", "4", "8", "8", "12", "20", "23", "28"}, 1},
      {"about a warp", 32, 62, {"32", "33", "36", "40", "41", "48", "60"}, 1},
      {"about a block", 63, 300, {"64", "68", "100", "129", "132", "256", "257", "258", "259", "260"}, 1},
      {"several blocks", 301, 5000, {"304", "320", "513", "516", "604", "769", "1028"}, 2},
      {"far beyond blocks", 5001, 1'000'000'000, {"12292", "20011", "65537", "65568"}, 2}};
  return kBuckets;
}

bool lies_in(double size, double low, double high) { return size >= low && size <= high; }
bool lies_in(double size, std::int64_t low, std::int64_t high) {
  return lies_in(size, static_cast<double>(low), static_cast<double>(high));
}

// Of a bucket, the sizes that a class has: a list those of its own, a range the bucket's.
void add_sizes(ValueClass& to, const ValueClass& from, const Bucket& bucket) {
  for (const std::string& word : from.words) {
    if (lies_in(number_of(word), bucket.low, bucket.high)) to.typical.push_back(word);
  }
  for (const char* const size : bucket.sizes) {
    if (from.words.empty() && lies_in(number_of(size), from.low, from.high)) to.typical.emplace_back(size);
  }
}

// A padding that is none, and rows with less than an entry on average: a size of no bucket.
bool is_of_its_own(const ValueClass& c) {
  return c.name == "none" || (!c.words.empty() && lies_in(number_of(c.words.front()), 0.01, 0.99));
}

// Classes of an extent by buckets, in ascending order.
std::vector<ValueClass> by_buckets(const std::vector<ValueClass>& classes) {
  std::vector<ValueClass> coarse;
  for (const Bucket& bucket : buckets()) {
    ValueClass made{bucket.name, {}, bucket.low, bucket.high};
    for (const ValueClass& c : classes) {
      if (!c.once && !is_of_its_own(c)) add_sizes(made, c, bucket);
    }
    const bool has_any = !made.typical.empty();
    if (bucket.low == bucket.high) made.words = std::exchange(made.typical, {});  // one value
    made.once = bucket.high ==
                0;  // where an extent is none, little else matters: the operator's own array has its pairs
    if (has_any) coarse.push_back(std::move(made));
    if (bucket.low == 0)
      std::copy_if(classes.begin(), classes.end(), std::back_inserter(coarse), is_of_its_own);
  }
  return coarse;
}

// A padding that is none, and rows with less than an entry on average, have no shape.
std::size_t shape_of_class(const ValueClass& bucket_of_extent) {
  for (const Bucket& bucket : buckets()) {
    if (bucket_of_extent.name == bucket.name) return bucket.shape;
  }
  return kNoShape;
}

struct Group {
  const char* name;
  std::vector<const char*> words;
};

// Words of a parameter by groups; one of no group is a class of its own.
std::vector<ValueClass> by_groups(const std::vector<ValueClass>& classes, const std::vector<Group>& groups) {
  std::vector<ValueClass> coarse;
  for (const ValueClass& c : classes) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
      return std::find(g.words.begin(), g.words.end(), c.words.front()) != g.words.end();
    });
    const std::string name = group == groups.end() ? c.name : group->name;
    auto at = std::find_if(coarse.begin(), coarse.end(), [&](const ValueClass& k) { return k.name == name; });
    if (at == coarse.end()) at = coarse.insert(coarse.end(), {name, {}});
    at->words.insert(at->words.end(), c.words.begin(), c.words.end());
  }
  return coarse;
}

const std::vector<Group> kGroupsOfFills = {{"integers", {"exact", "wide", "index"}},
                                           {"usual", {"real", "positive", "scaled", "few"}}},
                         kGroupsOfLayouts = {{"all on 16 bytes", {"wide", "pages"}},
                                             {"some off 16 bytes", {"narrow", "only_1", "only_2", "only_3"}}},
                         kGroupsOfPatterns = {{"alike", {"uniform", "banded", "stencil", "diagonal", "rmat"}},
                                              {"long", {"giant", "powerlaw", "arrow", "last"}},
                                              {"empty", {"empty", "ends"}},
                                              {"repeated", {"unsorted", "repeat_first"}}};

// Zero, one, and any other factor; of the others those are drawn that fit most fills.
std::vector<ValueClass> factors(const std::vector<ValueClass>& classes) {
  std::vector<ValueClass> coarse = {{"zero", {"0", "-0"}}, {"one", {"1"}}, {"any other", {"0.5"}}};
  for (const ValueClass& c : classes) {
    if (c.name != "zero" && c.name != "minus zero" && c.name != "one")
      coarse.back().words.insert(coarse.back().words.end(), c.words.begin(), c.words.end());
  }
  coarse.back().typical = {"0.5", "-2", "0.7310586", "3"};
  return coarse;
}

// Those that no array of an operator's own has, too: what they mislead shows in one size or width, and in no other.
std::vector<ValueClass> patterns(const std::vector<ValueClass>& classes) {
  std::vector<ValueClass> coarse = by_groups(classes, kGroupsOfPatterns);
  for (const char* const special : {"two", "pairs", "uneven"}) coarse.push_back({special, {special}});
  return coarse;
}

std::vector<ValueClass> coarse_classes(const Parameter& p) {
  if (p.kind == ParameterKind::extent) return by_buckets(p.classes);
  if (p.kind == ParameterKind::scalar) return factors(p.classes);
  if (p.key == kFillKey) return by_groups(p.classes, kGroupsOfFills);
  if (p.key == kLayoutKey) return by_groups(p.classes, kGroupsOfLayouts);
  if (p.key == kPatternKey) return patterns(p.classes);
  std::vector<ValueClass> same = p.classes;
  for (ValueClass& c : same) c.once = false;
  return same;
}

}  // namespace

CaseSpace& CaseSpace::special(std::string key, const std::vector<std::string>& words,
                              std::string_view beside) {
  if (words.empty()) {
    add_facing();
    return *this;
  }
  Parameter p{std::move(key), ParameterKind::word, {}, words.front()};
  for (const std::string& word : words) p.classes.push_back({word, {word}});
  specials_.push_back({std::move(p), {}});
  for (const auto& [of, value] : parse_values(beside)) specials_.back().beside.push_back({"", of, value});
  return *this;
}

// An infinity in each term of a line of the answer leaves nothing but infinities there, and few of them may have one sign: the answer has a
// line for each of its rows, and one across for each of its width. And one near the largest number tells while the bound lies below that:
// it grows with the terms.
void CaseSpace::add_facing() {
  constexpr double kEnoughSigns = 12, kFewTerms = 32, kTooFewForParts = 8;
  std::vector<std::string> words = {"none", "zeros", "run_of_zeros", "rows_small", "cancels"};
  if (has("alpha")) words.insert(words.end(), {"inf_tiny", "tiny_inf", "near_top"});
  special("facing", words);
  if (has("alpha")) {
    specials_.back().beside = {{"rows_small", "alpha", "1"}, {"rows_small", "beta", "0"},
                               {"cancels", "alpha", "1"},    {"cancels", "beta", "0"},
                               {"inf_tiny", "alpha", "0.5"}, {"tiny_inf", "alpha", "0.5"},
                               {"near_top", "alpha", "0.5"}, {"near_top", "beta", "0.5"}};
  }
  const auto key_of = [&](std::string_view role) {
    const std::optional<std::size_t> extent = meant(role, true);
    return extent ? parameters_[*extent].key : std::string();
  };
  const auto size = [](const Point& p, const std::string& key) { return key.empty() ? 1 : p[key]; };
  work_.tells.emplace_back(
      [=, terms = work_.terms, rows = key_of("rows"), width = key_of("width")](const Point& p) {
        const std::string& facing = p.word("facing");
        if (facing == "cancels") return terms(p) > kTooFewForParts;
        if (facing == "near_top") return terms(p) <= kFewTerms;
        const double lines = size(p, rows), across = size(p, width);
        if (facing == "inf_tiny") return lines > 1 || across == 1 || across > kEnoughSigns;
        return facing != "tiny_inf" || across > 1 || lines == 1 || lines > kEnoughSigns;
      });
}

CaseSpace CaseSpace::contexts() const {
  CaseSpace coarse = *this;
  coarse.parameters_.clear(), coarse.drawn_.clear();
  for (const std::size_t i : drawn_) coarse.add(parameters_[i]);
  coarse.derived_.clear(), coarse.together_.clear(), coarse.hiding_.clear();
  for (Parameter& p : coarse.parameters_) p.classes = coarse_classes(p);
  // what "all but the third" are, where there are two
  std::erase_if(coarse.parameters_[coarse.index(kLayoutKey)].classes, [&](const ValueClass& c) {
    return c.name.starts_with("not_") &&
           (layout_.arrays == 1 || c.name > fmt::format("not_{}", layout_.arrays));
  });
  for (const auto& [parameter, value_class] : hiding_) {
    const std::size_t of = coarse.index(parameters_[parameter].key);
    const std::string& word = parameters_[parameter].classes[value_class].words.front();
    const std::vector<ValueClass>& classes = coarse.parameters_[of].classes;
    for (std::size_t k = 0; k < classes.size(); ++k) {
      const bool same =
          std::find(classes[k].words.begin(), classes[k].words.end(), word) != classes[k].words.end();
      if (same) coarse.hiding_.emplace_back(of, k);
    }
  }
  coarse.add_shapes();
  coarse.first_special_ = coarse.parameters_.size();
  for (const Special& s : specials_) coarse.add(s.parameter);
  return coarse;
}

void CaseSpace::add_shapes() {
  const std::size_t described = parameters_.size();
  for (std::size_t i = 0; i < described; ++i) {
    if (parameters_[i].kind != ParameterKind::extent) continue;
    Shape shape{parameters_.size(), i, {}};
    for (const ValueClass& c : parameters_[i].classes) shape.by_class.push_back(shape_of_class(c));
    shapes_.push_back(std::move(shape));
    Parameter p{fmt::format("shape of {}", parameters_[i].key), ParameterKind::derived, {}, ""};
    for (const char* const name : kShapes) p.classes.push_back({name, {}});
    add(std::move(p));
  }
}

const CaseSpace::Shape* CaseSpace::shape(std::size_t parameter) const {
  if (shapes_.empty() || parameter < shapes_.front().parameter || parameter > shapes_.back().parameter)
    return nullptr;
  return &shapes_[parameter - shapes_.front().parameter];
}

std::optional<std::size_t> CaseSpace::extent_of_shape(std::size_t parameter) const {
  const Shape* const s = shape(parameter);
  return s == nullptr ? std::nullopt : std::optional(s->extent);
}

std::size_t CaseSpace::shape_of(std::size_t parameter, std::size_t class_of_extent) const {
  const std::vector<std::size_t>& by_class = shape(parameter)->by_class;
  return class_of_extent < by_class.size() ? by_class[class_of_extent] : kNoShape;
}

void CaseSpace::update_shapes(std::vector<std::size_t>& classes) const {
  for (const Shape& s : shapes_) classes[s.parameter] = shape_of(s.parameter, classes[s.extent]);
}

bool CaseSpace::is_special(std::size_t parameter) const { return parameter >= first_special_; }

std::vector<std::size_t> CaseSpace::specials_of(const Point& p) const {
  std::vector<std::size_t> all;
  for (std::size_t i = first_special_; i < parameters_.size(); ++i) {
    if (p.words[i] != parameters_[i].simplest) all.push_back(i);
  }
  return all;
}

template <class F>
void CaseSpace::each_beside(const Point& p, std::size_t special, F&& f) const {
  f(index(kFillKey), std::string("real"));
  for (const Beside& b : specials_[special - first_special_].beside) {
    if (b.word.empty() || b.word == p.words[special]) f(index(b.key), b.value);
  }
}

// A kernel's path for vectors is for rows of whole ones: a layout that allows them says nothing where rows are ragged. Where nothing is
// computed, no array is read, and which of them lies on 16 bytes does not matter.
bool CaseSpace::in_context(const Point& p) const {
  if (first_special_ > parameters_.size()) return true;
  const std::string& layout = p.word(kLayoutKey);
  const bool whole = std::all_of(layout_.widths.begin(), layout_.widths.end(),
                                 [&](const std::string& width) { return std::fmod(p[width], 4) == 0; });
  if (!whole && layout != "apart") return false;
  const bool nothing = idle(p);
  if (nothing && layout != "apart" && layout != "wide") return false;
  if (!std::all_of(work_.tells.begin(), work_.tells.end(), [&](const auto& holds) { return holds(p); }))
    return false;
  const std::vector<std::size_t> specials = specials_of(p);
  if (specials.empty()) return true;
  bool fits = specials.size() == 1 && !nothing;
  each_beside(p, specials.front(), [&](std::size_t of, const std::string& value) {
    fits = fits && same_value(p.words[of], value);
  });
  return fits;
}

void CaseSpace::settle(Point& p, const std::vector<bool>& kept) const {
  if (first_special_ > parameters_.size()) return;
  const std::vector<std::size_t> specials = specials_of(p);
  const auto of_tuple =
      std::find_if(specials.begin(), specials.end(), [&](std::size_t i) { return kept[i]; });
  for (const std::size_t i : specials) {
    if (i != (of_tuple == specials.end() ? specials.front() : *of_tuple)) set(p, i, parameters_[i].simplest);
  }
  for (const std::size_t i : specials_of(p)) {
    each_beside(p, i, [&](std::size_t of, const std::string& value) {
      if (!kept[of] || contains(parameters_[of].classes[p.classes[of]], value)) set(p, of, value);
    });
  }
  if (p.word(kLayoutKey) == "apart") return;
  for (const std::string& width : layout_.widths) make_whole(p, index(width));
}

// The next multiple of four of its class, or the one before.
void CaseSpace::make_whole(Point& p, std::size_t width) const {
  const double rest = std::fmod(p.numbers[width], 4);
  if (rest == 0 || p.classes[width] == parameters_[width].classes.size()) return;
  for (const double whole : {p.numbers[width] + 4 - rest, p.numbers[width] - rest}) {
    const std::string word = std::to_string(static_cast<std::int64_t>(whole));
    if (contains(parameters_[width].classes[p.classes[width]], word)) return set(p, width, word);
  }
}

}  // namespace plumb
