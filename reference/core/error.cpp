#include "reference/core/error.hpp"

#include <fmt/format.h>

namespace plumb {

std::string printable(std::string_view text, std::size_t limit) {
  std::string out;
  for (const char c : text.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  if (text.size() > limit) out += "...";
  return out;
}

Error input_error(std::string_view file, std::int64_t line, std::string_view what, std::string_view value) {
  std::string text = printable(file, 4096);
  if (line > 0) text += fmt::format(":{}", line);
  text += fmt::format(": {}", what);
  if (!value.empty()) text += fmt::format(": {}", printable(value));
  return Error(text);
}

}  // namespace plumb
