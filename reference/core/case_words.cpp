#include "reference/core/case_words.hpp"

#include <charconv>
#include <cmath>

namespace plumb {

double number_of(const std::string& word) {
  double value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  return status == std::errc() && end == word.data() + word.size() ? value : 0;
}

bool same_value(const std::string& word, const std::string& known) {
  if (known == word) return true;
  const double k = number_of(known);
  return k != 0 && std::fabs(k - number_of(word)) < 1e-4 * std::fabs(k);
}

}  // namespace plumb
