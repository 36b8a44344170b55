// Errors of misuse and environment: one line, `FILE:LINE: what: value`, exit code 2. A wrong kernel is data, never an exception.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace plumb {

/// Bad input or environment. what() is the whole line after "error: ".
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// "file:line: what: value"; line 0 leaves the line out, an empty value leaves the value out.
/// Control characters in `value` are shown as \xNN and long values are cut, so a hostile file cannot garble a terminal.
[[nodiscard]] Error input_error(std::string_view file, std::int64_t line, std::string_view what,
                                std::string_view value = {});

/// The text made safe to print on one line: control bytes as \xNN, at most `limit` characters.
[[nodiscard]] std::string printable(std::string_view text, std::size_t limit = 60);

}  // namespace plumb
