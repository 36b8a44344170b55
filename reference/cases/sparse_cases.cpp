#include "reference/cases/sparse_cases.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/cases/fills.hpp"
#include "reference/cases/patterns.hpp"
#include "reference/cases/special_values.hpp"
#include "reference/core/error.hpp"
#include "reference/core/random.hpp"
#include "reference/core/text.hpp"

namespace plumb {
namespace {

std::function<Csr<double>(const std::string&)>& reader() {
  static std::function<Csr<double>(const std::string&)> f;
  return f;
}

}  // namespace

void set_matrix_reader(std::function<Csr<double>(const std::string&)> f) { reader() = std::move(f); }

namespace {

// The integers of a row shrink with its length, so that its product with a right operand of the same fill stays exact in T:
// |sum| <= length * |left| * |right| <= 2^digits. No row of up to 4096 (wide) or 2^18 (exact) entries in fp32 is changed.
template <class T>
T integer_for_row(T drawn, std::int64_t length, Fill fill) {
  const double most = std::ldexp(1.0, std::numeric_limits<T>::digits) / static_cast<double>(length);
  if (fill == Fill::exact) {  // right operand: up to 8
    const double reach = std::max(1.0, std::floor(most / 8));
    return reach >= 8 ? drawn : static_cast<T>(std::fmod(drawn, reach + 1));
  }
  if (most >= 4096) return drawn;  // up to 8191, and the right operand -1, 0 or 1: two thirds of it count
  const double reach = std::max(2.0, std::exp2(std::floor(std::log2(most))));
  return static_cast<T>(std::fmod(drawn, reach));  // odd stays odd
}

template <class T>
void shrink_long_rows(Csr<T>& a, Fill fill) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int32_t begin = a.row_ptr[i], end = a.row_ptr[i + 1];
    for (std::int32_t k = begin; k < end; ++k) a.val[k] = integer_for_row(a.val[k], end - begin, fill);
  }
}

}  // namespace

template <class T>
void fill_csr_values(Csr<T>& a, Fill fill, std::uint64_t seed, std::uint64_t stream, Format stored) {
  a.val.resize(a.col.size());
  // these two speak of rows and columns, and here a row is ragged: see below
  const Fill drawn = fill == Fill::index ? Fill::exact : fill == Fill::scaled ? Fill::real : fill;
  fill_values(a.val.data(), 1, a.nnz(), drawn, Role::left, seed, stream, stored);
  if (fill == Fill::wide || fill == Fill::exact) shrink_long_rows(a, fill);
  if (fill == Fill::few) {
    const FewValues few(seed, stream);
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const std::int32_t begin = a.row_ptr[i], end = a.row_ptr[i + 1];
      for (std::int32_t k = begin; k < end; ++k) a.val[k] = static_cast<T>(few.at(i, k - begin, end - begin));
    }
  }
  if (fill == Fill::hostile) place_row_specials(a, seed, stream + 1, stored);
  if (fill == Fill::scaled || fill == Fill::index) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const std::int32_t begin = a.row_ptr[i], end = a.row_ptr[i + 1];
      if (begin == end) continue;
      const auto row = static_cast<std::uint64_t>(i);
      const auto one = begin + static_cast<std::int32_t>(random_below(
                                   seed, stream + 7, row, static_cast<std::uint64_t>(end - begin)));
      const int exponent = exponent_of_line(seed, stream + 9, i, stored);
      for (std::int32_t k = begin; k < end; ++k) {
        a.val[k] = fill == Fill::index
                       ? static_cast<T>(k == one)
                       : std::ldexp(a.val[k], exponent + exponent_of_term(seed, a.col[k], stored));
      }
    }
  }
}

