// Regular matrices: bands, stencils, finite-element-like blocks, arrows, uniform sparsity. rmat.hpp has the
// irregular ones.
#pragma once
#include <cstdint>

#include "reference/core/matrix.hpp"

namespace plumb {

/// All functions: columns of a row ascend and are distinct; T is float or double; same arguments, same matrix
/// on every machine; Error on sizes that are negative or give more than 2^31 - 1 rows or entries. Unless said
/// otherwise values are uniform in [-1, 1), each a function of (seed, row, column).

/// Columns max(0, i - lower) .. min(cols - 1, i + upper) of row i, each kept with probability `density`; the
/// diagonal always.
struct Banded {
  std::int64_t rows = 1000, cols = 1000;
  std::int64_t lower = 2, upper = 2;
  double density = 1;
  std::uint64_t seed = 1;
};
template <class T>
[[nodiscard]] Csr<T> banded(const Banded& what);

/// The 5-point Laplacian on an nx x ny grid (7-point on nx x ny x nz where nz > 1): 2 per dimension on the
/// diagonal, -1 for each neighbour. Point (x, y, z) is row (z * ny + y) * nx + x.
template <class T>
[[nodiscard]] Csr<T> stencil(std::int64_t nx, std::int64_t ny, std::int64_t nz = 1);

/// Trilinear elements on an nx x ny x nz grid of nodes with `unknowns` per node: each node joined to its up
/// to 27 neighbours by dense blocks. Values are symmetric; the diagonal exceeds the sum of its row's others.
template <class T>
[[nodiscard]] Csr<T> fem(std::int64_t nx, std::int64_t ny, std::int64_t nz, std::int64_t unknowns,
                         std::uint64_t seed);

/// `per_row` entries in every row (at most cols), spread over all columns.
template <class T>
[[nodiscard]] Csr<T> uniform(std::int64_t rows, std::int64_t cols, std::int64_t per_row, std::uint64_t seed);

/// A dense head of `width` rows and columns and a diagonal: the last rows are short, the first ones hold
/// everything.
template <class T>
[[nodiscard]] Csr<T> arrow(std::int64_t n, std::int64_t width, std::uint64_t seed);

}  // namespace plumb
