// Fills operands. Shared by every operator's make(), so that "exact" or "hostile" means the same everywhere.
#pragma once
#include <cstdint>

#include "reference/cases/case_id.hpp"
#include "reference/core/format.hpp"

namespace plumb {

/// Which side of a product an operand stands on: fills treat the two sides differently (wide, index, scaled, hostile).
enum class Role : std::uint8_t { left, right, addend };

/// Fills `data` (rows, cols), ld == cols, with f(fill, role, seed, stream, element). `stream` tells operands of one case apart.
/// Sparse operands draw smaller integers for exact and wide in rows so long that their sums would not be exact.
///   exact     integers in [-8, 8], so that sums of up to 262,144 products are exact in fp32
///   wide      left: odd integers of 13 bits, or of all that the format has; right and addend: -1, 0, 1
///   index     left: one 1 per row, else 0; right: 1 + position code, below 2^23 and exact in the format; addend: 0
///   real      uniform (-1, 1);  positive  uniform (0, 1)
///   scaled    real times 2^e, e in [-12, 12] drawn per row (left, addend) or per column (right); and times 2^f (left) and 2^-f (right),
///             f in [-6, 6] drawn per term of a sum: per column of the left operand and row of the right one; e and f less where the
///             format's range is small
///   hostile   real, with special values at each class of position (special_values.hpp)
///   few       the values of FewValues, line by line: a row (left, addend) or a column (right)
///   own       as real; the sparse operand keeps its file's values (make_sparse)
/// `stored`: the format in which the operand reaches a variant; T holds its numbers. Ranges follow from it.
template <class T>
void fill_values(T* data, std::int64_t rows, std::int64_t cols, Fill fill, Role role, std::uint64_t seed,
                 std::uint64_t stream, Format stored = kFormat<T>);
/// The format in which an operand of this role reaches the variants of a case: an addend is what an output holds before.
[[nodiscard]] inline Format stored_format(const Case& c, Role role) {
  return role == Role::addend ? facts(c.dtype).out : facts(c.dtype).in;
}
template <class T>
void fill_values(T* data, std::int64_t rows, std::int64_t cols, const Case& c, Role role,
                 std::uint64_t stream) {
  fill_values(data, rows, cols, c.fill, role, c.seed, stream, stored_format(c, role));
}

/// Exponents of the fill scaled: of a line, drawn from `stream`, and of a term, which has the same in every operand of a case.
[[nodiscard]] int exponent_of_line(std::uint64_t seed, std::uint64_t stream, std::int64_t line,
                                   Format stored);
[[nodiscard]] int exponent_of_term(std::uint64_t seed, std::int64_t term, Format stored);

/// Few different values, so that terms of a sum are equal, and so are their roundings. The seed decides how many values there are, whether
/// all lines share them (then they stand mixed) or each line has its own, mixed or in runs, down to one value for a line, and their sign.
/// Three of four values have that sign: long sums of them do not cancel, and an answer of zeros shows.
class FewValues {
 public:
  FewValues(std::uint64_t seed, std::uint64_t stream);
  /// The value at `place` of a line of `length` elements.
  [[nodiscard]] double at(std::int64_t line, std::int64_t place, std::int64_t length) const;

 private:
  std::uint64_t seed_, stream_, most_;  // most_: values of one line
  bool shared_, runs_, negative_;
};

/// Makes all `count` values equal: weights that are none, as of a graph without weights or a box filter. What takes them out of the sum, or
/// moves from one sum to the next, errs by the size of what it takes out.
template <class T>
void make_equal(T* data, std::int64_t count);

/// Makes the first half of `count` values whole: what narrower types hold, other than what follows. A kernel that asks the first values for
/// all is told wrongly.
template <class T>
void make_first_half_whole(T* data, std::int64_t count);

/// Makes `count` terms of a sum cancel each other, but for the last one or two: the second half holds the first one's negatives in another
/// order, as numbers of `stored`. Where the last ones sum to 0, one takes a value of the others. Sums of parts are then far greater than the
/// sum, and what is kept of them in a narrower type than is declared shows.
template <class T>
void make_cancelling(T* terms, std::int64_t count, Format stored);

/// Scales `count` values of (-1, 1) into the subnormal range of `stored`: by 2^-6 times the smallest normal number, so that a sum
/// of up to 64 of them is subnormal; by less where the format has less than 9 digits, so that few become 0. What then computes with subnormals flushed to 0 loses all of its answer.
template <class T>
void make_subnormal(T* data, std::int64_t count, Format stored = kFormat<T>);

}  // namespace plumb
