// R-MAT graphs: skewed matrices with hubs, on which kernels tuned for regular matrices fail or are slow.
#pragma once
#include <cstdint>

#include "reference/core/matrix.hpp"

namespace plumb {

/// Parameters of a recursive-matrix graph; the defaults are Graph 500's.
struct Rmat {
  std::int64_t scale = 10;              // 2^scale vertices
  std::int64_t edge_factor = 16;        // edges drawn per vertex, before loops and repeats go
  double a = 0.57, b = 0.19, c = 0.19;  // probabilities of the quadrants; the fourth has the rest
  std::uint64_t seed = 1;
  bool symmetric = false;     // add the reverse of every edge
  bool self_loops = false;    // every vertex gets exactly one loop
  bool keep_repeats = false;  // repeated edges stay as repeated entries
  bool shuffle = true;        // renumber the vertices, or hubs have the low numbers
  bool ones = false;          // values 1 instead of uniform in [-1, 1) by (row, column)
};

/// The adjacency matrix (2^scale, 2^scale), columns of a row ascending. Drawn loops are dropped; `self_loops`
/// adds its own. A value depends on its place alone (of a symmetric graph, on the unordered pair). T is float
/// or double. Throws Error when scale is outside 0..30, probabilities are negative or sum to more than 1, or
/// edges exceed 2^31 - 1.
///
/// Source    D. Chakrabarti, Y. Zhan, C. Faloutsos, R-MAT: A recursive model for graph mining, SDM 2004.
template <class T>
[[nodiscard]] Csr<T> rmat(const Rmat& what);

}  // namespace plumb
