// Edge lists as people have them: `from to` or `from to weight` lines, with blanks, tabs, commas or semicolons between, comments with #,
// % or //, a header, a column of times.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/formats/triplets.hpp"
#include "datasets/io/byte_source.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {

/// What a person says about an edge list; what is not said is guessed.
struct EdgeListOptions {
  std::optional<std::int64_t> base;  // 0 or 1: the first vertex's id
  std::vector<std::string> columns;  // from, to, weight, -: one for each column
  std::int64_t largest_id = 2147483646;
};

/// A file whose first line is a comment with the shape (shape_comment.hpp), as save_matrix writes it, is a matrix of that shape,
/// with indices from its base and a number of entries that is checked; options do not count. Any other file is a square matrix: row
/// `from`, column `to`, the weight or 1. Columns of a row ascend; a repeated edge stays repeated (operators add them up).
///
/// Guesses   told in the source's findings. Columns, delimiter and header: edge_columns.hpp. Without an id 0, ids count from 1. The size is
///           the largest id's, or the larger one that SNAP's or KONECT's comments tell (a bipartite list of KONECT is rectangular). A
///           first line `v e`, where e lines without weights follow whose ids are below v (or are 1..v), is the contest's: v vertices.
/// Errors    an id that is not an integer, is negative, or is above `largest_id`; a weight that is not a number or overflows; a
///           line with a column too many; weights on some lines only; no edge at all; those of guess_columns.
template <class T>
[[nodiscard]] Csr<T> read_edge_list(const std::string& path);
template <class T>
[[nodiscard]] Csr<T> read_edge_list(ByteSource& source, const EdgeListOptions& options = {});

/// The same before it is CSR, the edges in the order of the file.
template <class T>
struct EdgeList {
  std::int64_t rows = 0, cols = 0;
  std::vector<Triplets<T>> pieces;
};
template <class T>
[[nodiscard]] EdgeList<T> read_edges(ByteSource& source, const EdgeListOptions& options = {});

}  // namespace plumb
