#include "reference/cases/case_space.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "reference/cases/case_words.hpp"
#include "reference/core/error.hpp"
#include "reference/core/random.hpp"

namespace plumb {
namespace {

ValueClass range(std::string name, std::int64_t low, std::int64_t high, double weight = 1) {
  return {std::move(name), {}, low, high, weight};
}
ValueClass listed(std::string name, const std::vector<std::int64_t>& values, double weight = 1) {
  ValueClass c{std::move(name), {}, 0, 0, weight};
  for (const std::int64_t v : values) c.words.push_back(std::to_string(v));
  return c;
}

// A size that one thin case has room for. A fourth of 300,007 is beyond 16 bits too: block rows, and what else is counted by a few.
ValueClass large(std::string name, std::int64_t value) {
  ValueClass c = listed(std::move(name), {value}, 0.1);
  c.once = true;
  return c;
}
constexpr const char* kNoneAtAll = "none";  // the class of a size that may be 0 while something is computed

// Integers of 12 bits are exact in fp32 but in no 16-bit type, nor in tf32: they stand in for fractions under bitwise fills.
// Those of 25 bits are exact in fp64 alone. No decimal fraction here is exact in fp32: in fp64 each has 53 bits. The tiny ones are 0 in a
// narrower type, and their squares in their own; each is of one type (fits_type()). Those near one are one to who compares with a tolerance.
std::vector<ValueClass> scalar_classes() {
  return {{"zero", {"0"}, 0, 0, 0.5},
          {"minus zero", {"-0"}, 0, 0, 0.25},
          {"one", {"1"}, 0, 0, 1},
          {"minus one", {"-1"}, 0, 0, 0.5},
          {"nearly one", {"1.0000076293945312", "1.0000000000009095"}, 0, 0, 0.5},
          {"small integer", {"3", "-2"}, 0, 0, 0.5},
          {"integer of 12 bits", {"2049", "-2051"}, 0, 0, 1},
          {"integer of 25 bits", {"16777217"}, 0, 0, 0.5},
          {"fraction of 24 bits", {"0.7310586", "-1.6180339", "2.7182819"}, 0, 0, 2},
          {"large", {"123456.79"}, 0, 0, 0.5},
          {"small", {"0.00012207123"}, 0, 0, 0.5},
          {"tiny", {"1.2345679e-30", "1.2345679e-200"}, 0, 0, 0.5}};
}

// Tiny scalars are normal numbers of their type, with a square that is 0. What is not one is not one in its type.
bool fits_type(double scalar, Dtype dtype) {
  const FormatFacts& f = facts(facts(dtype).scalar);
  if (scalar != 1 && representable(f.format, scalar) == 1) return false;
  const double size = std::fabs(scalar);
  if (!is_shown_by(facts(dtype).out, scalar)) return false;
  return size == 0 || size > 1e-20 || (size < std::sqrt(f.eta) / 2 && size > f.smallest_normal);
}

// Of a point's word, which is of the table.
Dtype dtype_of(const std::string& word) { return dtype_named(word).value(); }

// Keys have few characters: a call of memcmp takes longer than they do.
bool same_key(const std::string& key, std::string_view asked) {
  if (key.size() != asked.size()) return false;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (key[i] != asked[i]) return false;
  }
  return true;
}

}  // namespace

bool contains(const ValueClass& c, const std::string& word) {
  const double v = number_of(word);
  if (c.words.empty()) return v > static_cast<double>(c.low) - 0.5 && v < static_cast<double>(c.high) + 0.5;
  return std::any_of(c.words.begin(), c.words.end(),
                     [&](const std::string& known) { return same_value(word, known); });
}

// Building a covering array asks a hundred million times, nearly always with a literal: where its characters lie tells which parameter
// it named the last time. A guess, which is compared before it is believed.
std::size_t Point::index(std::string_view key) const {
  static thread_local std::array<std::uint8_t, 256>
      last{};  // few bytes: libraries that are opened have no more
  std::uint8_t& guess = last[reinterpret_cast<std::uintptr_t>(key.data()) % last.size()];
  if (guess < parameters->size() && same_key((*parameters)[guess].key, key)) return guess;
  for (std::size_t i = 0; i < parameters->size(); ++i) {
    if (same_key((*parameters)[i].key, key)) {
      guess = static_cast<std::uint8_t>(i);
      return i;
    }
  }
  throw Error(fmt::format("a case space has no parameter '{}'", key));
}
double Point::operator[](std::string_view key) const { return numbers[index(key)]; }
const std::string& Point::word(std::string_view key) const { return words[index(key)]; }

