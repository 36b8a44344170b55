// The keys and words that case spaces are written with, and when two words say the same.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace plumb {

struct Case;

constexpr std::string_view kFillKey = "fill", kDtypeKey = "dtype", kPatternKey = "pattern",
                           kRowMeanKey = "row_mean", kLayoutKey = "layout";

/// The number that a word is; 0 where it is none.
double number_of(const std::string& word);

/// Whether two words say the same: numbers that went through a printed density come back within its six digits.
bool same_value(const std::string& word, const std::string& known);

/// Throws Error naming the case, the word and the nearest of `known`, where the word that a case has for `key` is none of them.
void require_known_word(const Case& c, std::string_view key, const std::string& word,
                        const std::vector<std::string>& known);

}  // namespace plumb
