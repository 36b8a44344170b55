// The first line of lists of entries that this program writes. Such lists say neither their shape nor whether they count from
// 0 or from 1; this comment does, and readers of other programs pass over it.
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

/// Takes the comment off the source where it stands first; else takes nothing.
/// Errors: a line that begins with "# plumbline rows" and is not of this form.
[[nodiscard]] std::optional<ShapeComment> take_shape_comment(ByteSource& source);

/// True where the text begins as the comment does.
[[nodiscard]] bool begins_with_shape_comment(std::string_view first);

}  // namespace plumb