CaseSpace::CaseSpace(std::string op, std::span<const Dtype> dtypes) : op_(std::move(op)) {
  std::vector<ValueClass> types;
  for (const Dtype dtype : dtypes) types.push_back({facts(dtype).name, {facts(dtype).name}});
  add({std::string(kDtypeKey), ParameterKind::word, types, types.front().name});
  const std::vector<std::string> rare = {"not_1", "not_2", "not_3", "half", "pages"};
  std::vector<std::string> all = {"apart", "wide", "narrow", "only_1", "only_2", "only_3"};
  all.insert(all.end(), rare.begin(), rare.end());
  words(std::string(kLayoutKey), all, {.once = rare});
}

void CaseSpace::add(Parameter p) {
  if (p.kind != ParameterKind::derived) drawn_.push_back(parameters_.size());
  parameters_.push_back(std::move(p));
}

namespace {

// A list of its own: each value is a class.
std::vector<ValueClass> classes_of_list(const Extent& what) {
  std::vector<ValueClass> classes;
  if (what.may_be_none) classes.push_back(listed(kNoneAtAll, {0}));
  for (const std::int64_t v : what.values) classes.push_back(listed(std::to_string(v), {v}));
  if (what.beyond_16_bits) classes.push_back(large("beyond 16 bits", 70001));
  return classes;
}

std::vector<ValueClass> classes_of_any_size(const Extent& what) {
  std::vector<ValueClass> classes = {
      listed("zero", {0}, 0.15),
      listed("one", {1}, 0.5),
      range("few", 2, 7),
      range("ragged", 9, 23),
      listed("warp edge", {31, 32, 33}),
      range("beyond a warp", 35, 61),
      listed("block edge", {63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513}),
      range("beyond any tile", kBeyondTiles, 5000),
      range("beyond shared memory", 12289, 20011),
      listed("16-bit edge", {65535, 65536, 65537, 70001}, 0.5)};
  if (what.never_none) classes.erase(classes.begin());
  if (!what.also.empty()) classes.push_back(listed("sizes of its own", what.also));
  classes.push_back(large("16 bits by blocks", 300007));
  return classes;
}

}  // namespace

CaseSpace& CaseSpace::extent(std::string key, Extent what) {
  const std::size_t place = parameters_.size();
  if (!what.role.empty()) roles_.emplace_back(place, what.role);
  if (what.unrolled) unrolled_.push_back(key);
  for (const auto& [a, b] : what.together) together_.push_back({key, a, b});
  add({std::move(key), ParameterKind::extent,
       what.values.empty() ? classes_of_any_size(what) : classes_of_list(what), "", std::move(what.timed)});
  return *this;
}

CaseSpace& CaseSpace::beside_constants(const std::vector<std::int64_t>& sizes) {
  if (sizes.empty()) return *this;
  for (Parameter& p : parameters_) {
    if (p.kind != ParameterKind::extent) continue;
    double others = 0;
    for (const ValueClass& c : p.classes) others += c.weight;
    p.classes.push_back(listed("beside a constant of the source", sizes, others / 2));  // one draw in three
  }
  return *this;
}

CaseSpace& CaseSpace::hides(std::string_view key, const std::vector<std::string>& class_names) {
  const std::size_t parameter = index(key);
  const std::vector<ValueClass>& classes = parameters_[parameter].classes;
  for (const std::string& name : class_names) {
    const auto at =
        std::find_if(classes.begin(), classes.end(), [&](const ValueClass& c) { return c.name == name; });
    if (at == classes.end()) throw Error(fmt::format("{}: '{}' has no class '{}'", op_, key, name));
    hiding_.emplace_back(parameter, static_cast<std::size_t>(at - classes.begin()));
  }
  return *this;
}

