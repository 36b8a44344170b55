// A matrix into a file: the counterpart of load_matrix.hpp. Every regular file appears whole or not at all (output_file.hpp).
#pragma once
#include <string>

#include "reference/core/matrix.hpp"

namespace plumb {

/// By ending, or in the format called `format` (format_table.hpp):
///   .mtx            Matrix Market, coordinate real general
///   .npz            scipy.sparse, csr (as scipy.sparse.save_npz writes without compression), fp32 or fp64 as T
///   .npy            dense, fp32 or fp64 as T; repeated entries added up; at most 2^31 - 1 elements
///   .plumb          binary cache (fp32: fp64 values must fit it exactly)
///   .tsv            `row column value` lines, counted from 1, sorted by column, then row
///   .el             the same counted from 0, sorted by row
///   nN-lK.tsv, sparse-images-N.tsv   files of the sparse-DNN challenge: as .tsv, fp32
/// and .mtx, .tsv, .el also as .gz. A .tsv and an .el begin with a comment that says the shape and the first index, which
/// load_matrix reads; the challenge's files have none, so a matrix whose shape their lines would lose is refused.
/// Errors: any other ending (the known ones are listed); a value or shape that the format cannot hold; a full disk and the like.
/// T is float or double.
template <class T>
void save_matrix(const std::string& path, const Csr<T>& a, const std::string& format = "");

/// One per format, for the table in format_table.cpp.
template <class T>
void save_tsv(const std::string& path, const Csr<T>& a, bool gzip);
template <class T>
void save_el(const std::string& path, const Csr<T>& a, bool gzip);
template <class T>
void save_layer(const std::string& path, const Csr<T>& a, bool gzip);
template <class T>
void save_images(const std::string& path, const Csr<T>& a, bool gzip);
template <class T>
void save_npz(const std::string& path, const Csr<T>& a);
template <class T>
void save_dense(const std::string& path, const Csr<T>& a);

/// The matrix in fp32. Errors: a value that fp32 does not hold exactly.
template <class T>
[[nodiscard]] Csr<float> exact_in_fp32(const std::string& path, const Csr<T>& a);

}  // namespace plumb
