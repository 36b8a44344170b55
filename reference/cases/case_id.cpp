#include "reference/cases/case_id.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"

namespace plumb {
namespace {

template <class E, std::size_t N>
E parse_word(const std::pair<E, std::string_view> (&words)[N], std::string_view word, std::string_view what) {
  std::vector<std::string> known;
  for (const auto& [value, text] : words) {
    if (text == word) return value;
    known.emplace_back(text);
  }
  throw Error(fmt::format("{}: unknown word '{}'{} (known: {})", what, printable(word),
                          did_you_mean(word, known), fmt::join(known, ", ")));
}

template <class E, std::size_t N>
std::string_view word_of(const std::pair<E, std::string_view> (&words)[N], E value) {
  for (const auto& [v, text] : words) {
    if (v == value) return text;
  }
  return "?";
}

constexpr std::pair<Fill, std::string_view> kFills[] = {
    {Fill::exact, "exact"},     {Fill::wide, "wide"},         {Fill::index, "index"},
    {Fill::real, "real"},       {Fill::positive, "positive"}, {Fill::scaled, "scaled"},
    {Fill::hostile, "hostile"}, {Fill::few, "few"},           {Fill::own, "own"}};
constexpr std::pair<Tier, std::string_view> kTiers[] = {
    {Tier::smoke, "smoke"}, {Tier::full, "full"}, {Tier::stress, "stress"}};

Error bad_case(std::string_view id, std::string_view what) {
  return Error(fmt::format("case '{}': {}", printable(id, 200), what));
}

// Fills c from "op.dtype(key=value,...)". Keys fill and seed go to their members.
struct IdParts {
  std::string op, dtype;
  std::vector<std::pair<std::string, std::string>> params;
};
IdParts dissect(std::string_view id) {
  IdParts parts;
  const std::size_t open = id.find('(');
  std::string_view head = id.substr(0, open);
  const std::size_t dot = head.find('.');
  parts.op = head.substr(0, dot);
  parts.dtype = dot == std::string_view::npos ? "*" : std::string(head.substr(dot + 1));
  if (parts.op.empty()) throw bad_case(id, "no operator name");
  if (open == std::string_view::npos) return parts;
  if (id.back() != ')') throw bad_case(id, "the parameter list does not end in ')'");
  for (const std::string& item : split(id.substr(open + 1, id.size() - open - 2), ',')) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0)
      throw bad_case(id, fmt::format("'{}' is not KEY=VALUE", item));
    parts.params.emplace_back(item.substr(0, equals), item.substr(equals + 1));
  }
  return parts;
}

std::optional<double> to_number(std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// "a..b" with numbers, or '*' for an open end. "../x.mtx" is the name of a file.
bool is_range(std::string_view pattern) {
  const std::size_t dots = pattern.find("..");
  if (dots == std::string_view::npos) return false;
  const auto is_end = [](std::string_view text) { return text == "*" || to_number(text).has_value(); };
  return is_end(pattern.substr(0, dots)) && is_end(pattern.substr(dots + 2));
}

// Bytes of a value that would end it, match something else, or not survive a line of a list of cases.
bool needs_escape(std::string_view value, std::size_t at) {
  const auto c = static_cast<unsigned char>(value[at]);
  if (c < 0x20 || c == 0x7f || std::string_view(",()*?%").find(value[at]) != std::string_view::npos)
    return true;
  const char before = at > 0 ? value[at - 1] : 'x';
  return value[at] == '#' && (before == ' ' || before == '\t');
}

std::string escaped(std::string_view value) {
  std::string out;
  const std::size_t dot =
      is_range(value) ? value.find("..") : std::string_view::npos;  // a file may be called 1..2
  for (std::size_t i = 0; i < value.size(); ++i) {
    const bool escape = i == dot || needs_escape(value, i);
    out += escape ? fmt::format("%{:02X}", static_cast<unsigned char>(value[i])) : std::string(1, value[i]);
  }
  return out;
}

// A '%' that no two hexadecimal digits follow stands for itself.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out += static_cast<char>(byte), i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// `value` as an id prints it.
bool pattern_matches(std::string_view pattern, std::string_view value) {
  if (!is_range(pattern)) return glob_match(pattern, value);
  const std::size_t dots = pattern.find("..");
  const std::string_view low = pattern.substr(0, dots), high = pattern.substr(dots + 2);
  const auto v = to_number(value);
  if (!v) return false;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double at_least = low == "*" ? -kInfinity : *to_number(low);
  const double at_most = high == "*" ? kInfinity : *to_number(high);
  return *v >= at_least && *v <= at_most;
}

}  // namespace