std::vector<std::vector<std::size_t>> CaseSpace::triples_together() const {
  std::vector<std::vector<std::size_t>> triples;
  for (const auto& [a, b, c] : together_) {
    triples.push_back({index(a), index(b), index(c)});
    std::sort(triples.back().begin(), triples.back().end());
  }
  return triples;
}

const CaseSpace::Derived* CaseSpace::derived_of(std::size_t parameter) const {
  const auto at = std::lower_bound(derived_.begin(), derived_.end(), parameter,
                                   [](const Derived& d, std::size_t wanted) { return d.parameter < wanted; });
  return at == derived_.end() || at->parameter != parameter ? nullptr : &*at;
}

bool CaseSpace::is_form(std::size_t parameter) const {
  const Derived* const d = derived_of(parameter);
  return d != nullptr && !d->together.empty() && !parameters_[parameter].classes.front().once;
}

void CaseSpace::make_hold(Point& p, std::size_t parameter, const std::vector<std::size_t>& kept) const {
  const Derived* const d = derived_of(parameter);
  if (d == nullptr) return;
  const auto is_kept = [&](std::size_t i) { return std::find(kept.begin(), kept.end(), i) != kept.end(); };
  for (const auto& [i, value] : d->with.empty() || d->holds(p) ? d->together : d->with) {
    if (!is_kept(i)) place(p, i, value);
  }
  std::size_t like = parameters_.size();
  for (const std::size_t i : d->equal) {
    const bool smaller = like == parameters_.size() || p.numbers[i] < p.numbers[like];
    if (p.numbers[i] > 1 && smaller) like = i;
  }
  for (const std::size_t i : d->equal) {
    if (is_kept(i)) like = i;
  }
  if (like == parameters_.size()) return;
  const std::string word = p.words[like];
  for (const std::size_t i : d->equal) place(p, i, word);
}

CaseSpace& CaseSpace::layout(Layout what) {
  layout_ = std::move(what);
  if (layout_.sparse) add_sparse();
  return *this;
}

void CaseSpace::add_sparse() {
  const std::size_t rows = meant("rows", true).value(), cols = meant("cols", true).value();
  sparse_rows_ = parameters_[rows].key, sparse_cols_ = parameters_[cols].key;
  words(std::string(kPatternKey), {"uniform", "banded", "powerlaw", "giant", "empty", "unsorted", "diagonal",
                                   "stencil", "arrow", "rmat", "last", "ends"});
  Parameter& pattern = parameters_.back();
  for (const ValueClass& c : pattern.classes) pattern.timed.words.push_back(c.name);
  pattern.classes.push_back(  // for timing: one repeated column costs nothing
      {"one repeated column", {"repeat_first", "repeat_middle", "repeat_last"}, 0, 0, 1});
  Parameter p{std::string(kRowMeanKey), ParameterKind::extent, {}, "", timed_range(2, 256)};
  p.classes = {listed("no entries", {0}, 0.15),
               {"below one", {"0.3"}, 0, 0, 1},
               range("few", 1, 5),
               range("around a warp", 24, 40),
               range("beyond a warp", 65, 300),
               range("long", 1000, 3000),
               range("beyond shared memory", 9000, 12000),
               listed("beyond 16 bits", {69000})};
  add(std::move(p));
  // matrices of users are square more often than not
  if (parameters_[rows].timed.high == 0) parameters_[rows].timed = timed_size(64, 8'000'000);
  if (parameters_[cols].timed.high == 0)
    parameters_[cols].timed = timed_size(64, 8'000'000, sparse_rows_, 0.6);
}

CaseSpace& CaseSpace::words(std::string key, const std::vector<std::string>& values, WordTraits what) {
  Parameter p{std::move(key), ParameterKind::word, {}, values.front(), std::move(what.timed)};
  if (what.factor) {
    p.kind = ParameterKind::scalar, p.classes = scalar_classes();
  } else {
    for (const std::string& v : values) p.classes.push_back({v, {v}});
  }
  for (ValueClass& c : p.classes)
    c.once = std::find(what.once.begin(), what.once.end(), c.name) != what.once.end();
  add(std::move(p));
  return *this;
}

