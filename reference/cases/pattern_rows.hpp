// Shapes that the patterns of cases and the generators of datasets share, row by row: where the entries of one row are.
// Header only: each is called once per row or per draw.
#pragma once
#include <algorithm>
#include <cstdint>

namespace plumb {

/// A grid whose lines hold `line` points and whose planes hold `plane`; `points` in all, of which the last line may lack some.
/// Point (x, y, z) has the number z * plane + y * line + x. A grid of two dimensions is one plane.
struct Grid {
  std::int64_t line, plane, points;
};

/// Calls take(j) for point i of the grid and its neighbours along each dimension, ascending.
template <class Take>
void each_neighbour(const Grid& grid, std::int64_t i, Take&& take) {
  const std::int64_t in_plane = i % grid.plane, x = in_plane % grid.line;
  if (i >= grid.plane) take(i - grid.plane);
  if (in_plane >= grid.line) take(i - grid.line);
  if (x > 0) take(i - 1);
  take(i);
  if (x + 1 < grid.line && i + 1 < grid.points) take(i + 1);
  if (in_plane + grid.line < grid.plane && i + grid.line < grid.points) take(i + grid.line);
  if (i + grid.plane < grid.points) take(i + grid.plane);
}

/// Calls take(j) for the entries of row i of an arrow, ascending: `width` full rows and columns, and the diagonal.
template <class Take>
void each_of_arrow(std::int64_t cols, std::int64_t width, std::int64_t i, Take&& take) {
  const std::int64_t full = i < width ? cols : std::min(width, cols);
  for (std::int64_t j = 0; j < full; ++j) take(j);
  if (i >= full && i < cols) take(i);
}

/// R-MAT (Chakrabarti, Zhan and Faloutsos, SDM 2004): the limits of a draw up to which a place lies in the upper left, the upper
/// right and the lower left quadrant.
struct RmatLimits {
  std::uint64_t upper_left, upper_right, lower_left;

  /// One level down: the bit that `draw` appends to the row and to the column.
  void descend(std::uint64_t draw, std::uint64_t& row, std::uint64_t& col) const {
    row = row << 1 | (draw >= upper_right ? 1U : 0U);
    col = col << 1 | ((draw >= upper_left && draw < upper_right) || draw >= lower_left ? 1U : 0U);
  }
};

}  // namespace plumb
