#include "datasets/formats/shape_comment.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "datasets/formats/triplets.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

constexpr std::string_view kStart = "# plumbline rows";

// Removes `word` from the front.
bool take_word(std::string_view& text, std::string_view word) {
  if (text.substr(0, word.size()) != word) return false;
  text.remove_prefix(word.size());
  return true;
}

bool take_number(std::string_view& text, std::int64_t largest, std::int64_t& value) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || value < 0 || value > largest) return false;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  return true;
}

}  // namespace

std::string to_text(const ShapeComment& s) {
  return fmt::format("# plumbline rows={} cols={} entries={} base={}\n", s.rows, s.cols, s.entries, s.base);
}

bool begins_with_shape_comment(std::string_view first) { return first.substr(0, kStart.size()) == kStart; }

std::optional<ShapeComment> take_shape_comment(ByteSource& source) {
  constexpr std::size_t kLongestComment = 200;  // bytes; four numbers of 19 digits fit
  const std::string_view first = source.peek(kLongestComment);
  if (!begins_with_shape_comment(first)) return std::nullopt;
  const std::size_t end = first.find('\n');
  std::string line(first.substr(0, end));
  std::string_view left = line;
  if (!left.empty() && left.back() == '\r') left.remove_suffix(1);
  ShapeComment s;
  const bool whole = take_word(left, "# plumbline rows=") && take_number(left, kLargestIndex, s.rows) &&
                     take_word(left, " cols=") && take_number(left, kLargestIndex, s.cols) &&
                     take_word(left, " entries=") && take_number(left, kLargestIndex, s.entries) &&
                     take_word(left, " base=") && take_number(left, 1, s.base) && left.empty();
  if (!whole) throw input_error(source.name(), 1, "malformed comment with the shape", line);
  source.read(line.data(), line.size());
  char newline = 0;
  source.read(&newline, 1);
  return s;
}

}  // namespace plumb
