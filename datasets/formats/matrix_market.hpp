// Matrix Market files, all of them: formats, fields, symmetries, matrices and vectors. Read as stored;
// conversions are apart, so that nothing is lost before the caller chooses a type.
#pragma once
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/formats/triplets.hpp"
#include "datasets/io/byte_source.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {

/// A file as it stands: entries stored, not mirrored, in the order of the file, repeats kept.
struct MatrixMarket {
  enum class Object : std::uint8_t { matrix, vector };
  enum class Format : std::uint8_t { coordinate, array };
  enum class Field : std::uint8_t { real, integer, unsigned_integer, complex, pattern };
  enum class Symmetry : std::uint8_t { general, symmetric, skew_symmetric, hermitian };

  std::string name;  // the file, for messages of the conversions
  Object object = Object::matrix;
  Format format = Format::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  std::string graphblas_type;  // of a "%%GraphBLAS type T" line; empty without one
  std::int64_t rows = 0, cols = 0;
  // Coordinate: zero-based indices and values. Array: no indices; values in the file's order, which is column
  // by column, of a symmetric one from the diagonal down, of a skew-symmetric one from below the diagonal
  // down.
  std::vector<std::int32_t> row, col;  // (stored) or empty
  std::vector<double> real;            // (stored); empty for pattern
  std::vector<double> imag;            // (stored) for complex, else empty

  [[nodiscard]] std::int64_t stored() const {
    return static_cast<std::int64_t>(format == Format::coordinate ? row.size() : real.size());
  }
};

/// Reads the file. Banner words are read in any case, blank lines and comment lines anywhere, indented lines,
/// CR LF; the banner may be indented or begin with one %. inf and nan are values.
///
/// Errors    `FILE:LINE: what: value`: an unknown banner word; a size line missing or malformed; rows or columns
///           above 2^31 - 1; an index outside the matrix; a value that is not a number, or overflows fp64, or is an
///           integer that fp64 cannot hold exactly; text after the value; more or fewer entries than
///           announced; a symmetric matrix that is not square, or that stores both (i, j) and (j, i); a
///           skew-symmetric one with a diagonal entry other than 0; a hermitian one with a diagonal entry
///           that is not real; a vector with a symmetry; pattern with array, skew-symmetric or hermitian; a %%GraphBLAS
///           comment that is not `%%GraphBLAS type T` with a known T; lines that end with CR alone.
[[nodiscard]] MatrixMarket read_matrix_market(const std::string& path);
[[nodiscard]] MatrixMarket read_matrix_market(ByteSource& source);

/// The entries, mirrored ones behind the one that they mirror. Of an array, entries equal to 0 are left out. Errors: as to_csr.
template <class T>
[[nodiscard]] Entries<T> entries_of(const MatrixMarket& file);

/// CSR with mirrored entries in place: (i, j, a) of a symmetric matrix is also (j, i, a), of a skew-symmetric
/// one (j, i, -a). Columns of a row ascend; repeated entries stay, in the order of the file (operators add
/// them up). A pattern's values are 1. Of an array, entries equal to 0 are left out. T is float or double.
/// Errors: complex values; more than 2^31 - 1 entries once mirrored; a finite value that float cannot hold.
template <class T>
[[nodiscard]] Csr<T> to_csr(const MatrixMarket& file);

/// Row-major, mirrored entries in place, repeated entries added up. T is float, double or
/// std::complex<double>. Errors: complex values for a real T; more than 2^31 - 1 elements.
template <class T>
[[nodiscard]] Dense<T> to_dense(const MatrixMarket& file);

/// Writes `coordinate real general`, shortest digits that read back to the same value; whole or not at all (output_file.hpp).
template <class T>
void write_matrix_market(const std::string& path, const Csr<T>& matrix, bool gzip = false);

[[nodiscard]] const char* to_string(MatrixMarket::Field field);
[[nodiscard]] const char* to_string(MatrixMarket::Symmetry symmetry);
[[nodiscard]] const char* to_string(MatrixMarket::Format format);
[[nodiscard]] const char* to_string(MatrixMarket::Object object);

}  // namespace plumb
