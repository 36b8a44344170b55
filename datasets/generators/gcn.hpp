// The operands of a graph convolutional network: the normalised adjacency matrix, features and weights.
#pragma once
#include <cstdint>
#include <vector>

#include "reference/core/matrix.hpp"

namespace plumb {

/// A^ = D~^-1/2 (A + I) D~^-1/2, sums and roots in fp64, each value rounded once; D~ holds the row sums of A
/// + I. A vertex that already has an entry (i, i) keeps it and gets no second loop; repeated entries add up.
/// Columns ascend. Throws Error when A is not square or a row sum is not positive and finite.
///
/// Source    T. N. Kipf and M. Welling, Semi-supervised classification with graph convolutional networks,
/// ICLR 2017.
template <class T>
[[nodiscard]] Csr<T> normalised_adjacency(const Csr<T>& a);

/// The operands of a two-layer GCN: generated, with the shapes of real data.
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
