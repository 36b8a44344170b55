#include "reference/cases/patterns.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/cases/pattern_rows.hpp"
#include "reference/core/error.hpp"
#include "reference/core/random.hpp"
#include "reference/core/text.hpp"

namespace plumb {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

// Takes the entries row by row.
class Builder {
 public:
  Builder(Places& to, const std::string& what) : to_(to), what_(what) {}
  void add(std::int64_t col) { to_.col.push_back(static_cast<std::int32_t>(col)); }
  void end_row() {
    require_room(static_cast<std::int64_t>(to_.col.size()));
    to_.row_ptr.push_back(static_cast<std::int32_t>(to_.col.size()));
  }
  void require_room(std::int64_t entries) const {
    if (entries > kMost)
      throw Error(fmt::format("{}: more than 2^31 - 1 entries do not fit int32 offsets", what_));
  }

 private:
  Places& to_;
  const std::string& what_;
};

// `count` distinct columns of [0, cols), ascending. Floyd's sampling for short rows, a shuffle-free sweep for dense ones.
void sample_columns(std::vector<std::int32_t>& out, std::int64_t cols, std::int64_t count, std::uint64_t seed,
                    std::uint64_t stream, std::uint64_t row) {
  const auto start = static_cast<std::ptrdiff_t>(out.size());
  const std::uint64_t base = row * 0x100000000u;
  if (count * 3 >= cols) {
    std::int64_t wanted = count;
    for (std::int64_t j = 0; j < cols && wanted > 0; ++j) {
      const auto left = static_cast<std::uint64_t>(cols - j);
      if (random_below(seed, stream, base + static_cast<std::uint64_t>(j), left) <
          static_cast<std::uint64_t>(wanted)) {
        out.push_back(static_cast<std::int32_t>(j));
        --wanted;
      }
    }
    return;
  }
  constexpr std::int64_t kSearched = 32;  // up to here looking through the row beats a hash set
  std::unordered_set<std::int32_t> taken;
  for (std::int64_t j = cols - count; j < cols; ++j) {
    const auto pick = static_cast<std::int32_t>(
        random_below(seed, stream, base + static_cast<std::uint64_t>(j), static_cast<std::uint64_t>(j + 1)));
    const bool fresh = count <= kSearched ? std::find(out.begin() + start, out.end(), pick) == out.end()
                                          : taken.insert(pick).second;
    out.push_back(fresh ? pick : static_cast<std::int32_t>(j));
    if (!fresh && count > kSearched) taken.insert(static_cast<std::int32_t>(j));
  }
  std::sort(out.begin() + start, out.end());
}

// Of rows in threes behind the first one, one has an entry more, one an entry less: what lengths alone could say is wrong of each.
std::int64_t uneven_length(const Pattern& p, std::int64_t i, double mean) {
  if (p.cols == 0) return 0;
  const std::int64_t usual = std::max<std::int64_t>(1, std::llround(mean)), place = (i + 2) % 3;
  const bool whole = i > 0 && i - place + 2 < p.rows;
  return usual + (whole && place == 0 ? 1 : 0) - (whole && place == 1 ? 1 : 0);
}

// Rows that who samples looks at: the first one, the middle one, the last one and every eighth.
bool is_sampled(const Pattern& p, std::int64_t i) { return i % 8 == 0 || i == p.rows / 2 || i + 1 == p.rows; }

// The column of the one entry of a row. `fixed`: sampled rows have the diagonal's, the others each the next other one's, so that all together
// are a permutation of a square. `chosen`: sampled rows have the diagonal's, and others share columns.
std::int64_t column_of_one(const Pattern& p, std::int64_t i) {
  const std::int64_t size = std::min(p.rows, p.cols);
  if (i >= size) return p.cols - 1;
  if (is_sampled(p, i) || p.name == "diagonal") return i;
  if (p.name == "chosen") return i / 2;
  std::int64_t next = i;
  do { next = next + 1 < size ? next + 1 : 0; } while (is_sampled(p, next));
  return next;
}

bool has_one_entry_a_row(const Pattern& p) { return p.name == "fixed" || p.name == "chosen"; }

// Entries of row i, for the patterns that draw them row by row.
std::int64_t row_length(const Pattern& p, std::int64_t i) {
  const std::string& pattern = p.name;
  const double mean = p.density * static_cast<double>(p.cols);
  if (pattern == "uneven") return uneven_length(p, i, mean);
  if (has_one_entry_a_row(p)) return p.cols > 0 ? 1 : 0;
  if (pattern == "sampled" && is_sampled(p, i)) return std::min<std::int64_t>(p.cols, std::llround(mean));
  const std::uint64_t stream = p.stream + 20;
  const auto row = static_cast<std::uint64_t>(i);
  const double r = random_unit(p.seed, stream, row);
  double length = 0;
  if (pattern == "diagonal") {
    length = i < p.cols ? 1 : 0;
  } else if (pattern == "powerlaw") {
    length = 0.5 * mean / std::sqrt(1 - r);  // Pareto with exponent 2: mean `mean`, unbounded variance
  } else if (pattern == "empty") {
    length = i < p.rows / 2 || i % 3 == 0 ? 0 : 2 * mean * (0.5 + r);
  } else if (pattern == "ends") {
    length = i < p.rows / 3 || i >= p.rows - p.rows / 3 ? 0 : 3 * mean * (0.5 + r);
  } else if ((pattern == "giant" && i == p.rows / 2) || (pattern == "last" && i + 1 == p.rows) ||
             (pattern == "two" && (i == 0 || i + 1 == p.rows))) {
    length = static_cast<double>(p.cols);
  } else {
    length = mean * (0.5 + r);
  }
  const double whole = std::floor(length);
  const bool up =
      random_unit(p.seed, stream + 1, row) < length - whole;  // keeps the mean for lengths below 1
  return std::min<std::int64_t>(p.cols, static_cast<std::int64_t>(whole) + (up ? 1 : 0));
}

// The five-point stencil on a grid of floor(sqrt(rows)) points a line.
void place_stencil(const Pattern& p, Builder& a) {
  const auto line =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(std::sqrt(static_cast<double>(p.rows))));
  for (std::int64_t i = 0; i < p.rows; ++i) {
    each_neighbour({line, p.rows, p.rows}, i, [&](std::int64_t j) {
      const bool left_out =
          line == 1 && j < i;  // stored case ids mean two and three rows without these entries
      if (j < p.cols && !left_out) a.add(j);
    });
    a.end_row();
  }
}

