#include "verify/selection/source_constants.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plumb {
namespace {

constexpr std::int64_t kLeast = 3, kMost = 200'000;

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Comments, texts and includes become spaces; lines stay.
std::string code_of(std::string_view source) {
  std::string code(source);
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, code.size()); ++i) {
      if (code[i] != '\n') code[i] = ' ';
    }
    return to;
  };
  const auto behind = [&](std::string_view end, std::size_t from) {
    const std::size_t at = code.find(end, from);
    return at == std::string::npos ? code.size() : at + end.size();
  };
  for (std::size_t i = 0; i < code.size();) {
    const std::string_view rest = std::string_view(code).substr(i);
    if (rest.rfind("//", 0) == 0 || rest.rfind("#include", 0) == 0) {
      i = blank(i, std::min(code.find('\n', i), code.size()));
    } else if (rest.rfind("/*", 0) == 0) {
      i = blank(i, behind("*/", i + 2));
    } else if (code[i] == '"') {
      std::size_t end = i + 1;
      while (end < code.size() && code[end] != '"' && code[end] != '\n') end += code[end] == '\\' ? 2 : 1;
      i = blank(i, end + 1);
    } else {
      ++i;
    }
  }
  return code;
}

// The whole number that begins at `at`, with its digit separators; 0 for a fraction, a hexadecimal mask and what is too large. Moves
// `at` behind it.
std::int64_t number_at(const std::string& code, std::size_t& at) {
  std::string digits;
  bool whole = true;
  for (; at < code.size() && (in_word(code[at]) || code[at] == '\'' || code[at] == '.'); ++at) {
    const char c = code[at];
    if (std::isdigit(static_cast<unsigned char>(c)) != 0)
      digits += c;
    else if (c != '\'' && std::string_view("uUlLzZ").find(c) == std::string_view::npos)
      whole = false;
  }
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return whole && status == std::errc() && end == digits.data() + digits.size() ? value : 0;
}

// Where `<< NUMBER` follows: shifts `value`, and moves `at` behind it.
void shift(const std::string& code, std::size_t& at, std::int64_t& value) {
  std::size_t next = code.find_first_not_of(' ', at);
  if (next == std::string::npos || code.compare(next, 2, "<<") != 0) return;
  next = code.find_first_not_of(' ', next + 2);
  if (next == std::string::npos || std::isdigit(static_cast<unsigned char>(code[next])) == 0) return;
  const std::int64_t by = number_at(code, next);
  if (by > 0 && by < 18 && value < kMost) value <<= by, at = next;
}

}  // namespace

std::vector<SourceConstant> constants_of(std::string_view source) {
  const std::string code = code_of(source);
  std::map<std::int64_t, int> first_line;
  int line = 1;
  for (std::size_t i = 0; i < code.size();) {
    if (std::isdigit(static_cast<unsigned char>(code[i])) == 0) {
      line += code[i] == '\n' ? 1 : 0;
      // a name with its digits
      if (in_word(code[i])) {
        while (i < code.size() && in_word(code[i])) ++i;
      } else {
        ++i;
      }
      continue;
    }
    std::int64_t value = number_at(code, i);
    shift(code, i, value);
    if (value >= kLeast && value <= kMost) first_line.try_emplace(value, line);
  }
  std::vector<SourceConstant> constants;
  for (const auto& [value, at] : first_line) constants.push_back({value, at});
  return constants;
}

std::vector<std::int64_t> sizes_beside(const std::vector<SourceConstant>& constants) {
  std::set<std::int64_t> sizes;
  for (const SourceConstant& c : constants) {
    for (std::int64_t multiple = c.value; multiple <= 4 * c.value; multiple += c.value)
      sizes.insert({multiple - 1, multiple, multiple + 1, multiple + 2});
  }
  return {sizes.begin(), sizes.end()};
}

std::string describe(const std::string& file, const std::vector<SourceConstant>& constants) {
  std::vector<std::string> places;
  for (const SourceConstant& c : constants) places.push_back(fmt::format("{} (line {})", c.value, c.line));
  return fmt::format("{}: {}", file, fmt::join(places, ", "));
}

}  // namespace plumb
