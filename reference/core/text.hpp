// Small words on text every command line and filter needs: globs, nearest word, sizes with k and M.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumb {

/// Shell-like match of the whole text: '*' any run, '?' any one character; everything else stands for itself.
[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text);

/// The candidate with the smallest edit distance (insert, delete, replace, swap of neighbours), or "" if none is near
/// (distance above 2 and above a third of the word).
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// ", did you mean 'X'?" or "": ready to be appended to an error.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// "65536", "64k", "1M", "2G" (powers of 1000 written 1e3 are also taken: "1e6"). Suffixes are powers of 1024 for k, M, G
/// when written "Ki", "Mi", "Gi", else of 1000. Throws Error naming `what` on anything else or on overflow.
[[nodiscard]] std::int64_t parse_size(std::string_view text, std::string_view what);

/// Memory: "8GiB", "1.5GiB", "65536B": a number with one of the units B, KiB, MiB, GiB, TiB. Throws Error naming `what` on
/// anything else, on a part of a byte, and on 0.
[[nodiscard]] std::int64_t parse_bytes(std::string_view text, std::string_view what);

/// A time limit in seconds: a number above 0 and up to 1e6. Throws Error naming `what` on anything else, NaN and infinity too.
[[nodiscard]] double parse_seconds(std::string_view text, std::string_view what);

/// Splits at `separator` outside parentheses; no trimming; an empty text gives no parts.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

/// The text without white space at either end.
[[nodiscard]] std::string trimmed(std::string_view text);

}  // namespace plumb