CaseSpace& CaseSpace::fills(const std::vector<Fill>& fills) {
  std::vector<std::string> names;
  for (const Fill f : fills) names.emplace_back(name(f));
  return words(std::string(kFillKey), names);
}

CaseSpace& CaseSpace::work(CaseWork what) {
  work_ = std::move(what);
  return *this;
}

TimedValues timed_size(std::int64_t low, std::int64_t high, std::string like, double alike) {
  return {{}, low, high, true, std::move(like), alike};
}
TimedValues timed_range(std::int64_t low, std::int64_t high) { return {{}, low, high, false, "", 0}; }
TimedValues timed_words(std::vector<std::string> values, std::string like, double alike) {
  return {std::move(values), 0, 0, false, std::move(like), alike};
}

std::size_t CaseSpace::index(std::string_view key) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].key == key) return i;
  }
  throw Error(fmt::format("{}: the case space has no parameter '{}'", op_, key));
}

bool CaseSpace::has(std::string_view key) const {
  return std::any_of(parameters_.begin(), parameters_.end(),
                     [&](const Parameter& p) { return p.key == key; });
}

// Bitwise fills are made of integers: every partial sum, times the scalars, must stay below 2^24 in fp32, 2^53 in fp64. The bound of few
// grows with the terms: an error of one part in 128 shows up to 2^13 terms of fp32, where it is 16 times n u.
bool CaseSpace::fill_tells(const Point& p, double terms) const {
  const std::string_view fill = p.word(kFillKey);
  const double unit = facts(facts(dtype_of(p.word(kDtypeKey))).accumulate).unit;
  if (fill == "few") return terms * unit <= 0x1p-11;
  const bool exact = fill == "exact", wide = fill == "wide", index = fill == "index";
  if (!exact && !wide && !index) return true;
  double factor = 1;
  for (const std::size_t i : drawn_) {
    if (parameters_[i].kind != ParameterKind::scalar) continue;
    if (p.numbers[i] != std::floor(p.numbers[i])) return false;
    factor = std::max(factor, std::fabs(p.numbers[i]));
  }
  if (index) return factor <= 1;  // codes of positions take 23 bits already
  const double per_term = exact ? 64 : 8192;
  return per_term * (terms + 1) * factor < 1 / unit;
}

bool CaseSpace::idle(const Point& p) const {
  const bool hidden = std::any_of(hiding_.begin(), hiding_.end(), [&](const auto& hiding) {
    return p.classes[hiding.first] == hiding.second;
  });
  return hidden || (work_.multiply_adds && work_.multiply_adds(p) == 0);
}

bool CaseSpace::is_nothing(std::size_t parameter, std::size_t value_class) const {
  if (std::find(hiding_.begin(), hiding_.end(), std::pair{parameter, value_class}) != hiding_.end())
    return true;
  const Parameter& p = parameters_[parameter];
  const ValueClass& c = p.classes[value_class];
  const bool zero = c.words.size() == 1 && c.words.front() == "0";
  return p.kind == ParameterKind::extent && zero && c.name != kNoneAtAll;
}

std::vector<std::size_t> CaseSpace::nothings(const std::vector<std::size_t>& classes) const {
  std::vector<std::size_t> all;
  bool no_size = false;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i] >= parameters_[i].classes.size() || !is_nothing(i, classes[i])) continue;
    all.push_back(i);
    no_size = no_size || parameters_[i].key == sparse_rows_ || parameters_[i].key == sparse_cols_;
  }
  std::erase_if(all, [&](std::size_t i) { return no_size && parameters_[i].key == kRowMeanKey; });
  return all;
}

bool CaseSpace::idle_at_any_extent(const Point& p) const {
  if (!sparse_rows_.empty() || !work_.multiply_adds) return false;
  Point ones = p;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (p.classes[i] < parameters_[i].classes.size() && is_nothing(i, p.classes[i])) ones.numbers[i] = 1;
  }
  return work_.multiply_adds(ones) == 0;
}

bool CaseSpace::factors_fit(const Point& p) const {
  const Dtype dtype = dtype_of(p.word(kDtypeKey));
  return std::all_of(drawn_.begin(), drawn_.end(), [&](std::size_t i) {
    return parameters_[i].kind != ParameterKind::scalar || fits_type(p.numbers[i], dtype);
  });
}

