// One function for a user's own sparse matrix, whatever its format.
#pragma once
#include <string>

#include "reference/core/matrix.hpp"

namespace plumb {

/// The matrix in `path`, columns of each row ascending, repeated entries kept as repeated entries. Opened once, so that a pipe
/// (/dev/stdin, a FIFO, <(...)) works as a file does.
///
/// Formats   those of format_table.hpp, each also gzipped. The content decides (%%MatrixMarket, the magics of zip, npy and the
///           binary cache, the comment with the shape), then the name.
/// Values    T is float or double. A finite value that float cannot hold is an error, not an infinity.
/// Errors    Error with file, line, what and value; an unknown kind lists what is known; complex values are refused.
template <class T>
[[nodiscard]] Csr<T> load_matrix(const std::string& path);

}  // namespace plumb
