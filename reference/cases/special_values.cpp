#include "reference/cases/special_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "reference/core/random.hpp"

namespace plumb {
namespace {

constexpr std::int64_t kTiles[] = {8, 16, 32, 64, 128};
constexpr std::int64_t kFew = 8;        // elements
constexpr std::int64_t kSpreading = 3;  // NaN and the infinities

// Numbers of one operand in one shape: shapes must differ in what meets what.
class OperandDraws {
 public:
  OperandDraws(std::uint64_t seed, std::uint64_t stream, std::int64_t rows, std::int64_t cols)
      : seed_(random_bits(seed, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols))),
        stream_(stream + 101) {}
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_below(seed_, stream_, next_++, static_cast<std::uint64_t>(n)));
  }

 private:
  std::uint64_t seed_, stream_, next_ = 0;
};

template <class T>
T value_of(Special special, bool negative, Format stored) {
  const FormatFacts& f = facts(stored);
  const double nan = std::numeric_limits<double>::quiet_NaN(), sign = negative ? -1.0 : 1.0,
               infinity = f.infinity ? std::numeric_limits<double>::infinity() : nan;
  const auto value = [&] {
    switch (special) {
      case Special::nan:
        return std::copysign(nan, sign);
      case Special::infinity:
        return infinity;
      case Special::minus_infinity:
        return -infinity;
      case Special::minus_zero:
        return -0.0;
      case Special::subnormal:
        return sign * f.eta;
      case Special::smallest_normal:
        return sign * f.smallest_normal;
      case Special::huge:
        return sign * std::ldexp(1.0, huge_exponent(stored));
    }
    return 0.0;
  };
  return static_cast<T>(value());
}

struct Place {
  std::int64_t i, j;
  friend bool operator==(const Place&, const Place&) = default;
};

// The first row or column behind the last whole tile of one of the sizes; -1 where all sizes divide `extent` or exceed it.
std::int64_t tail_of(std::int64_t extent, OperandDraws& draws) {
  std::array<std::int64_t, std::size(kTiles)> starts{};
  std::int64_t count = 0;
  for (const std::int64_t tile : kTiles) {
    if (extent > tile && extent % tile != 0) starts[static_cast<std::size_t>(count++)] = extent / tile * tile;
  }
  return count == 0 ? -1 : starts[static_cast<std::size_t>(draws.below(count))];
}

std::int64_t edge_of(std::int64_t extent, OperandDraws& draws) {
  const auto sizes =
      std::count_if(std::begin(kTiles), std::end(kTiles), [&](std::int64_t tile) { return tile < extent; });
  return sizes == 0 ? -1 : kTiles[draws.below(sizes)] - draws.below(2);
}

std::optional<Place> draw_place(Position position, std::int64_t rows, std::int64_t cols,
                                OperandDraws& draws) {
  Place place{draws.below(rows), draws.below(cols)};
  switch (position) {
    case Position::first:
      place = {0, 0};
      break;
    case Position::last:
      place = {rows - 1, cols - 1};
      break;
    case Position::row_start:
      place.j = 0;
      break;
    case Position::row_end:
      place.j = cols - 1;
      break;
    case Position::column_tail:
      place.j = tail_of(cols, draws);
      break;
    case Position::row_tail:
      place.i = tail_of(rows, draws);
      break;
    case Position::tile_edge:
      place.j = edge_of(cols, draws);
      break;
    case Position::interior:
      place = {rows > 2 ? 1 + draws.below(rows - 2) : -1, cols > 2 ? 1 + draws.below(cols - 2) : -1};
      break;
  }
  if (place.i < 0 || place.j < 0) return std::nullopt;
  return place;
}

// How many NaN and infinities an operand takes: each spoils a line of the product, and most lines must stay finite.
std::int64_t spreading_values(std::int64_t rows, std::int64_t cols, Role role, OperandDraws& draws) {
  const std::int64_t lines = role == Role::left ? rows : cols;
  if (role == Role::addend) return rows * cols;  // each spoils one element
  if (lines >= 32) return std::min<std::int64_t>(lines / 8, 6);
  return draws.below(4) == 0 ? 0 : std::max<std::int64_t>(lines / 8, 1);
}

// The row of a left operand that is all zeros: in the first half, where no class of positions is at home, so that each has its values.
// -1 where there are too few rows.
std::int64_t row_of_zeros(std::int64_t rows, Role role, OperandDraws draws) {
  constexpr std::int64_t kLeast = 8;
  return role == Role::left && rows >= kLeast ? 1 + draws.below(rows / 2 - 1) : -1;
}