namespace {

// Powers of two of facing=large, and of facing=rows_small: of the smallest rows, and of the operand that they face; by the largest exponent
// of the format. Where it is small, products of two large operands stay below the largest number.
struct FacingScales {
  int max_exponent, large, smallest, faced;
};
constexpr FacingScales kFacingScales[] = {
    {1023, 400, -1014, 507}, {127, 50, -117, 58}, {15, 5, -9, 5}, {8, 2, -4, 2}};
constexpr int kScaleSteps = 8;

const FacingScales& facing_scales(Format stored) {
  const FacingScales* row = std::begin(kFacingScales);
  while (row + 1 != std::end(kFacingScales) && row->max_exponent > facts(stored).max_exponent) ++row;
  return *row;
}

int exponent_of_row(std::int64_t i, Format stored) {
  return facing_scales(stored).smallest * static_cast<int>(i % kScaleSteps) / (kScaleSteps - 1);
}

// The column of a left operand that is all zeros by facing=zeros, and the row of a right one that they meet: in no first and no last tile.
std::int64_t column_of_zeros(std::int64_t depth) { return depth * 2 / 3; }

// What stands in two lines of three beside zeros: nothing but 0 times it makes an answer NaN.
template <class T>
void put_facing_zeros(T& value, std::int64_t line) {
  using Limits = std::numeric_limits<T>;
  const T nan = line % 2 == 0 ? Limits::quiet_NaN() : -Limits::quiet_NaN();
  if (line % 3 != 2) value = line % 3 == 0 ? nan : Limits::infinity();
}

// The rows of a left operand that hold nothing else, too: one in four.
bool is_row_of_zeros(std::int64_t i) { return i % 4 == 1; }

template <class T>
void put_zeros(T* data, std::int64_t rows, std::int64_t cols, Role role) {
  if (role == Role::left) {
    for (std::int64_t i = 0; i < rows; ++i) {
      data[i * cols + column_of_zeros(cols)] = T(0);
      if (is_row_of_zeros(i)) std::fill_n(data + i * cols, cols, T(0));
    }
  } else if (role == Role::right) {
    T* const row = data + column_of_zeros(rows) * cols;
    for (std::int64_t j = 0; j < cols; ++j) put_facing_zeros(row[j], j);
  }
}

template <class T>
void put_run_of_zeros(T* data, std::int64_t rows, std::int64_t cols, Role role) {
  if (role == Role::left) {
    for (std::int64_t i = 0; i < rows; ++i) put_facing_zeros(data[i * cols + column_of_zeros(cols)], i);
  } else if (role == Role::right) {
    const std::int64_t met = column_of_zeros(rows), half = rows / 8;
    const std::int64_t begin = std::max<std::int64_t>(0, met - half), end = std::min(rows, met + half + 1);
    std::fill(data + begin * cols, data + end * cols, T(0));
  }
}

template <class T>
void scale_all(T* data, std::int64_t size, int exponent) {
  for (std::int64_t k = 0; k < size; ++k) data[k] = std::ldexp(data[k], exponent);
}

template <class T>
void put_small_rows(T* data, std::int64_t rows, std::int64_t cols, Role role, Format stored) {
  for (std::int64_t i = 0; role == Role::left && i < rows; ++i)
    scale_all(data + i * cols, cols, exponent_of_row(i, stored));
  if (role == Role::right) scale_all(data, rows * cols, facing_scales(stored).faced);
}

template <class T>
void put_cancelling(T* data, std::int64_t rows, std::int64_t cols, Role role, Format stored) {
  for (std::int64_t i = 0; role == Role::left && i < rows; ++i)
    make_cancelling(data + i * cols, cols, stored);
  for (std::int64_t i = 1; role == Role::right && i < rows; ++i) std::copy_n(data, cols, data + i * cols);
}

}  // namespace

namespace {

// Places of an operand of rows and columns that look=..._WHERE names.
class Looks {
 public:
  Looks(std::string_view where, std::int64_t rows, std::int64_t cols)
      : where_(where),
        lines_(std::min(rows, cols) == 1 ? std::max(rows, cols) : rows),
        vector_(std::min(rows, cols) == 1) {}
  // Whether the element is among them: `line` is its row, of a vector its place.
  [[nodiscard]] bool has(std::int64_t line, std::int64_t index) const {
    if (where_ == "every") return index % 8 == 0;
    if (where_ == "nearly") return index % 61 != 60;
    const std::int64_t run = vector_ ? (where_ == "first" ? (lines_ + 7) / 8 : 8) : 1;
    const auto near = [&](std::int64_t begin) { return line >= begin && line < begin + run; };
    return near(0) || (where_ == "ends" && (near(lines_ / 2) || near(lines_ - run)));
  }

