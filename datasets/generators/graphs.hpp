// Graphs whose row lengths follow a power law. rmat.hpp has the recursive ones.
#pragma once
#include <cstdint>

#include "reference/core/matrix.hpp"

namespace plumb {

/// A graph with row lengths that fall like rank^-exponent: `nnz` distinct entries in all (as near as
/// rounding and the cap of one entry per column allow), the longest row first when `shuffle` is off. Columns
/// prefer the same hubs.
struct PowerLaw {
  std::int64_t rows = 1000, cols = 1000;
  std::int64_t nnz = 8000;
  double exponent = 0.7;  // 0: all rows alike; 1: Zipf
  std::uint64_t seed = 1;
  bool shuffle = true;
};
template <class T>
[[nodiscard]] Csr<T> power_law(const PowerLaw& what);

/// A symmetric graph with hubs: exactly `edges` distinct undirected edges, no loops, values 1. One end of an
/// edge is drawn alike from all vertices, the other by rank, as rank^-exponent; ranks are assigned at random to the
/// vertices, so there is no locality that a cache could live on. Errors: throws Error where the edges do not
/// fit.
struct HubGraph {
  std::int64_t vertices = 1000, edges = 5000;
  double exponent = 0.7;
  std::uint64_t seed = 1;
};
template <class T>
[[nodiscard]] Csr<T> hub_graph(const HubGraph& what);
/// With the vertices, edges and longest row (within some percent) of SNAP's web-Stanford: 281,903 vertices,
/// and 4,267,175 entries of A + I.
[[nodiscard]] HubGraph web_stanford_lookalike();

}  // namespace plumb
