// The GCN contest's files: graph.txt (`v e`, then `src dst` lines, 0-based) and raw little-endian row-major
// matrices.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/io/byte_source.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {

/// Edges as listed; both directions and self loops are entries of their own.
struct ContestGraph {
  std::int64_t vertices = 0;
  std::vector<std::int32_t> src, dst;  // (edges)
};

/// Errors: a missing or negative count, a vertex outside 0..v-1, more or fewer edges than announced; file and
/// line named.
[[nodiscard]] ContestGraph read_contest_graph(const std::string& path);
[[nodiscard]] ContestGraph read_contest_graph(ByteSource& source);

/// A^ (vertices, vertices): row src, column dst, value 1/sqrt(deg src)/sqrt(deg dst), computed in fp64 and
/// rounded once. deg is the number of lines with that src, so a self loop counts once. Columns of a row
/// ascend; repeats stay. Errors: an edge to a vertex that no edge leaves (its degree is 0).
template <class T>
[[nodiscard]] Csr<T> normalised_adjacency(const ContestGraph& graph);

/// A raw matrix. Exactly one of the two is filled; the size of the file decides which.
struct RawMatrix {
  bool is_f64 = false;
  Dense<float> f32;   // (rows, cols)
  Dense<double> f64;  // (rows, cols)
  /// Converted where the file held the other type: fp32 exactly to fp64, fp64 rounded to fp32.
  template <class T>
  [[nodiscard]] Dense<T> as() const;
};

/// `rows * cols` elements. Errors: the file holds neither rows * cols * 4 nor * 8 bytes (both numbers are
/// named).
[[nodiscard]] RawMatrix read_raw_matrix(const std::string& path, std::int64_t rows, std::int64_t cols);

}  // namespace plumb