// Row 0 holds every column; the others column 0 and the diagonal.
void place_arrow(const Pattern& p, Builder& a) {
  for (std::int64_t i = 0; i < p.rows; ++i) {
    each_of_arrow(p.cols, 1, i, [&](std::int64_t j) { a.add(j); });
    a.end_row();
  }
}

// R-MAT with the Graph500's 0.57, 0.19, 0.19, 0.05: density * rows * cols
// draws; places outside a size that is not a power of two are drawn again, repeated ones are dropped.
void place_rmat(const Pattern& p, Builder& a) {
  const auto wanted =
      static_cast<std::int64_t>(p.density * static_cast<double>(p.rows) * static_cast<double>(p.cols));
  a.require_room(wanted);
  const auto levels_of = [](std::int64_t size) {
    int levels = 0;
    while ((std::int64_t{1} << levels) < size) ++levels;
    return levels;
  };
  const int row_levels = levels_of(p.rows), col_levels = levels_of(p.cols),
            levels = std::max(row_levels, col_levels);
  std::vector<std::uint64_t> places(static_cast<std::size_t>(wanted));  // row * 2^32 + col
  std::uint64_t draw = 0;
  constexpr RmatLimits kLimits{37355, 49807, 62259};  // of 65536: 0.57, 0.76, 0.95
  for (std::uint64_t& place : places) {
    std::uint64_t row = 0, col = 0;
    do {
      row = col = 0;
      std::uint64_t bits = 0;
      for (int level = 0; level < levels; ++level) {
        if (level % 4 == 0) bits = random_bits(p.seed, p.stream + 24, draw++);
        kLimits.descend(bits & 0xffff, row, col);
        bits >>= 16;
      }
      row >>= levels - row_levels,
          col >>= levels - col_levels;  // the shorter side takes its first levels only
    } while (row >= static_cast<std::uint64_t>(p.rows) || col >= static_cast<std::uint64_t>(p.cols));
    place = row << 32 | col;
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::size_t at = 0;
  for (std::int64_t i = 0; i < p.rows; ++i) {
    for (; at < places.size() && places[at] >> 32 == static_cast<std::uint64_t>(i); ++at) {
      a.add(static_cast<std::int64_t>(places[at] & 0xffffffffu));
    }
    a.end_row();
  }
}

bool repeats_one_column(const Pattern& p) { return p.name.rfind("repeat_", 0) == 0; }

// In the first row from the middle on that is long enough for first, middle and last to be three places.
void repeat_one_column(const Pattern& p, Places& to) {
  for (auto i = static_cast<std::size_t>(p.rows / 2); i < static_cast<std::size_t>(p.rows); ++i) {
    const std::int32_t begin = to.row_ptr[i], length = to.row_ptr[i + 1] - begin;
    if (length < 4) continue;
    const std::int32_t second = p.name == "repeat_first"  ? 1
                                : p.name == "repeat_last" ? length - 1
                                                          : length / 2;
    const auto at = static_cast<std::size_t>(begin) + static_cast<std::size_t>(second);
    to.col[at] = to.col[at - 1];
    return;
  }
}

// Columns of one row of `length` entries.
void place_row(const Pattern& p, std::int64_t i, std::int64_t length, std::vector<std::int32_t>& col) {
  const auto row = static_cast<std::uint64_t>(i);
  if (p.name == "diagonal" || has_one_entry_a_row(p)) {
    if (length > 0) col.push_back(static_cast<std::int32_t>(column_of_one(p, i)));
  } else if (p.name == "banded" || repeats_one_column(p) || (p.name == "sampled" && is_sampled(p, i))) {
    const auto middle = static_cast<std::int64_t>(static_cast<double>(i) * static_cast<double>(p.cols) /
                                                  static_cast<double>(p.rows));
    const std::int64_t first = std::clamp<std::int64_t>(middle - length / 2, 0, p.cols - length);
    for (std::int64_t k = 0; k < length; ++k) col.push_back(static_cast<std::int32_t>(first + k));
  } else if (p.name == "unsorted" || p.name == "sampled") {
    for (std::int64_t k = 0; k < length; ++k) {
      col.push_back(static_cast<std::int32_t>(random_below(p.seed, p.stream + 22,
                                                           row * 0x100000000u + static_cast<std::uint64_t>(k),
                                                           static_cast<std::uint64_t>(p.cols))));
    }
    if (length > 1) col.back() = col[col.size() - 2];  // at least one repeated column per row
  } else if (p.name == "pairs") {
    std::vector<std::int32_t> once;
    sample_columns(once, p.cols, std::min(length / 2 + 1, p.cols), p.seed, p.stream + 22, row);
    for (std::int64_t k = 0; k < length; ++k) col.push_back(once[static_cast<std::size_t>((k + 1) / 2)]);
  } else {
    sample_columns(col, p.cols, std::min(length, p.cols), p.seed, p.stream + 22, row);
    if (length > p.cols) col.push_back(col.back());
  }
}

void place_by_row(const Pattern& p, Places& to, const Builder& builder) {
  to.row_ptr.assign(static_cast<std::size_t>(p.rows) + 1, 0);
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < p.rows; ++i) {
    total += row_length(p, i);
    builder.require_room(total);
    to.row_ptr[static_cast<std::size_t>(i) + 1] = static_cast<std::int32_t>(total);
  }
  to.col.reserve(static_cast<std::size_t>(total));
  for (std::int64_t i = 0; i < p.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    place_row(p, i, to.row_ptr[row + 1] - to.row_ptr[row], to.col);
  }
  if (repeats_one_column(p)) repeat_one_column(p, to);
}

}  // namespace

