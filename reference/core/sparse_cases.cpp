#include "reference/core/sparse_cases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/fills.hpp"
#include "reference/core/random.hpp"
#include "reference/core/text.hpp"

namespace plumb {
namespace {

std::function<Csr<double>(const std::string&)>& reader() {
  static std::function<Csr<double>(const std::string&)> f;
  return f;
}

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

std::int64_t row_length(const std::string& pattern, std::int64_t i, std::int64_t rows, std::int64_t cols,
                        double mean, std::uint64_t seed, std::uint64_t stream) {
  const auto row = static_cast<std::uint64_t>(i);
  const double r = random_unit(seed, stream, row);
  double length = 0;
  if (pattern == "diagonal") {
    length = i < cols ? 1 : 0;
  } else if (pattern == "powerlaw") {
    length = 0.5 * mean / std::sqrt(1 - r);  // Pareto with exponent 2: mean `mean`, unbounded variance
  } else if (pattern == "empty") {
    length = i < rows / 2 || i % 3 == 0 ? 0 : 2 * mean * (0.5 + r);
  } else if (pattern == "giant" && i == rows / 2) {
    length = static_cast<double>(cols);
  } else {
    length = mean * (0.5 + r);
  }
  const double whole = std::floor(length);
  const bool up = random_unit(seed, stream + 1, row) < length - whole;  // keeps the mean for lengths below 1
  return std::min<std::int64_t>(cols, static_cast<std::int64_t>(whole) + (up ? 1 : 0));
}

// The patterns whose places follow from the sizes alone, or are drawn entry by entry: row_ptr and col at once.

void add_row_end(const Case& c, std::vector<std::int32_t>& row_ptr, std::size_t entries) {
  if (entries > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw Error(fmt::format("case '{}': more than 2^31 - 1 entries do not fit int32 offsets", c.id()));
  }
  row_ptr.push_back(static_cast<std::int32_t>(entries));
}

// The five-point stencil on a grid of floor(sqrt(rows)) points a line.
template <class T>
void place_stencil(const Case& c, Csr<T>& a) {
  const auto line =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(std::sqrt(static_cast<double>(a.rows))));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int64_t at = i % line;
    const auto add = [&](std::int64_t j) {
      if (j >= 0 && j < a.cols) a.col.push_back(static_cast<std::int32_t>(j));
    };
    if (line > 1) add(i - line);
    if (at > 0) add(i - 1);
    add(i);
    if (at + 1 < line && i + 1 < a.rows) add(i + 1);
    if (i + line < a.rows) add(i + line);
    add_row_end(c, a.row_ptr, a.col.size());
  }
}

// Row 0 holds every column; the others column 0 and the diagonal.
template <class T>
void place_arrow(const Case& c, Csr<T>& a) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < (i == 0 ? a.cols : std::min<std::int64_t>(1, a.cols)); ++j) {
      a.col.push_back(static_cast<std::int32_t>(j));
    }
    if (i > 0 && i < a.cols) a.col.push_back(static_cast<std::int32_t>(i));
    add_row_end(c, a.row_ptr, a.col.size());
  }
}

// R-MAT (Chakrabarti, Zhan and Faloutsos, SDM 2004) with the Graph500's 0.57, 0.19, 0.19, 0.05: density * rows * cols
// draws; places outside a size that is no power of two are drawn anew, repeated ones dropped.
template <class T>
void place_rmat(const Case& c, Csr<T>& a, double density, std::uint64_t stream) {
  const auto wanted =
      static_cast<std::int64_t>(density * static_cast<double>(a.rows) * static_cast<double>(a.cols));
  add_row_end(c, a.row_ptr, static_cast<std::size_t>(wanted));  // refuses too many
  a.row_ptr.pop_back();
  const auto levels_of = [](std::int64_t size) {
    int levels = 0;
    while ((std::int64_t{1} << levels) < size) ++levels;
    return levels;
  };
  const int row_levels = levels_of(a.rows), col_levels = levels_of(a.cols),
            levels = std::max(row_levels, col_levels);
  std::vector<std::uint64_t> places(static_cast<std::size_t>(wanted));  // row * 2^32 + col
  std::uint64_t draw = 0;
  for (std::uint64_t& place : places) {
    std::uint64_t row = 0, col = 0;
    do {
      row = col = 0;
      std::uint64_t bits = 0;
      for (int level = 0; level < levels; ++level) {
        if (level % 4 == 0) bits = random_bits(c.seed, stream, draw++);
        const std::uint64_t r = bits & 0xffff;  // in 65536ths: 0.57, 0.76, 0.95
        bits >>= 16;
        row = 2 * row + static_cast<std::uint64_t>(r >= 49807);
        col = 2 * col + static_cast<std::uint64_t>((r >= 37355 && r < 49807) || r >= 62259);
      }
      row >>= levels - row_levels,
          col >>= levels - col_levels;  // the shorter side takes its first levels only
    } while (row >= static_cast<std::uint64_t>(a.rows) || col >= static_cast<std::uint64_t>(a.cols));
    place = row << 32 | col;
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::size_t at = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (; at < places.size() && places[at] >> 32 == static_cast<std::uint64_t>(i); ++at) {
      a.col.push_back(static_cast<std::int32_t>(places[at] & 0xffffffffu));
    }
    add_row_end(c, a.row_ptr, a.col.size());
  }
}

