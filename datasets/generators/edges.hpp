// From a list of edges to an adjacency matrix.
#pragma once
#include <cstdint>
#include <vector>

#include "reference/core/matrix.hpp"

namespace plumb {

struct Edge {
  std::int32_t from, to;
};

enum class Loops : std::uint8_t {
  as_given,  // those of the list
  none,      // dropped
  one_each,  // exactly one per vertex
};

struct GraphOptions {
  bool symmetric = false;  // every edge also backwards
  Loops loops = Loops::as_given;
  bool keep_repeats = false;  // else repeated edges are one entry
  bool ones = false;       // values 1, else uniform in [-1, 1) by place (by unordered pair where symmetric)
  std::uint64_t seed = 1;  // of the values
};

/// Adjacency matrix (vertices, vertices), row = from, columns ascending. Throws Error on an edge outside
/// 0..vertices-1 and on more than 2^31 - 1 entries. T is float or double.
template <class T>
[[nodiscard]] Csr<T> graph_from_edges(std::int64_t vertices, std::vector<Edge> edges,
                                      const GraphOptions& options);

}  // namespace plumb
