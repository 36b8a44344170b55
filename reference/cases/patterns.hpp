// Where the entries of a generated sparse matrix are. Cases of verify and `dataset generate pattern` draw from these.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

/// A pattern by name, its size, and the draw.
///   uniform    every entry alike;                 banded     columns next to the diagonal
///   powerlaw   few long rows, many short ones;    giant      one row holds every column, the others as uniform
///   empty      every third row and the first half hold nothing, the others twice as much
///   unsorted   columns unsorted and repeated;     diagonal   one entry per row
///   stencil    five points of a square grid;      arrow      row 0, column 0 and the diagonal
///   two        as giant, the first row and the last one long
///   last       as giant, the long row last;      ends       the first and the last third of rows hold nothing, the others three times as much
///   repeat_first, repeat_middle, repeat_last   as banded, and one row, of four entries at least, has a column twice: at its
///              beginning, in its middle, at its end
///   pairs      lengths as uniform has them; every column of a row but the first is there twice, on both sides of an even place
///   uneven     as many entries as rows times the length of the first one, and rows of other lengths: one more, one less; the last one
///              has the first one's. At density 1 rows have one more than there are columns, the last column twice
///   fixed      one entry a row: a permutation of a square that leaves the first row, the middle one, the last one and every eighth in its place
///   chosen     one entry a row, on the diagonal in those rows; other rows share columns
///   sampled    those rows are banded and of one length, the others as unsorted has them
///   rmat       R-MAT of the Graph500: skewed rows and columns, density * rows * cols draws less the repeated
/// diagonal, stencil and arrow take their places from the sizes; density is then not looked at.
struct Pattern {
  std::string name = "uniform";
  std::int64_t rows = 0, cols = 0;
  double density = 0;  // entries / (rows * cols), about
  std::uint64_t seed = 1;
  std::uint64_t stream = 0;  // several matrices of one seed differ by it; 20..24 above it are used too
};

/// Row pointers and columns, as in a CSR matrix without values.
struct Places {
  std::vector<std::int32_t> row_ptr{0};  // (rows + 1)
  std::vector<std::int32_t> col;         // (entries)
};

[[nodiscard]] const std::vector<std::string>& pattern_names();

/// Throws Error `WHAT: unknown pattern 'X'...` with the nearest name. `what` names the caller.
void require_pattern(const std::string& name, const std::string& what);

/// The places. The same on every machine; bits never change, since stored case ids mean them.
/// Errors: an unknown pattern, sizes above int32, a density outside [0, 1], more than 2^31 - 1 entries.
[[nodiscard]] Places place(const Pattern& pattern, const std::string& what);

}  // namespace plumb
