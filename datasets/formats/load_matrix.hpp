// One function for a user's own sparse matrix, whatever its format.
#pragma once
#include <string>
#include <vector>

#include "datasets/formats/edge_list.hpp"
#include "datasets/io/byte_source.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {

/// What a person says about a file that neither its content nor its name tell.
struct ReadOptions {
  std::string format;     // a name of format_table.hpp; empty: content, then name
  EdgeListOptions edges;  // of an edge list only
};

template <class T>
struct ReadMatrix {
  Csr<T> a;
  Findings found;  // notes for a person, the base of the file's indices, whether it tells its size
};

/// The matrix in `path`, columns of each row ascending, repeated entries kept as repeated entries. Opened once, so that a pipe
/// (/dev/stdin, a FIFO, <(...)) works as a file does.
///
/// Formats   those of format_table.hpp, each also gzipped. The content decides (%%MatrixMarket, the magics of zip, npy and the
///           binary cache, the comment with the shape), then the name.
/// Values    T is float or double. A finite value that float cannot hold is an error, not an infinity.
/// Memory    grows with the entries: rows that a header announces and no entry proves are an error beyond 2^26 (triplets.hpp).
/// Errors    Error with file, line, what and value; an unknown kind lists what is known; complex values are refused; `options` of
///           an edge list where the file is none.
template <class T>
[[nodiscard]] ReadMatrix<T> read_matrix(const std::string& path, const ReadOptions& options = {});

/// The same where nothing is told and nothing said: only for files whose guesses do not matter.
template <class T>
[[nodiscard]] Csr<T> load_matrix(const std::string& path) {
  return read_matrix<T>(path).a;
}

}  // namespace plumb
