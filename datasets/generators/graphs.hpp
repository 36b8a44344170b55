// From edges to adjacency matrices, and from those to what a GCN multiplies with.
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

/// A graph with row lengths that fall like rank^-exponent: `edges` distinct entries in all (as near as
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
/// edge is drawn alike from all vertices, the other by rank, as rank^-exponent; ranks lie at random among the
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

/// A^ = D~^-1/2 (A + I) D~^-1/2, sums and roots in fp64, each value rounded once; D~ holds the row sums of A
/// + I. A vertex that already has an entry (i, i) keeps it and gets no second loop; repeated entries add up.
/// Columns ascend. Throws Error when A is not square or a row sum is not positive and finite.
///
/// Source    T. N. Kipf and M. Welling, Semi-supervised classification with graph convolutional networks,
/// ICLR 2017.
template <class T>
[[nodiscard]] Csr<T> normalised_adjacency(const Csr<T>& a);

/// What a two-layer GCN multiplies: made up, but shaped like the real thing.
template <class T>
struct GcnSet {
  Csr<T> a;               // (vertices, vertices), normalised
  Dense<T> x;             // (vertices, features): one in eight is set, rows sum to 1, as bags of words do
  Dense<T> w1, w2;        // (features, hidden), (hidden, classes): uniform, Glorot's limits
  std::vector<T> b1, b2;  // (hidden), (classes): uniform in +-0.1
};
struct GcnShape {
  std::int64_t scale = 12;  // 2^scale vertices of a symmetric R-MAT graph
  std::int64_t edge_factor = 8;
  std::int64_t features = 128, hidden = 16, classes = 8;
  std::uint64_t seed = 1;
};
template <class T>
[[nodiscard]] GcnSet<T> generated_gcn(const GcnShape& shape);
/// The same on a given graph, A + I normalised, and with X uniform in [-1, 1), as embeddings are; of `shape`
/// the widths and the seed count.
template <class T>
[[nodiscard]] GcnSet<T> generated_gcn(const Csr<double>& graph, const GcnShape& shape);

}  // namespace plumb
