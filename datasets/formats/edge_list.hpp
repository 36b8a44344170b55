// Edge lists as SNAP publishes them: `from to` or `from to weight` lines, 0-based, comments with # or %.
#pragma once
#include <string>

#include "datasets/io/byte_source.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {

/// A file whose first line is a comment with the shape (shape_comment.hpp), as save_matrix writes it, is a matrix of that shape,
/// with indices from its base and a number of entries that is checked. Any other file is a square matrix: row `from`, column
/// `to`, the weight or 1; its size is the largest id + 1. Ids are kept (less `base`, where the list counts from 1). Columns of a
/// row ascend; a repeated edge stays repeated (operators add them up).
///
/// Errors    an id that is not an integer, is negative, or is above `largest_id`; a weight that is not a number or overflows; a
///           line of more than three columns; weights on some lines only; no edge at all.
template <class T>
[[nodiscard]] Csr<T> read_edge_list(const std::string& path);
template <class T>
[[nodiscard]] Csr<T> read_edge_list(ByteSource& source, std::int64_t largest_id = 2147483646,
                                    std::int64_t base = 0);

}  // namespace plumb
