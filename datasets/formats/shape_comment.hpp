// The first line of lists of entries that this program writes. Such lists contain neither their shape nor their first index
// (0 or 1); this comment does, and the readers of other programs skip it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "datasets/io/byte_source.hpp"

namespace plumb {

struct ShapeComment {
  std::int64_t rows = 0, cols = 0, entries = 0;
  std::int64_t base = 0;  // of indices: 0 or 1
};

/// "# plumbline rows=3 cols=4 entries=5 base=1\n".
[[nodiscard]] std::string to_text(const ShapeComment& shape);

/// Reads the comment where the source begins with it; else reads nothing.
/// Errors: a line that begins with "# plumbline rows" and is not of this form.
[[nodiscard]] std::optional<ShapeComment> take_shape_comment(ByteSource& source);

/// True where the text begins as the comment does.
[[nodiscard]] bool begins_with_shape_comment(std::string_view first);

}  // namespace plumb