// True where `pattern` is one of these three, and A then has its places.
template <class T>
bool place_whole(const std::string& pattern, const Case& c, Csr<T>& a, double density, std::uint64_t stream) {
  const bool stencil = pattern == "stencil", arrow = pattern == "arrow";
  if (!stencil && !arrow && pattern != "rmat") return false;
  a.row_ptr = {0};
  if (stencil) {
    place_stencil(c, a);
  } else if (arrow) {
    place_arrow(c, a);
  } else {
    place_rmat(c, a, density, stream);
  }
  return true;
}

}  // namespace

void set_matrix_reader(std::function<Csr<double>(const std::string&)> f) { reader() = std::move(f); }

template <class T>
void fill_csr_values(Csr<T>& a, Fill fill, std::uint64_t seed, std::uint64_t stream) {
  a.val.resize(a.col.size());
  fill_values(a.val.data(), 1, a.nnz(), fill == Fill::index ? Fill::exact : fill, Role::left, seed, stream);
  if (fill == Fill::scaled || fill == Fill::index) {  // these two speak of rows, and here a row is ragged
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const std::int32_t begin = a.row_ptr[i], end = a.row_ptr[i + 1];
      if (begin == end) continue;
      const auto row = static_cast<std::uint64_t>(i);
      const auto one = begin + static_cast<std::int32_t>(random_below(
                                   seed, stream + 7, row, static_cast<std::uint64_t>(end - begin)));
      const int exponent = static_cast<int>(random_below(seed, stream + 9, row, 25)) - 12;
      for (std::int32_t k = begin; k < end; ++k) {
        a.val[k] = fill == Fill::index ? static_cast<T>(k == one) : std::ldexp(a.val[k], exponent);
      }
    }
  }
}

template <class T>
Csr<T> make_sparse(const Case& c, std::uint64_t stream) {
  Csr<T> a;
  if (c.has("matrix")) {
    if (!reader()) throw Error("no matrix reader is set: matrix=FILE works in verify and bench");
    Csr<double> read = reader()(c.text("matrix"));
    a.rows = read.rows;
    a.cols = read.cols;
    a.row_ptr = std::move(read.row_ptr);
    a.col = std::move(read.col);
    if (c.text_or("values", "fill") == "file") {
      a.val.assign(read.val.begin(), read.val.end());
    } else {
      fill_csr_values(a, c.fill, c.seed, stream);
    }
    return a;
  }
  static const std::vector<std::string> kPatterns = {"uniform",  "banded",   "powerlaw", "giant", "empty",
                                                     "unsorted", "diagonal", "stencil",  "arrow", "rmat"};
  const std::string pattern = c.text_or("pattern", "uniform");
  if (std::find(kPatterns.begin(), kPatterns.end(), pattern) == kPatterns.end()) {
    throw Error(fmt::format("case '{}': unknown pattern '{}'{} (known: {})", c.id(), pattern,
                            did_you_mean(pattern, kPatterns), fmt::join(kPatterns, ", ")));
  }
  a.rows = c.integer("rows");
  a.cols = c.integer("cols");
  const double density = c.number("density");
  if (density < 0 || density > 1) throw Error(fmt::format("case '{}': density is not in [0, 1]", c.id()));
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  if (a.rows >= kMax || a.cols >= kMax)
    throw Error(fmt::format("case '{}': rows and cols must fit int32", c.id()));
  if (place_whole(pattern, c, a, density, stream + 24)) {
    fill_csr_values(a, c.fill, c.seed, stream);
    return a;
  }
  a.row_ptr.assign(static_cast<std::size_t>(a.rows) + 1, 0);
  const double mean = density * static_cast<double>(a.cols);
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int64_t length = row_length(pattern, i, a.rows, a.cols, mean, c.seed, stream + 20);
    total += length;
    if (total > kMax)
      throw Error(fmt::format("case '{}': more than 2^31 - 1 entries do not fit int32 offsets", c.id()));
    a.row_ptr[i + 1] = static_cast<std::int32_t>(total);
  }
  a.col.reserve(static_cast<std::size_t>(total));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int64_t length = a.row_ptr[i + 1] - a.row_ptr[i];
    const auto row = static_cast<std::uint64_t>(i);
    if (pattern == "diagonal") {
      if (length > 0) a.col.push_back(static_cast<std::int32_t>(i));
    } else if (pattern == "banded") {
      const auto middle = static_cast<std::int64_t>(static_cast<double>(i) * static_cast<double>(a.cols) /
                                                    static_cast<double>(a.rows));
      const std::int64_t first = std::clamp<std::int64_t>(middle - length / 2, 0, a.cols - length);
      for (std::int64_t k = 0; k < length; ++k) a.col.push_back(static_cast<std::int32_t>(first + k));
    } else if (pattern == "unsorted") {
      for (std::int64_t k = 0; k < length; ++k) {
        a.col.push_back(static_cast<std::int32_t>(
            random_below(c.seed, stream + 22, row * 0x100000000u + static_cast<std::uint64_t>(k),
                         static_cast<std::uint64_t>(a.cols))));
      }
      if (length > 1) a.col.back() = a.col[a.col.size() - 2];  // at least one repeated column per row
    } else {
      sample_columns(a.col, a.cols, length, c.seed, stream + 22, row);
    }
  }
  fill_csr_values(a, c.fill, c.seed, stream);
  return a;
}

