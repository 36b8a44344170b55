// Look-alikes: generated matrices with the shape, number of entries, longest row, row-length profile and bandwidth of
// well-known ones. They stand in for matrices of hundreds of MB where only the structure's statistics matter.
// They are not the matrices.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "reference/core/matrix.hpp"

namespace plumb {

/// What is known of the original, and how its look-alike is drawn. Shape, entries and longest row are published;
/// the shortest row, run, group and band are estimates from the kind of problem. Between shortest and
/// longest, lengths follow the power of a uniform number that has the right mean: most rows of
/// regular meshes are near the longest, most rows of skewed matrices near the shortest.
struct LookalikeProfile {
  const char* name;
  const char* kind;
  std::int64_t rows, cols, nnz, max_row;
  bool
      symmetric;  // the original is; the look-alike's pattern is not, but it can be given as a lower triangle
  std::int64_t min_row;  // shortest row of the profile
  std::int64_t run;      // entries in consecutive columns: unknowns per node and neighbours along a mesh line
  std::int64_t group;  // consecutive rows with the same length and the same columns relative to the diagonal
  double band;         // half bandwidth as a share of the columns
};

/// The ten of the SpMV contest, and two with extreme rows: mip1 and webbase-1M.
[[nodiscard]] const std::vector<LookalikeProfile>& lookalike_profiles();
/// Throws Error with the nearest name when there is none.
[[nodiscard]] const LookalikeProfile& lookalike_profile(const std::string& name);

struct LookalikeOptions {
  double scale = 1;  // rows, columns and entries times this; row lengths stay. In (0, 1].
  bool lower =
      false;  // the stored lower triangle of a symmetric original: (nnz + rows) / 2 entries, columns <= row
  std::uint64_t seed = 1;
};

/// The look-alike: exactly round(rows * scale) x round(cols * scale) with round(nnz * scale) entries, at least one
/// row of exactly max_row entries (of the full matrix; (max_row + 1) / 2 for `lower`), distinct ascending
/// columns, a full diagonal where square. Values uniform in [-1, 1). T is float or double. Throws Error when
/// a scale is too small for the longest row.
template <class T>
[[nodiscard]] Csr<T> lookalike(const LookalikeProfile& of, const LookalikeOptions& options);

}  // namespace plumb
