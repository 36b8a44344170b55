// NumPy's .npy arrays, read and written, and scipy.sparse matrices in .npz. Numbers only: arrays of Python
// objects are refused.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "datasets/io/byte_source.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {

/// An array as the file stores it. `kind` is numpy's letter: b, i, u, f, and S or U for text.
struct NpyArray {
  std::string name;  // the file, for messages
  char kind = 'f';
  std::int64_t item = 0;  // bytes per element
  bool fortran = false;   // column-major
  std::vector<std::int64_t> shape;
  std::string bytes;  // count() * item, little-endian

  [[nodiscard]] std::int64_t count() const;
  /// numpy's name of the type: "f4", "i8", "b1".
  [[nodiscard]] std::string type() const { return kind + std::to_string(item); }
  /// "(2708, 16)".
  [[nodiscard]] std::string shape_text() const;
};

/// Versions 1 to 3, little-endian b1, i1..i8, u1..u8, f2, f4, f8 (and S, U, which only values of text use), C or
/// Fortran order. Errors: not .npy; a header that is not such a dictionary; big-endian, objects, structures,
/// f16, complex, dates; cut short; bytes after the data; a shape whose size overflows.
[[nodiscard]] NpyArray read_npy(const std::string& path);
[[nodiscard]] NpyArray read_npy(ByteSource& source);

/// The elements in row-major order as T: float, double, int32, int64. fp64 to fp32 rounds; every other
/// conversion is exact. Errors: a value T cannot hold; a floating array where T is an integer; text.
template <class T>
[[nodiscard]] std::vector<T> npy_values(const NpyArray& array);

/// As a matrix (rows, cols). Errors: as npy_values; not two-dimensional.
template <class T>
[[nodiscard]] Dense<T> npy_dense(const NpyArray& array);

/// Writes version 1, C order; atomically. T is float, double, int32, int64. `values` has the product of the
/// shape.
template <class T>
void write_npy(const std::string& path, const std::vector<std::int64_t>& shape, const std::vector<T>& values);
template <class T>
void write_npy(const std::string& path, const Dense<T>& matrix) {
  write_npy(path, {matrix.rows, matrix.cols}, matrix.data);
}

/// All arrays of an .npz, by name without ".npy". Members are stored or deflated, zip64 too.
/// Errors: not a zip; cut short; a CRC that differs; encrypted; another compression; a repeated
/// name.
[[nodiscard]] std::map<std::string, NpyArray> read_npz(const std::string& path);
[[nodiscard]] std::map<std::string, NpyArray> read_npz(ByteSource& source);

/// A matrix written by scipy.sparse.save_npz: csr, csc, coo, bsr or dia. Columns of a row ascend, repeats stay; zeros are entries,
/// but for dia, whose places are all stored. Errors: another format; an array missing; sizes that do not fit; an index out of range; complex
/// values.
template <class T>
[[nodiscard]] Csr<T> read_scipy_npz(const std::string& path);
template <class T>
[[nodiscard]] Csr<T> read_scipy_npz(ByteSource& source);

/// The same of arrays that were read already; `file` is what messages name.
template <class T>
[[nodiscard]] Csr<T> scipy_matrix(const std::string& file, const std::map<std::string, NpyArray>& arrays);

/// Which of csr, csc, coo, ... the arrays of an .npz say they are; empty where they are no scipy.sparse
/// matrix.
[[nodiscard]] std::string scipy_format(const std::map<std::string, NpyArray>& arrays);

}  // namespace plumb
