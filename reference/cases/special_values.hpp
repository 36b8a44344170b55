// The special values of fill `hostile`, and the classes of positions at which they are placed. Implementations branch on positions (the
// tail of a tile, the last element of a row), and each branch can treat NaN, infinities, -0 or subnormals in its own way: every special
// value must meet every class of position in some case.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "reference/cases/fills.hpp"
#include "reference/core/csr.hpp"

namespace plumb {

/// As the format in which they are stored has them: one without infinities has NaN in their place. `huge` is 2^100 in fp32 and 2^996 in fp64, so
/// that sums of 2^27 of them stay finite; in formats of less range, whose sums are fp32's, the root of the largest. NaN and the last three have
/// both signs.
enum class Special : std::uint8_t {
  nan,
  infinity,
  minus_infinity,
  minus_zero,
  subnormal,
  smallest_normal,
  huge
};
inline constexpr std::size_t kSpecials = 7;
[[nodiscard]] std::string_view name(Special);
/// Which of them `value` is; nothing for a usual value. Any finite value of 2^90, or of `huge`, or more counts as that.
template <class T>
[[nodiscard]] std::optional<Special> special_of(T value, Format stored = kFormat<T>);

/// `huge` is 2 to this power.
[[nodiscard]] int huge_exponent(Format stored);

/// Classes of positions in a (rows, cols) matrix. One element may stand in several.
enum class Position : std::uint8_t {
  first,        // element (0, 0)
  last,         // element (rows - 1, cols - 1)
  row_start,    // column 0
  row_end,      // column cols - 1, beside the padding of the row
  column_tail,  // behind the last whole tile of 8, 16, 32, 64 or 128 columns
  row_tail,     // behind the last whole tile of as many rows
  tile_edge,    // the last column of a first tile, or the first column of a second one
  interior      // neither in the first nor in the last row, nor in the first or the last column
};
inline constexpr std::size_t kPositions = 8;
[[nodiscard]] std::string_view name(Position);
[[nodiscard]] bool stands_at(Position, std::int64_t i, std::int64_t j, std::int64_t rows, std::int64_t cols);

/// Puts special values into `data` (rows, cols), ld == cols: up to three at each class of position that the shape has, at most one eighth
/// of all elements, and finite ones at one place in 97. One row of a left operand of more than three rows is all infinities, and one of
/// eight rows or more all zeros: its products with NaN and infinities are NaN. NaN and
/// infinities spread over rows and columns of a product: few of them, and none in a quarter of the operands of less than 32 such lines, so
/// that the finite ones are judged too. Role::left alone has huge values: a product of two would overflow.
template <class T>
void place_specials(T* data, std::int64_t rows, std::int64_t cols, Role role, std::uint64_t seed,
                    std::uint64_t stream, Format stored = kFormat<T>);
template <class T>
void place_specials(T* data, std::int64_t rows, std::int64_t cols, const Case& c, Role role,
                    std::uint64_t stream) {
  place_specials(data, rows, cols, role, c.seed, stream, stored_format(c, role));
}

/// Puts special values into the values of `a` by classes of rows: the first, the last and the tail entries of the longest row, the entry
/// of a row of one, the first entry behind an empty row, and the last of all. One entry of the first and one of the last column become
/// explicit zeros: make() puts NaN and infinity into those columns of the other operand, and 0 times either is NaN.
template <class T>
void place_row_specials(Csr<T>& a, std::uint64_t seed, std::uint64_t stream, Format stored = kFormat<T>);

/// Puts special values into the addend (a.rows) of a sparse product: at a row that is empty in `a`, and at its longest one;
/// nothing where there are less than 8 rows.
template <class T>
void place_addend_specials(T* addend, const Csr<T>& a, std::uint64_t seed, std::uint64_t stream,
                           Format stored = kFormat<T>);

}  // namespace plumb
