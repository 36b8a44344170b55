// The operands of a graph convolutional network: the normalised adjacency matrix, features and weights.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "reference/core/matrix.hpp"

namespace plumb {

/// How messages name a graph and count in it.
struct AdjacencyName {
  std::string file = "adjacency";
  std::int64_t base = 0;     // what the file counts its vertices from
  const char* rows = "row";  // what a row of A is in the file: a row, or where it was transposed a column
};

/// A^ = D~^-1/2 (A + I) D~^-1/2, sums and roots in fp64, each value rounded once; D~ holds the row sums of A
/// + I. A vertex that already has an entry (i, i) keeps it and gets no second loop; repeated entries add up.
/// Columns ascend. Throws Error when A is not square or a row sum is not positive and finite.
///
/// Source    T. N. Kipf and M. Welling, Semi-supervised classification with graph convolutional networks,
/// ICLR 2017.
template <class T>
[[nodiscard]] Csr<T> normalised_adjacency(const Csr<T>& a, const AdjacencyName& name = {});

/// The operands of a GCN: generated, with the shapes of real data.
template <class T>
struct GcnSet {
  Csr<T> a;    // (vertices, vertices), normalised
  Dense<T> x;  // (vertices, features): one in eight is set, rows sum to 1, as bags of words do
  std::vector<Dense<T>> weights;       // from each width to the next: uniform, Glorot's limits
  std::vector<std::vector<T>> biases;  // one per weights, its columns: uniform in +-0.1
};
struct GcnShape {
  std::int64_t scale = 12;  // 2^scale vertices of a symmetric R-MAT graph
  std::int64_t edge_factor = 8;
  std::vector<std::int64_t> widths{128, 16, 8};  // features, hidden layers, classes
  std::uint64_t seed = 1;
};
/// features-hidden-...-hidden-classes, for `layers` layers. Throws Error for less than one layer.
[[nodiscard]] std::vector<std::int64_t> gcn_widths(std::int64_t features, std::int64_t hidden,
                                                   std::int64_t classes, std::int64_t layers);
template <class T>
[[nodiscard]] GcnSet<T> generated_gcn(const GcnShape& shape);
/// The same on a given graph, A + I normalised, and with X uniform in [-1, 1), as embeddings are; of `shape`
/// the widths and the seed count.
template <class T>
[[nodiscard]] GcnSet<T> generated_gcn(const Csr<double>& graph, const GcnShape& shape);

}  // namespace plumb