bool CaseSpace::valid_at_some_size(const Point& p) const { return factors_fit(p) && fill_tells(p, 0); }

bool CaseSpace::valid(const Point& p, const CaseLimit& limit) const {
  if (!factors_fit(p)) return false;
  if (work_.multiply_adds && work_.multiply_adds(p) > limit.work) return false;
  if (work_.elements && work_.elements(p) > limit.elements) return false;
  if (!fill_tells(p, work_.terms ? work_.terms(p) : 1) || !in_context(p)) return false;
  if (!sparse_rows_.empty()) {  // a class of row lengths must be one that the row has room for
    const double mean = p[kRowMeanKey], cols = p[sparse_cols_];
    if (mean > cols && (mean > 1 || cols == 0)) return false;
    if (std::string_view(p.word(kPatternKey)) == "rmat" && p[sparse_rows_] * cols == 0 && mean > 0)
      return false;
  }
  return std::all_of(work_.where.begin(), work_.where.end(), [&](const auto& holds) { return holds(p); });
}

bool CaseSpace::worth_timing(const Point& p) const { return !work_.timed || work_.timed(p); }

double CaseSpace::multiply_adds(const Point& p) const {
  return work_.multiply_adds ? work_.multiply_adds(p) : 0;
}

double CaseSpace::entries(const Point& p) const {
  return sparse_rows_.empty() ? 0 : expected_entries(p, sparse_rows_, sparse_cols_);
}

double CaseSpace::bytes(const Point& p) const {
  const double elements = work_.elements ? work_.elements(p) : 0;
  return elements * facts(facts(dtype_of(p.word(kDtypeKey))).in).bytes + 4 * entries(p);
}

Case CaseSpace::make(const Point& p, std::uint64_t seed) const {
  Case c;
  c.op = op_;
  c.seed = seed;
  c.why = "drawn", c.drawn = true;
  std::string layout;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const std::string& key = parameters_[i].key;
    if (key == kDtypeKey) {
      c.dtype = dtype_of(p.words[i]);
    } else if (key == kFillKey) {
      c.fill = parse_fill(p.words[i], key);
    } else if (parameters_[i].kind == ParameterKind::derived ||
               (is_special(i) && p.words[i] == parameters_[i].simplest)) {
      continue;  // unsaid
    } else if (key == kLayoutKey) {
      layout = p.words[i];
    } else if (key == kRowMeanKey) {
      const double cols = p[sparse_cols_];
      const double density = cols > 0 ? std::min(1.0, p.numbers[i] / cols) : 0;
      c.params.emplace_back("density", fmt::format("{:.6g}", density));
    } else {
      c.params.emplace_back(key, p.words[i]);
    }
  }
  if (layout != "apart") c.params.emplace_back(kLayoutKey, layout);  // last: ids of old have none
  return c;
}

std::optional<Point> CaseSpace::locate(const Case& c) const {
  Point p{&parameters_, std::vector<std::size_t>(parameters_.size()),
          std::vector<std::string>(parameters_.size()), std::vector<double>(parameters_.size())};
  std::size_t found = 0;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const std::string& key = parameters_[i].key;
    if (key == kDtypeKey) {
      set(p, i, std::string(name(c.dtype)));
    } else if (key == kFillKey) {
      set(p, i, std::string(name(c.fill)));
    } else if (key == kRowMeanKey) {
      if (!c.has("density")) return std::nullopt;
      set(p, i, fmt::format("{:.6g}", c.number("density") * static_cast<double>(c.integer(sparse_cols_))));
      ++found;
    } else if (parameters_[i].kind == ParameterKind::derived) {
      continue;
    } else if (c.has(key)) {
      set(p, i, c.text(key));
      ++found;
    } else if (parameters_[i].kind == ParameterKind::extent) {
      return std::nullopt;
    } else {
      set(p, i, parameters_[i].simplest);
    }
  }
  if (found != c.params.size() || !in_context(p)) return std::nullopt;
  return p;
}