std::int64_t longest_row_of(const std::vector<std::int32_t>& row_ptr, std::int64_t rows) {
  std::int64_t longest = 0;
  for (std::int64_t i = 1; i < rows; ++i) {
    if (row_ptr[i + 1] - row_ptr[i] > row_ptr[longest + 1] - row_ptr[longest]) longest = i;
  }
  return longest;
}

}  // namespace

std::string_view name(Special special) {
  static constexpr std::string_view kNames[] = {"NaN",       "infinity",        "-infinity", "-0",
                                                "subnormal", "smallest normal", "huge"};
  return kNames[static_cast<std::size_t>(special)];
}

template <class T>
std::optional<Special> special_of(T value, Format stored) {
  const FormatFacts& f = facts(stored);
  const double size = std::fabs(static_cast<double>(value));
  if (std::isnan(value)) return Special::nan;
  if (std::isinf(value)) return value > 0 ? Special::infinity : Special::minus_infinity;
  if (value == 0) return std::signbit(value) ? std::optional(Special::minus_zero) : std::nullopt;
  if (size < f.smallest_normal) return Special::subnormal;
  if (size == f.smallest_normal) return Special::smallest_normal;
  if (size >= std::ldexp(1.0, std::min(90, huge_exponent(stored)))) return Special::huge;
  return std::nullopt;
}

int huge_exponent(Format stored) {
  const int most = facts(stored).max_exponent;
  return std::max(most - 27, most / 2);
}

std::string_view name(Position position) {
  static constexpr std::string_view kNames[] = {"first",       "last",     "row start", "row end",
                                                "column tail", "row tail", "tile edge", "interior"};
  return kNames[static_cast<std::size_t>(position)];
}

bool stands_at(Position position, std::int64_t i, std::int64_t j, std::int64_t rows, std::int64_t cols) {
  const auto in_tail = [](std::int64_t at, std::int64_t extent) {
    return std::any_of(std::begin(kTiles), std::end(kTiles), [&](std::int64_t tile) {
      return extent > tile && extent % tile != 0 && at >= extent / tile * tile;
    });
  };
  switch (position) {
    case Position::first:
      return i == 0 && j == 0;
    case Position::last:
      return i == rows - 1 && j == cols - 1;
    case Position::row_start:
      return j == 0;
    case Position::row_end:
      return j == cols - 1;
    case Position::column_tail:
      return in_tail(j, cols);
    case Position::row_tail:
      return in_tail(i, rows);
    case Position::tile_edge:
      return std::any_of(std::begin(kTiles), std::end(kTiles),
                         [&](std::int64_t tile) { return tile < cols && (j == tile || j == tile - 1); });
    case Position::interior:
      return i > 0 && i < rows - 1 && j > 0 && j < cols - 1;
  }
  return false;
}

template <class T>
void place_specials(T* data, std::int64_t rows, std::int64_t cols, Role role, std::uint64_t seed,
                    std::uint64_t stream, Format stored) {
  const std::int64_t elements = rows * cols;
  if (elements == 0) return;
  OperandDraws draws(seed, stream, rows, cols);
  const std::int64_t kinds = role == Role::left ? kSpecials : kSpecials - 1;
  const auto put = [&](const Place& place, std::int64_t first,
                       std::int64_t last) {  // a kind of [first, last)
    data[place.i * cols + place.j] =
        value_of<T>(static_cast<Special>(first + draws.below(last - first)), draws.below(2) == 1, stored);
  };
  if (rows > 3 && role == Role::left)
    std::fill_n(data + draws.below(rows) * cols, cols, value_of<T>(Special::infinity, false, stored));
  const std::int64_t zeros = row_of_zeros(rows, role, OperandDraws(seed, stream + 1, rows, cols));
  for (std::int64_t n = elements / 97; n > 0; --n)
    put({draws.below(rows), draws.below(cols)}, kSpreading, kinds);
  if (zeros >= 0) std::fill_n(data + zeros * cols, cols, T(0));

  // each class of position has its turn to be the first: few values fit into a small operand. The first time round, the seed decides
  // which kind each of them meets: as many seeds as there are kinds meet all of them.
  std::int64_t room = std::max<std::int64_t>(1, elements / 8),
               spreading = spreading_values(rows, cols, role, draws);
  constexpr auto kAll = static_cast<std::int64_t>(kPositions);
  const auto shift = static_cast<std::int64_t>(seed % 1000);
  const std::int64_t turn = (rows + cols + static_cast<std::int64_t>(stream) + shift / kinds) % kAll;
  std::vector<Place> taken;
  for (std::int64_t n = 0; n < 3 * kAll && room > 0; ++n) {
    const std::int64_t at = (turn + n) % kAll;
    const auto place = draw_place(static_cast<Position>(at), rows, cols, draws);
    if (!place || place->i == zeros || std::find(taken.begin(), taken.end(), *place) != taken.end()) continue;
    taken.push_back(*place);
    const std::int64_t kind = n < kAll ? (at + shift) % kinds : draws.below(kinds);
    if (elements < kFew) {  // a tiny value would make all of an answer tiny, and no error of it would be seen
      put(*place, 0, static_cast<std::int64_t>(Special::minus_zero) + 1);
    } else if (kind >= kSpreading || --spreading >= 0) {
      put(*place, kind, kind + 1);
    } else {
      put(*place, kSpreading, kinds);
    }
    --room;
  }
}