 private:
  std::string_view where_;
  std::int64_t lines_;
  bool vector_;
};

constexpr const char* kLooks[] = {"ones_first", "ones_ends", "ones_every", "ones_nearly", "zeros_every"};

struct Look {
  double value;
  std::string where;
};
std::optional<Look> look_of(const Case& c, Role role) {
  const std::string word = c.text_or("looks", "");
  if (word.empty() || role == Role::addend) return std::nullopt;
  if (std::find(std::begin(kLooks), std::end(kLooks), word) == std::end(kLooks))
    throw Error(fmt::format("case '{}': unknown looks '{}' (known: {})", c.id(), printable(word),
                            fmt::join(kLooks, ", ")));
  const bool ones = word.starts_with("ones");
  if (!ones && role != Role::left) return std::nullopt;
  return Look{ones ? 1.0 : 0.0, word.substr(word.find('_') + 1)};
}

}  // namespace

template <class T>
void put_looks(T* data, std::int64_t rows, std::int64_t cols, const Case& c, Role role) {
  const std::optional<Look> look = look_of(c, role);
  if (!look) return;
  const Looks places(look->where, rows, cols);
  for (std::int64_t k = 0; k < rows * cols; ++k) {
    if (places.has(std::min(rows, cols) == 1 ? k : k / cols, k)) data[k] = static_cast<T>(look->value);
  }
}

void add_looks(CaseList& list, std::string_view params) {
  for (const char* const looks : kLooks)
    list.add(Tier::smoke, fmt::format("{},looks={}", params, looks), {Fill::real},
             "who samples an operand takes all of it for ones or zeros");
}

template <class T>
void put_facing(T* data, std::int64_t rows, std::int64_t cols, const Case& c, Role role) {
  put_looks(data, rows, cols, c, role);
  const std::string facing = c.text_or("facing", "");
  const std::int64_t size = rows * cols;
  if (facing.empty() || size == 0) return;
  const FormatFacts& stored = facts(stored_format(c, role));
  if (facing == "inf_tiny" || facing == "tiny_inf") {
    if (role == Role::addend) return;
    data[0] = (facing == "inf_tiny") == (role == Role::left) ? std::numeric_limits<T>::infinity()
                                                             : static_cast<T>(stored.eta);
  } else if (facing == "near_top") {
    data[0] = role == Role::right ? T(1) : static_cast<T>(stored.largest) / 4 * 3;
  } else if (facing == "zeros") {
    put_zeros(data, rows, cols, role);
  } else if (facing == "run_of_zeros") {
    put_run_of_zeros(data, rows, cols, role);
  } else if (facing == "large") {
    scale_all(data, size, facing_scales(stored.format).large * (role == Role::addend ? 2 : 1));
  } else if (facing == "rows_small") {
    put_small_rows(data, rows, cols, role, stored.format);
  } else if (facing == "cancels") {
    if (c.fill == Fill::own)
      throw Error(fmt::format("case '{}': facing=cancels: the values of a file stay as they are", c.id()));
    put_cancelling(data, rows, cols, role, stored.format);
  } else {
    throw Error(fmt::format(
        "case '{}': unknown facing '{}' (known: inf_tiny, tiny_inf, near_top, large, rows_small, zeros, "
        "run_of_zeros, cancels)",
        c.id(), printable(facing)));
  }
}

bool holds_nonfinite(const Case& c) {
  const std::string facing = c.text_or("facing", "");
  return c.fill == Fill::hostile || facing == "inf_tiny" || facing == "tiny_inf" || facing == "zeros" ||
         facing == "run_of_zeros";
}