std::string_view name(Dtype v) { return facts(v).name; }
std::string_view name(Fill v) { return word_of(kFills, v); }
std::string_view name(Tier v) { return word_of(kTiers, v); }
std::string_view name(Arithmetic v) {
  for (const NamedArithmetic& a : kArithmetics) {
    if (a.arithmetic == v) return a.name;
  }
  return "an arithmetic without a name";
}
std::optional<Arithmetic> arithmetic_named(std::string_view word) {
  for (const NamedArithmetic& a : kArithmetics) {
    if (word == a.name) return a.arithmetic;
  }
  return std::nullopt;
}
Fill parse_fill(std::string_view word, std::string_view what) { return parse_word(kFills, word, what); }
Tier parse_tier(std::string_view word, std::string_view what) { return parse_word(kTiers, word, what); }
std::optional<Dtype> dtype_named(std::string_view word) {
  for (const DtypeFacts& d : kDtypes) {
    if (word == d.name) return d.dtype;
  }
  return std::nullopt;
}
std::string dtype_words(std::string_view between) {
  std::vector<std::string> words;
  for (const DtypeFacts& d : kDtypes) words.emplace_back(d.name);
  return fmt::format("{}", fmt::join(words, between));
}

std::string_view describe(Fill fill) {
  switch (fill) {
    case Fill::exact:
      return "small integers, every partial sum representable: anything lost, doubled or misplaced, bit for "
             "bit";
    case Fill::wide:
      return "odd 13-bit integers against -1, 0, 1: reduced precision used where fp32 was declared";
    case Fill::index:
      return "one operand selects, the other holds codes of its own positions: permutations, transposes, "
             "wrong ld";
    case Fill::real:
      return "uniform in (-1, 1): wrong precision, dropped small terms";
    case Fill::positive:
      return "uniform in (0, 1): drift that cancels in zero-mean data";
    case Fill::scaled:
      return "rows and columns multiplied by powers of two: norm-wise shortcuts, reduced range";
    case Fill::hostile:
      return "NaN, infinities, subnormals, -0, huge and tiny values in single places and whole rows";
    case Fill::few:
      return "few different values, in runs or mixed: equal terms are rounded alike, and the roundings of a "
             "long sum add up";
    case Fill::own:
      return "the values of the file that matrix=FILE names, other operands uniform in (-1, 1): the user's "
             "own data";
  }
  return "";
}

std::string Case::id() const {
  std::string text = fmt::format("{}.{}(", op, name(dtype));
  for (const auto& [key, value] : params) text += fmt::format("{}={},", key, escaped(value));
  return text + fmt::format("fill={},seed={})", name(fill), seed);
}

bool Case::has(std::string_view key) const {
  for (const auto& [k, v] : params) {
    if (k == key) return true;
  }
  return false;
}

std::string Case::text(std::string_view key) const {
  for (const auto& [k, v] : params) {
    if (k == key) return v;
  }
  throw bad_case(id(), fmt::format("parameter '{}' is missing", key));
}

std::int64_t Case::integer(std::string_view key) const {
  const std::string value = text(key);
  std::int64_t out = 0;
  const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), out);
  if (status != std::errc() || end != value.data() + value.size() || out < 0) {
    throw bad_case(id(), fmt::format("'{}' is not a non-negative integer: {}", key, printable(value)));
  }
  return out;
}

double Case::number(std::string_view key) const {
  const std::string value = text(key);
  const auto v = to_number(value);
  if (!v || !std::isfinite(*v))
    throw bad_case(id(), fmt::format("'{}' is not a number: {}", key, printable(value)));
  return *v;
}

std::string Case::text_or(std::string_view key, std::string_view fallback) const {
  return has(key) ? text(key) : std::string(fallback);
}
std::int64_t Case::integer_or(std::string_view key, std::int64_t fallback) const {
  return has(key) ? integer(key) : fallback;
}
double Case::number_or(std::string_view key, double fallback) const {
  return has(key) ? number(key) : fallback;
}

Case parse_case(std::string_view id) {
  IdParts parts = dissect(id);
  Case c;
  c.op = std::move(parts.op);
  const std::optional<Dtype> dtype = dtype_named(parts.dtype);
  if (!dtype)
    throw bad_case(id,
                   fmt::format("the type is neither {}: '{}'", dtype_words(" nor "), printable(parts.dtype)));
  c.dtype = *dtype;
  bool fill = false, seed = false;
  for (auto& [key, value] : parts.params) {
    if (key == "fill") {
      c.fill = parse_fill(value, fmt::format("case '{}'", printable(id, 200)));
      fill = true;
    } else if (key == "seed") {
      const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), c.seed);
      if (status != std::errc() || end != value.data() + value.size() || value.empty()) {
        throw bad_case(id, fmt::format("seed is not an unsigned integer: {}", printable(value)));
      }
      seed = true;
    } else {
      if (c.has(key)) throw bad_case(id, fmt::format("'{}' is given twice", key));
      c.params.emplace_back(key, unescaped(value));
    }
  }
  if (!fill || !seed) throw bad_case(id, "a whole id names fill and seed");
  return c;
}