template <class T>
void validate_csr(const CsrView<const T, Space::host>& a, const char* name) {
  const auto bad = [&](const std::string& what) {
    throw Error(fmt::format("malformed CSR {}: {}", name, what));
  };
  if (a.row_ptr[0] != 0) bad(fmt::format("row_ptr[0] is {}, not 0", a.row_ptr[0]));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    if (a.row_ptr[i + 1] < a.row_ptr[i]) bad(fmt::format("row_ptr decreases at row {}", i));
  }
  if (a.row_ptr[a.rows] != a.nnz)
    bad(fmt::format("row_ptr ends at {}, not at nnz = {}", a.row_ptr[a.rows], a.nnz));
  for (std::int64_t k = 0; k < a.nnz; ++k) {
    if (a.col[k] < 0 || a.col[k] >= a.cols)
      bad(fmt::format("entry {} has column {} of {}", k, a.col[k], a.cols));
  }
}

template <class T>
CsrView<const T, Space::host> keep(Arena& arena, const Csr<T>& a) {
  auto* row_ptr = arena.allocate<std::int32_t>(a.rows + 1);
  auto* col = arena.allocate<std::int32_t>(a.nnz());
  auto* val = arena.allocate<T>(a.nnz());
  std::copy(a.row_ptr.begin(), a.row_ptr.end(), row_ptr);
  std::copy(a.col.begin(), a.col.end(), col);
  std::copy(a.val.begin(), a.val.end(), val);
  return {a.rows, a.cols, a.nnz(), row_ptr, col, val};
}

template <class T>
VecView<const T, Space::host> make_vector(Arena& arena, std::int64_t size, const Case& c, Role role,
                                          std::uint64_t stream) {
  T* data = arena.allocate<T>(size);
  // a right-hand vector is a column (rows, 1), a left-hand one a row (1, cols): fills speak of rows and columns
  const bool column = role != Role::left;
  fill_values(data, column ? size : 1, column ? 1 : size, c.fill, role, c.seed, stream);
  return {data, size};
}

template <class T>
DenseView<const T, Space::host> make_dense(Arena& arena, std::int64_t rows, std::int64_t cols, const Case& c,
                                           Role role, std::uint64_t stream) {
  T* data = arena.allocate<T>(rows * cols);
  fill_values(data, rows, cols, c.fill, role, c.seed, stream);
  return {data, rows, cols, cols};
}

#define PLUMB_INSTANTIATE(T)                                                                              \
  template void fill_csr_values<T>(Csr<T>&, Fill, std::uint64_t, std::uint64_t);                          \
  template Csr<T> make_sparse<T>(const Case&, std::uint64_t);                                             \
  template void validate_csr<T>(const CsrView<const T, Space::host>&, const char*);                       \
  template CsrView<const T, Space::host> keep<T>(Arena&, const Csr<T>&);                                  \
  template VecView<const T, Space::host> make_vector<T>(Arena&, std::int64_t, const Case&, Role,          \
                                                        std::uint64_t);                                   \
  template DenseView<const T, Space::host> make_dense<T>(Arena&, std::int64_t, std::int64_t, const Case&, \
                                                         Role, std::uint64_t);
PLUMB_INSTANTIATE(float)
PLUMB_INSTANTIATE(double)

}  // namespace plumb