template <class T>
void place_row_specials(Csr<T>& a, std::uint64_t seed, std::uint64_t stream, Format stored) {
  if (a.nnz() == 0) return;
  OperandDraws draws(seed, stream, a.rows, a.nnz());
  std::vector<std::int32_t> taken;
  // as many seeds as there are kinds give each class all of them
  const auto put = [&](std::uint64_t row_class, std::int32_t entry) {
    if (std::find(taken.begin(), taken.end(), entry) != taken.end()) return false;
    taken.push_back(entry);
    a.val[entry] =
        value_of<T>(static_cast<Special>((seed + row_class) % kSpecials), draws.below(2) == 1, stored);
    return true;
  };
  const std::int64_t longest = longest_row_of(a.row_ptr, a.rows);
  const std::int32_t begin = a.row_ptr[longest], end = a.row_ptr[longest + 1];
  put(0, begin);
  put(1, end - 1);
  put(2, begin + (end - begin - 1) / 32 * 32);
  bool single = false, behind_empty = false;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int32_t first = a.row_ptr[i], length = a.row_ptr[i + 1] - first;
    if (length == 1 && !single) single = put(3, first);
    if (i > 0 && length > 0 && first == a.row_ptr[i - 1] && !behind_empty) behind_empty = put(4, first);
  }
  put(5, static_cast<std::int32_t>(a.nnz()) - 1);
  for (const std::int64_t column : {std::int64_t{0}, a.cols - 1}) {
    const std::int64_t start = draws.below(a.nnz());
    for (std::int64_t n = 0; n < a.nnz(); ++n) {
      const auto entry = static_cast<std::int32_t>((start + n) % a.nnz());
      if (a.col[entry] != column || std::find(taken.begin(), taken.end(), entry) != taken.end()) continue;
      a.val[entry] = 0;
      break;
    }
  }
}

template <class T>
void place_addend_specials(T* addend, const Csr<T>& a, std::uint64_t seed, std::uint64_t stream,
                           Format stored) {
  if (a.rows < kFew) return;
  OperandDraws draws(seed, stream, a.rows, a.nnz());
  std::size_t kind = seed % 1000;
  const auto put = [&](std::int64_t row) {
    addend[row] = value_of<T>(static_cast<Special>(kind++ % kSpecials), draws.below(2) == 1, stored);
  };
  put(longest_row_of(a.row_ptr, a.rows));
  for (std::int64_t i = draws.below(a.rows), n = 0; n < a.rows; ++n, i = (i + 1) % a.rows) {
    if (a.row_ptr[i] != a.row_ptr[i + 1]) continue;
    put(i);
    return;
  }
}

#define PLUMB_INSTANTIATE(T)                                                                          \
  template std::optional<Special> special_of<T>(T, Format);                                           \
  template void place_specials<T>(T*, std::int64_t, std::int64_t, Role, std::uint64_t, std::uint64_t, \
                                  Format);                                                            \
  template void place_row_specials<T>(Csr<T>&, std::uint64_t, std::uint64_t, Format);                 \
  template void place_addend_specials<T>(T*, const Csr<T>&, std::uint64_t, std::uint64_t, Format);
PLUMB_INSTANTIATE(float)
PLUMB_INSTANTIATE(double)
#undef PLUMB_INSTANTIATE

}  // namespace plumb
