// The sparse matrix in an .npz, whoever wrote it: SciPy, PyData/Sparse, gnn-benchmark, PyTorch Geometric, or numpy.savez by hand.
#pragma once
#include <optional>
#include <string>

#include "datasets/formats/npy.hpp"
#include "datasets/formats/triplets.hpp"
#include "datasets/io/byte_source.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {

/// Which arrays of an .npz are the matrix.
struct NpzMatrix {
  std::string what;  // "scipy.sparse csr", "PyData/Sparse COO", "edge_index"
  std::string
      layout;  // csr, csc, coo, bsr, dia, edges, dense; else what SciPy wrote and is not read: lil, dok
  std::string prefix;  // of the names: "adj_" of adj_data, adj_indices, ...
  [[nodiscard]] bool is_read() const;
};

/// By the names of the arrays; nothing where none fit:
///   format, ...                              scipy.sparse.save_npz: csr, csc, coo, bsr, dia; the format as text or bytes
///   coords, data, shape                      PyData/Sparse COO
///   data, indices, indptr, compressed_axes   PyData/Sparse GCXS, of two dimensions
///   data, indices, indptr, shape             CSR, also with a prefix: adj_data (gnn-benchmark) or adj_matrix.data; the first of "", adj..., the only one
///   row, col, data, shape                    COO
///   edge_index (2, E), or edges (E, 2)       PyTorch Geometric; edge_weight (E), num_nodes where they are there
///   a single array of two dimensions         dense, zeros left out
[[nodiscard]] std::optional<NpzMatrix> find_matrix(const std::string& file, const NpzArrays& arrays);

/// Its entries. Zeros are entries, but for dia and dense arrays, whose places are all stored. Guesses are noted in the source's findings.
/// Errors: a layout that is not read; an array missing; sizes that do not fit; an index out of range; complex values; a fill_value other than 0.
template <class T>
[[nodiscard]] Entries<T> npz_entries(const NpzMatrix& matrix, const NpzArrays& arrays, ByteSource& source);

/// As CSR: columns of a row ascend, repeats stay. Errors: no matrix in it, with the arrays that were found; as npz_entries.
template <class T>
[[nodiscard]] Csr<T> read_npz_matrix(const std::string& path);
template <class T>
[[nodiscard]] Csr<T> read_npz_matrix(ByteSource& source);

}  // namespace plumb
