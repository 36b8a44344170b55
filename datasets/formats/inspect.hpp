// A summary of any file or folder this room can read.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/formats/load_matrix.hpp"
#include "datasets/io/byte_source.hpp"

namespace plumb {

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
  std::int64_t duplicates = -1;  // entries whose (row, column) came before
  std::int64_t unsorted_rows =
      -1;  // rows whose columns do not ascend in the order of the file; -1: order is not kept
  std::vector<std::string>
      notes;  // one line each: layers of a network, checksums, shapes of a folder's parts, what was guessed
};

/// Reads the whole file (or folder) and describes it, in memory that the entries take: rows that hold none cost nothing. Errors: as
/// load_matrix.
[[nodiscard]] Inspection inspect(const std::string& path, const ReadOptions& options = {});

/// "key: value" lines, ending in a newline each.
[[nodiscard]] std::string to_text(const Inspection& found);

/// One per format, for the table in format_table.cpp.
void inspect_matrix_market(ByteSource& source, Inspection& to);
void inspect_npz(ByteSource& source, Inspection& to);
void inspect_npy(ByteSource& source, Inspection& to);
void inspect_cache(ByteSource& source, Inspection& to);
void inspect_weights(ByteSource& source, Inspection& to);
void inspect_images(ByteSource& source, Inspection& to);

}  // namespace plumb
