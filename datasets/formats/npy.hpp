// NumPy's .npy arrays, read and written, and those of an .npz. Numbers only: arrays of Python objects are refused.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "datasets/io/byte_source.hpp"
#include "reference/core/error.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {

/// An array as the file stores it. `kind` is numpy's letter: b, i, u, f, and S or U for text.
struct NpyArray {
  std::string name;  // the file, for messages
  char kind = 'f';
  std::int64_t item = 0;  // bytes per element
  bool fortran = false;   // column-major
  std::vector<std::int64_t> shape;
  std::string bytes;   // count() * item, little-endian
  std::string unread;  // why there are no bytes: the type; only in an .npz

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

/// Element types that are not read: an error, of an .npz only where the array is asked for.
struct UnreadType : Error {
  UnreadType(const Error& e, char letter) : Error(e), kind(letter) {}
  char kind;  // numpy's letter, or V of a structure
};

/// The arrays of an .npz, by name without ".npy".
using NpzArrays = std::map<std::string, NpyArray>;

/// All arrays of an .npz. Members are stored or deflated, zip64 too. An array of a type that is not read has `unread`.
/// Errors: not a zip; cut short; a CRC that differs; encrypted; another compression; a repeated
/// name.
[[nodiscard]] NpzArrays read_npz(const std::string& path);
[[nodiscard]] NpzArrays read_npz(ByteSource& source);

}  // namespace plumb