std::string CaseSpace::class_names(const Point& p) const {
  std::string text;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto& [key, kind, classes, simplest, timed, why] = parameters_[i];
    if ((kind == ParameterKind::derived && p.classes[i] == classes.size()) || extent_of_shape(i)) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", key,
                        p.classes[i] < classes.size() ? classes[p.classes[i]].name
                                                      : fmt::format("{} (of no class)", p.words[i]));
  }
  return text;
}

void CaseSpace::update_derived(Point& p) const {
  for (const Derived& d : derived_) p.classes[d.parameter] = d.holds(p) ? 0 : 1;  // 1: of no class
  update_shapes(p.classes);
}

std::size_t CaseSpace::class_at(const Point& p, std::size_t parameter) const {
  if (const auto extent = extent_of_shape(parameter)) return shape_of(parameter, p.classes[*extent]);
  const Derived* const d =
      parameters_[parameter].kind == ParameterKind::derived ? derived_of(parameter) : nullptr;
  return d == nullptr ? p.classes[parameter] : d->holds(p) ? 0 : 1;
}

void CaseSpace::set(Point& p, std::size_t parameter, std::string word) const {
  place(p, parameter, std::move(word));
  update_derived(p);
}

void CaseSpace::place(Point& p, std::size_t parameter, std::string word) const {
  const auto& classes = parameters_[parameter].classes;
  auto at = classes.end();
  // of two scalars that are near each other, the one itself
  if (parameters_[parameter].kind == ParameterKind::scalar)
    at = std::find_if(classes.begin(), classes.end(), [&](const ValueClass& c) {
      return std::find(c.words.begin(), c.words.end(), word) != c.words.end();
    });
  if (at == classes.end())
    at = std::find_if(classes.begin(), classes.end(), [&](const ValueClass& c) { return contains(c, word); });
  p.classes[parameter] = static_cast<std::size_t>(at - classes.begin());  // classes.size(): of no class
  p.numbers[parameter] = number_of(word);
  p.words[parameter] = std::move(word);
}

void CaseSpace::draw_value(Point& p, std::size_t parameter, std::size_t value_class, std::uint64_t seed,
                           std::uint64_t index) const {
  const ValueClass& c = parameters_[parameter].classes[value_class];
  p.classes[parameter] = value_class;
  if (const std::vector<std::string>& words = c.typical.empty() ? c.words : c.typical; !words.empty()) {
    p.words[parameter] = words[random_below(seed, 31, index, words.size())];
    p.numbers[parameter] = number_of(p.words[parameter]);
    return;
  }
  const double low = std::log(static_cast<double>(c.low)), high = std::log(static_cast<double>(c.high) + 1);
  const double drawn = std::exp(low + (high - low) * random_unit(seed, 32, index));
  const std::int64_t value = std::clamp(static_cast<std::int64_t>(drawn), c.low, c.high);
  p.words[parameter] = std::to_string(value);
  p.numbers[parameter] = static_cast<double>(value);
}

double expected_entries(const Point& p, std::string_view rows, std::string_view cols) {
  const double r = p[rows], c = p[cols], mean = std::min(p[kRowMeanKey], c);
  const std::string_view pattern = p.word(kPatternKey);
  if (pattern == "diagonal") return std::min(r, c);
  if (pattern == "stencil") return 5 * r;
  if (pattern == "arrow") return c + 2 * r;
  return mean * r + (pattern == "giant" || pattern == "last" ? c : 0) + (pattern == "two" ? 2 * c : 0) +
         (pattern == "powerlaw" ? mean * std::sqrt(r) : 0);
}

double longest_row(const Point& p, std::string_view rows, std::string_view cols) {
  const double r = p[rows], c = p[cols], mean = std::min(p[kRowMeanKey], c);
  const std::string_view pattern = p.word(kPatternKey);
  if (pattern == "diagonal") return 1;
  if (pattern == "stencil") return 5;
  if (pattern == "arrow" || pattern == "giant" || pattern == "last" || pattern == "two") return c;
  if (pattern == "powerlaw" || pattern == "rmat") return std::min(c, mean * std::max(8.0, std::sqrt(r)));
  return std::min(c, 3 * mean + 1);
}

}  // namespace plumb
