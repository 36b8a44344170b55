#include "reference/cases/case_words.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/cases/case_id.hpp"
#include "reference/core/error.hpp"
#include "reference/core/text.hpp"

namespace plumb {

namespace {
// A number of up to nine digits: most words are such, and reading any number takes several times as long. Else -1.
std::int64_t few_digits(const std::string& word) {
  if (word.empty() || word.size() > 9) return -1;
  std::int64_t value = 0;
  for (const char c : word) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}
}  // namespace

double number_of(const std::string& word) {
  if (const std::int64_t whole = few_digits(word); whole >= 0) return static_cast<double>(whole);
  if (const char c = word.empty() ? 'a' : word.front(); c >= 'a' && c <= 'z' && c != 'i' && c != 'n')
    return 0;
  double value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  return status == std::errc() && end == word.data() + word.size() ? value : 0;
}

bool same_value(const std::string& word, const std::string& known) {
  if (known == word) return true;
  const double k = number_of(known), w = number_of(word);
  if (k == std::floor(k) && w == std::floor(w)) return k != 0 && k == w;  // 65,536 is not 65,537
  return std::fabs(k - w) < 1e-4 * std::fabs(k);
}

void require_known_word(const Case& c, std::string_view key, const std::string& word,
                        const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), word) != known.end()) return;
  throw Error(fmt::format("case '{}': unknown {} '{}'{} (known: {})", c.id(), key, word,
                          did_you_mean(word, known), fmt::join(known, ", ")));
}

}  // namespace plumb
