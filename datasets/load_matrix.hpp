// One door for a user's own sparse matrix, whatever its format, and a summary of any file this room can read.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "reference/core/matrix.hpp"

namespace plumb {

/// The matrix in `path`, columns of each row ascending, repeated entries kept as repeated entries.
///
/// Formats   Matrix Market (.mtx), scipy.sparse (.npz: csr, csc, coo), edge list (.el, .edges, .txt, .tsv: SNAP, 0-based),
///           a layer or the images of the sparse-DNN challenge (nN-lK.tsv, sparse-images-N.tsv: 1-based), dense .npy
///           (zeros left out). Each also gzipped. Content (%%MatrixMarket, the zip and npy magics) wins over the name.
/// Values    T is float or double. A finite value that float cannot hold is an error, not an infinity.
/// Errors    Error with file, line, what and value; an unknown extension lists what is known; complex values are refused.
template <class T>
[[nodiscard]] Csr<T> load_matrix(const std::string& path);

/// What `dataset info F` prints. Fields that do not apply are empty or -1.
struct Inspection {
  std::string path;
  std::string kind;      // "Matrix Market coordinate", "edge list", "npy array", "sparse-DNN weights", ...
  std::string field;     // real, integer, complex, pattern, or the npy type
  std::string symmetry;  // general, symmetric, skew-symmetric, hermitian
  std::int64_t rows = -1, cols = -1;
  std::int64_t stored = -1;  // entries in the file
  std::int64_t nnz = -1;     // entries of the matrix, symmetric ones mirrored
  std::int64_t min_row = -1, max_row = -1;
  double mean_row = -1;
  std::int64_t empty_rows = -1;
  std::int64_t duplicates = -1;     // entries whose (row, column) came before
  std::int64_t unsorted_rows = -1;  // rows whose columns do not ascend in the order of the file; -1: order is not kept
  std::vector<std::string> notes;   // one line each: layers of a network, checksums, shapes of a folder's parts
};

/// Reads the whole file (or folder) and describes it. Errors: as load_matrix; a file of no known kind lists the kinds.
[[nodiscard]] Inspection inspect(const std::string& path);

/// "key: value" lines, ending in a newline each.
[[nodiscard]] std::string to_text(const Inspection& found);

}  // namespace plumb