const std::vector<std::string>& pattern_names() {
  static const std::vector<std::string> kNames = {
      "uniform",      "banded",        "powerlaw",    "giant", "empty", "unsorted", "diagonal",
      "stencil",      "arrow",         "rmat",        "last",  "ends",  "two",      "uneven",
      "repeat_first", "repeat_middle", "repeat_last", "pairs", "fixed", "chosen",   "sampled"};
  return kNames;
}

void require_pattern(const std::string& name, const std::string& what) {
  const auto& known = pattern_names();
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  throw Error(fmt::format("{}: unknown pattern '{}'{} (known: {})", what, name, did_you_mean(name, known),
                          fmt::join(known, ", ")));
}

Places place(const Pattern& p, const std::string& what) {
  require_pattern(p.name, what);
  if (p.density < 0 || p.density > 1) throw Error(fmt::format("{}: density is not in [0, 1]", what));
  if (p.rows >= kMost || p.cols >= kMost) throw Error(fmt::format("{}: rows and cols must fit int32", what));
  Places to;
  Builder builder(to, what);
  if (p.name == "stencil") {
    place_stencil(p, builder);
  } else if (p.name == "arrow") {
    place_arrow(p, builder);
  } else if (p.name == "rmat") {
    place_rmat(p, builder);
  } else {
    place_by_row(p, to, builder);
  }
  return to;
}

}  // namespace plumb