// The same for a sparse left operand, whose rows are ragged.
template <class T>
void put_facing(Csr<T>& a, const Case& c) {
  if (const std::optional<Look> look = look_of(c, Role::left)) {
    const Looks places(look->where, a.rows, std::max<std::int64_t>(a.cols, 2));
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
        if (places.has(i, k)) a.val[k] = static_cast<T>(look->value);
      }
    }
  }
  const std::string facing = c.text_or("facing", "");
  if (facing == "zeros") {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
        if (is_row_of_zeros(i) || a.col[k] == column_of_zeros(a.cols)) a.val[k] = T(0);
      }
    }
    return;
  }
  if (facing == "run_of_zeros") {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
        if (a.col[k] == column_of_zeros(a.cols)) put_facing_zeros(a.val[k], i);
      }
    }
    return;
  }
  if (facing != "rows_small" && facing != "cancels")
    return put_facing(a.val.data(), 1, a.nnz(), c, Role::left);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    T* const row = a.val.data() + a.row_ptr[i];
    const std::int64_t entries = a.row_ptr[i + 1] - a.row_ptr[i];
    if (facing == "cancels") {
      make_cancelling(row, entries, facts(c.dtype).in);
    } else {
      scale_all(row, entries, exponent_of_row(i, facts(c.dtype).in));
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
    if (c.fill == Fill::own || c.text_or("values", "fill") == "file") {
      a.val.resize(read.val.size());
      for (std::size_t k = 0; k < read.val.size(); ++k) {
        a.val[k] = static_cast<T>(read.val[k]);
        if (!std::isfinite(a.val[k]))
          throw Error(fmt::format("case '{}': value {} of the file, {}, is not finite in {}", c.id(), k,
                                  read.val[k], name(c.dtype)));
      }
    } else {
      fill_csr_values(a, c.fill, c.seed, stream, facts(c.dtype).in);
    }
    return a;
  }
  if (c.fill == Fill::own)
    throw Error(fmt::format("case '{}': fill=own takes the values of a file: matrix=FILE", c.id()));
  const std::string what = fmt::format("case '{}'", c.id());
  Pattern pattern;
  pattern.name = c.text_or("pattern", "uniform");
  require_pattern(pattern.name, what);
  a.rows = pattern.rows = c.integer("rows");
  a.cols = pattern.cols = c.integer("cols");
  pattern.density = c.number("density");
  pattern.seed = c.seed;
  pattern.stream = stream;
  Places places = place(pattern, what);
  a.row_ptr = std::move(places.row_ptr);
  a.col = std::move(places.col);
  fill_csr_values(a, c.fill, c.seed, stream, facts(c.dtype).in);
  if (c.integer_or("equal", 0) != 0) make_equal(a.val.data(), a.nnz());
  if (c.integer_or("ones", 0) != 0) std::fill(a.val.begin(), a.val.end(), T(1));
  put_facing(a, c);
  return a;
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
  fill_values(data, column ? size : 1, column ? 1 : size, c, role, stream);
  if (column && c.integer_or("whole_first", 0) != 0) make_first_half_whole(data, size);
  put_facing(data, column ? size : 1, column ? 1 : size, c, role);
  return {data, size};
}

template <class T>
DenseView<const T, Space::host> make_dense(Arena& arena, std::int64_t rows, std::int64_t cols, const Case& c,
                                           Role role, std::uint64_t stream) {
  T* data = arena.allocate<T>(rows * cols);
  fill_values(data, rows, cols, c, role, stream);
  if (role == Role::right && c.integer_or("whole_first", 0) != 0) make_first_half_whole(data, rows * cols);
  put_facing(data, rows, cols, c, role);
  return {data, rows, cols, cols};
}

template <class T>
DenseView<const T, Space::host> make_second(Arena& arena, const DenseView<const T, Space::host>& first,
                                            std::int64_t rows, std::int64_t cols, const Case& c, Role role,
                                            std::uint64_t stream) {
  if (c.integer_or("same", 0) == 0) return make_dense<T>(arena, rows, cols, c, role, stream);
  if (first.rows != rows || first.cols != cols)
    throw Error(fmt::format("case '{}': same=1 needs operands of one shape, not {} x {} and {} x {}", c.id(),
                            first.rows, first.cols, rows, cols));
  return first;
}

#define PLUMB_INSTANTIATE(T)                                                                              \
  template void put_looks<T>(T*, std::int64_t, std::int64_t, const Case&, Role);                          \
  template void put_facing<T>(T*, std::int64_t, std::int64_t, const Case&, Role);                         \
  template void fill_csr_values<T>(Csr<T>&, Fill, std::uint64_t, std::uint64_t, Format);                  \
  template Csr<T> make_sparse<T>(const Case&, std::uint64_t);                                             \
  template CsrView<const T, Space::host> keep<T>(Arena&, const Csr<T>&);                                  \
  template VecView<const T, Space::host> make_vector<T>(Arena&, std::int64_t, const Case&, Role,          \
                                                        std::uint64_t);                                   \
  template DenseView<const T, Space::host> make_dense<T>(Arena&, std::int64_t, std::int64_t, const Case&, \
                                                         Role, std::uint64_t);                            \
  template DenseView<const T, Space::host> make_second<T>(Arena&, const DenseView<const T, Space::host>&, \
                                                          std::int64_t, std::int64_t, const Case&, Role,  \
                                                          std::uint64_t);
PLUMB_INSTANTIATE(float)
PLUMB_INSTANTIATE(double)
#undef PLUMB_INSTANTIATE

}  // namespace plumb