namespace {

/// A part of what --case takes, and "FILE:LINE: " where it was read from a file.
struct FilterItem {
  std::string text, place;
};

std::vector<FilterItem> filter_items(std::string_view text) {
  std::vector<FilterItem> items;
  for (const std::string& part : split(text, ',')) {
    if (part.empty() || part[0] != '@') {
      items.push_back({part, ""});
      continue;
    }
    const std::string file = part.substr(1);
    std::ifstream in(file);
    if (!in) throw input_error(file, 0, "cannot be read, as the list of cases that --case names");
    std::string line;
    const std::size_t before = items.size();
    for (std::int64_t number = 1; std::getline(in, line); ++number) {
      for (std::size_t at = line.find('#'); at != std::string::npos; at = line.find('#', at + 1)) {
        if (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t')
          line.erase(at);  // else it is of a file's name
      }
      for (const std::string& item : split(trimmed(line), ','))
        items.push_back({item, fmt::format("{}:{}: ", printable(file, 200), number)});
    }
    if (items.size() == before) throw input_error(file, 0, "names no case");
  }
  return items;
}

}  // namespace

CaseFilter::CaseFilter(std::string_view text) {
  if (text.empty()) throw Error("--case: empty; 'all' takes every case");
  for (const auto& [item, place] : filter_items(text)) {
    try {
      take(item);
    } catch (const Error& e) { throw Error(place + e.what()); }
  }
}

void CaseFilter::take(const std::string& item) {
  if (item == "all") {
    parts_.push_back({"*", "*", {}});
    operator_globs_.emplace_back("*");
    return;
  }
  IdParts parts = dissect(item);
  operator_globs_.push_back(parts.op);
  const bool ranges =
      std::any_of(parts.params.begin(), parts.params.end(), [](const auto& p) { return is_range(p.second); });
  if (item.find('(') != std::string::npos && item.find_first_of("*?") == std::string::npos && !ranges) {
    const auto named = [&](std::string_view key) {
      for (const auto& [k, v] : parts.params) {
        if (k == key) return true;
      }
      return false;
    };
    if (named("fill") && named("seed")) whole_ids_.push_back(parse_case(item));
  }
  parts_.push_back({std::move(parts.op), std::move(parts.dtype), std::move(parts.params)});
}

bool CaseFilter::matches(const Case& c) const {
  for (const Part& part : parts_) {
    if (!glob_match(part.op, c.op) || !glob_match(part.dtype, name(c.dtype))) continue;
    bool all = true;
    for (const auto& [key, pattern] : part.params) {
      const std::string value = key == "fill"   ? std::string(name(c.fill))
                                : key == "seed" ? std::to_string(c.seed)
                                                : escaped(c.text_or(key, ""));
      all = all && (key == "fill" || key == "seed" || c.has(key)) && pattern_matches(pattern, value);
    }
    if (all) return true;
  }
  return false;
}

std::string CaseFilter::why_none(const std::vector<Case>& cases) const {
  if (cases.empty()) return {};
  std::vector<std::string> keys{"fill", "seed"};
  for (const Case& c : cases) {
    for (const auto& [key, value] : c.params) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  for (const Part& part : parts_) {
    if (!glob_match(part.op, cases.front().op)) continue;
    if (std::none_of(std::begin(kDtypes), std::end(kDtypes),
                     [&](const DtypeFacts& d) { return glob_match(part.dtype, d.name); }))
      return fmt::format("no type is called '{}' ({})", printable(part.dtype), dtype_words(", "));
    bool fill = false, seed = false;
    for (const auto& [key, pattern] : part.params) {
      fill = fill || key == "fill", seed = seed || key == "seed";
      if (std::find(keys.begin(), keys.end(), key) == keys.end())
        return fmt::format("{} has no parameter '{}'{} (it has {})", cases.front().op, printable(key),
                           did_you_mean(key, keys), fmt::join(keys, ", "));
      const std::size_t dots = pattern.find("..");
      if (is_range(pattern) && to_number(pattern.substr(0, dots)).value_or(-INFINITY) >
                                   to_number(pattern.substr(dots + 2)).value_or(INFINITY))
        return fmt::format("the range {}={} is empty", key, pattern);
    }
    if (fill && !seed)
      return "a case that the list does not have is named by a whole id, which ends in ,seed=1)";
    if (fill && seed)
      return "a case that the list does not have is named by a whole id, without * ? and ranges";
  }
  return {};
}

}  // namespace plumb
