// Edge lists as SNAP publishes them: `from to` or `from to weight` lines, 0-based, comments with # or %.
#pragma once
#include <string>

#include "datasets/byte_source.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {

/// A square matrix: row `from`, column `to`, the weight or 1; its size is the largest id + 1. Ids are kept as they are.
/// Columns of a row ascend; a repeated edge stays repeated (operators add them up).
///
/// Errors    an id that is no integer, negative, or above `largest_id`; a weight that is no number or overflows; a line of
///           more than three columns; weights on some lines only; no edge at all.
template <class T>
[[nodiscard]] Csr<T> read_edge_list(const std::string& path);
template <class T>
[[nodiscard]] Csr<T> read_edge_list(ByteSource& source, std::int64_t largest_id = 2147483646);

}  // namespace plumb
