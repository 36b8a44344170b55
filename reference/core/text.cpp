#include "reference/core/text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "reference/core/error.hpp"

namespace plumb {

bool glob_match(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] != '*' && pattern[p] == text[t]))) {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

namespace {

// Optimal string alignment distance; words here are short.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string found = nearest(word, candidates);
  return found.empty() ? "" : fmt::format("; did you mean '{}'?", found);
}

namespace {

struct Suffix {
  std::string_view name;
  double factor;
};

/// A number with one of the suffixes, as a whole number; nothing where the text is none.
std::optional<std::int64_t> number_with_suffix(std::string_view text, std::span<const Suffix> suffixes) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || !std::isfinite(value)) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const auto& [name, factor] : suffixes) {
    if (rest != name) continue;
    const double size = value * factor;
    if (size < 0 || size > 0x1p62 || size != std::floor(size)) return std::nullopt;
    return static_cast<std::int64_t>(size);
  }
  return std::nullopt;
}

}  // namespace

std::int64_t parse_size(std::string_view text, std::string_view what) {
  static constexpr Suffix kSuffixes[] = {{"", 1},    {"k", 1e3},    {"K", 1e3},       {"M", 1e6},
                                         {"G", 1e9}, {"Ki", 1024.}, {"Mi", 1048576.}, {"Gi", 1073741824.}};
  if (const auto size = number_with_suffix(text, kSuffixes)) return *size;
  throw Error(fmt::format("{}: not a size (examples: 4096, 60k, 1M): {}", what, printable(text)));
}

std::int64_t parse_bytes(std::string_view text, std::string_view what) {
  static constexpr Suffix kUnits[] = {
      {"B", 1}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  if (const auto bytes = number_with_suffix(text, kUnits); bytes && *bytes > 0) return *bytes;
  throw Error(
      fmt::format("{}: not an amount of memory above 0 (examples: 8GiB, 512MiB): {}", what, printable(text)));
}

double parse_seconds(std::string_view text, std::string_view what) {
  constexpr double kMostSeconds = 1e6;
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || !(value > 0 && value <= kMostSeconds))
    throw Error(fmt::format("{}: not a number of seconds above 0 and up to {:.0f}: {}", what, kMostSeconds,
                            printable(text)));
  return value;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  int depth = 0;
  std::string part;
  for (const char c : text) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == separator && depth == 0) {
      parts.push_back(std::move(part));
      part.clear();
    } else {
      part += c;
    }
  }
  parts.push_back(std::move(part));
  return parts;
}

std::string trimmed(std::string_view text) {
  const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace plumb
