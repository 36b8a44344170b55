// Edge lists as SNAP publishes them: `from to` or `from to weight` lines, 0-based, comments with # or %.
#pragma once
#include <string>

#include "datasets/io/byte_source.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {

/// Where the first line is a comment with the shape (shape_comment.hpp), as in files that save_matrix wrote: a matrix of that
/// shape, indices from its base, the number of entries checked. Else
/// a square matrix: row `from`, column `to`, the weight or 1; its size is the largest id + 1. Ids are kept as
/// they are (less `base`, where the list counts from 1). Columns of a row ascend; a repeated edge stays repeated (operators add them up).
///
/// Errors    an id that is no integer, negative, or above `largest_id`; a weight that is no number or
/// overflows; a line of
///           more than three columns; weights on some lines only; no edge at all.
template <class T>
[[nodiscard]] Csr<T> read_edge_list(const std::string& path);
template <class T>
[[nodiscard]] Csr<T> read_edge_list(ByteSource& source, std::int64_t largest_id = 2147483646,
                                    std::int64_t base = 0);

}  // namespace plumb
