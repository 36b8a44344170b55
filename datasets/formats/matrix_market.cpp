#include "datasets/formats/matrix_market.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <utility>

#include "datasets/formats/triplets.hpp"
#include "datasets/io/output_text.hpp"
#include "datasets/io/text.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

using Mm = MatrixMarket;

// ---- header -----------------------------------------------------------------------------------------------

// Reads single lines from a source: the header is a few lines, the body is parsed in pieces.
class HeaderLines {
 public:
  explicit HeaderLines(ByteSource& source) : source_(source) {}
  bool next(std::string& line) {
    constexpr std::size_t kStep = 4096, kLongest = text::Chunker::kChunk;
    for (std::size_t looked = kStep;; looked *= 2) {
      const std::string_view held = source_.peek(looked);
      const std::size_t newline = held.find('\n');
      const bool ended = held.size() < looked;
      if (newline == std::string_view::npos && !ended) {
        if (held.size() <= kLongest) continue;
        throw input_error(source_.name(), number_ + 1, "line is longer than 1 MiB", held.substr(0, 100));
      }
      if (held.empty()) return false;
      line = held.substr(0, newline);
      take(newline == std::string_view::npos ? held.size() : newline + 1);
      ++number_;
      return true;
    }
  }
  [[nodiscard]] std::int64_t number() const { return number_; }

 private:
  void take(std::size_t bytes) {
    std::string scrap(bytes, '\0');
    source_.read(scrap.data(), bytes);
  }

  ByteSource& source_;
  std::int64_t number_ = 0;  // of the line handed out last
};

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::size_t at = 0;
  const auto blank = [](char c) { return text::is_blank(c) || c == '\v' || c == '\f'; };
  while (at < line.size()) {
    while (at < line.size() && blank(line[at])) ++at;
    std::size_t stop = at;
    while (stop < line.size() && !blank(line[stop])) ++stop;
    if (stop > at) words.push_back(line.substr(at, stop - at));
    at = stop;
  }
  return words;
}

template <class E, std::size_t N>
E choose(const ByteSource& source, const std::string& word, const char* what,
         const std::array<std::pair<const char*, E>, N>& known) {
  const std::string w = text::lower(word);
  for (const auto& [name, value] : known) {
    if (w == name) return value;
  }
  throw input_error(source.name(), 1, what, word);
}

void read_banner(const ByteSource& source, const std::string& line, Mm& out) {
  const std::vector<std::string> words = words_of(line);
  const std::string banner = words.empty() ? "" : text::lower(words[0]);
  if (banner != "%%matrixmarket" && banner != "%matrixmarket") {
    throw input_error(source.name(), 1,
                      "not Matrix Market: the first line does not begin with %%MatrixMarket", line);
  }
  if (words.size() < 5) {
    throw input_error(source.name(), 1, "banner is cut short: expected object format field symmetry", line);
  }
  if (words.size() > 5) throw input_error(source.name(), 1, "text after the banner's symmetry", words[5]);
  using Object = Mm::Object;
  using Format = Mm::Format;
  using Field = Mm::Field;
  using Symmetry = Mm::Symmetry;
  out.object = choose(source, words[1], "unknown object (matrix, vector)",
                      std::array{std::pair{"matrix", Object::matrix}, std::pair{"vector", Object::vector}});
  out.format =
      choose(source, words[2], "unknown format (coordinate, array)",
             std::array{std::pair{"coordinate", Format::coordinate}, std::pair{"array", Format::array}});
  out.field = choose(
      source, words[3], "unknown field (real, double, integer, unsigned-integer, complex, pattern)",
      std::array{std::pair{"real", Field::real}, std::pair{"double", Field::real},
                 std::pair{"integer", Field::integer}, std::pair{"unsigned-integer", Field::unsigned_integer},
                 std::pair{"complex", Field::complex}, std::pair{"pattern", Field::pattern}});
  out.symmetry =
      choose(source, words[4], "unknown symmetry (general, symmetric, skew-symmetric, hermitian)",
             std::array{std::pair{"general", Symmetry::general}, std::pair{"symmetric", Symmetry::symmetric},
                        std::pair{"skew-symmetric", Symmetry::skew_symmetric},
                        std::pair{"hermitian", Symmetry::hermitian}});
  if (out.object == Object::vector && out.symmetry != Symmetry::general) {
    throw input_error(source.name(), 1, "a vector has no symmetry but general", words[4]);
  }
  if (out.field == Field::pattern) {
    if (out.format == Format::array)
      throw input_error(source.name(), 1, "an array cannot be a pattern", words[2]);
    if (out.symmetry == Symmetry::skew_symmetric || out.symmetry == Symmetry::hermitian) {
      throw input_error(source.name(), 1, "a pattern is general or symmetric", words[4]);
    }
  }
  if (out.field == Field::unsigned_integer && out.symmetry == Symmetry::skew_symmetric) {
    throw input_error(source.name(), 1, "an unsigned matrix cannot be skew-symmetric", words[4]);
  }
}

// "%%GraphBLAS type T" (LAGraph's extension). Other comments are free text, but a line that begins like this one must have this form.
void read_graphblas(const ByteSource& source, const std::vector<std::string>& words, const std::string& line,
                    std::int64_t number, Mm& out) {
  static const std::array<const char*, 16> kTypes{
      "bool",          "int8_t",         "int16_t",        "int32_t",        "int64_t", "uint8_t",
      "uint16_t",      "uint32_t",       "uint64_t",       "float",          "double",  "complex",
      "float complex", "double complex", "float _Complex", "double _Complex"};
  if (words.size() < 2 || text::lower(words[1]) != "type") {
    throw input_error(source.name(), number, "broken %%GraphBLAS comment: expected %%GraphBLAS type T", line);
  }
  std::string type;
  for (std::size_t k = 2; k < words.size(); ++k) type += (k > 2 ? " " : "") + words[k];
  const auto known = [&type](const char* t) { return text::lower(type) == text::lower(t); };
  if (std::none_of(kTypes.begin(), kTypes.end(), known)) {
    throw input_error(source.name(), number,
                      "unknown type in a %%GraphBLAS comment (bool, int8_t, ..., double complex)", type);
  }
  if (!out.graphblas_type.empty())
    throw input_error(source.name(), number, "second %%GraphBLAS comment", line);
  out.graphblas_type = type;
}

// The size line's numbers: matrix coordinate "rows cols entries", array "rows cols", vector "rows entries" or
// "rows".
std::int64_t read_sizes(const ByteSource& source, const std::string& line, std::int64_t number, Mm& out) {
  text::Cursor in{line.data(), line.data() + line.size()};
  std::int64_t entries = -1;
  try {
    out.rows = text::take_index(in, "number of rows", 0, kLargestIndex);
    out.cols =
        out.object == Mm::Object::vector ? 1 : text::take_index(in, "number of columns", 0, kLargestIndex);
    if (out.format == Mm::Format::coordinate) {
      entries = text::take_index(in, "number of entries", 0, std::numeric_limits<std::int64_t>::max());
    }
    if (!in.line_done()) in.fail("text after the sizes");
  } catch (const text::LineError& e) { throw input_error(source.name(), number, e.what, e.value); }
  const bool mirrored = out.symmetry != Mm::Symmetry::general;
  if (mirrored && out.rows != out.cols) {
    throw input_error(source.name(), number,
                      std::string("a ") + to_string(out.symmetry) + " matrix must be square",
                      std::to_string(out.rows) + " x " + std::to_string(out.cols));
  }
  if (out.format == Mm::Format::array) {  // rows, cols < 2^31: the product fits
    const std::int64_t n = out.rows;
    entries = !mirrored                                      ? n * out.cols
              : out.symmetry == Mm::Symmetry::skew_symmetric ? n * (n - 1) / 2
                                                             : n * (n + 1) / 2;
  }
  return entries;
}

// ---- body -------------------------------------------------------------------------------------------------

struct EntryPart {
  std::vector<std::int32_t> row, col;
  std::vector<double> real, imag;
  text::SkippedLines skipped;
  std::int64_t entries = 0;
  std::int32_t first_above = -1,
               first_below = -1;  // lines of the first entries on either side of the diagonal
};
using EntryParts = std::deque<text::Parsed<EntryPart>>;

// Integers of up to 64 bits that fp64 holds exactly; others are refused rather than rounded.
double take_whole(text::Cursor& in, bool is_unsigned) {
  in.skip_blanks();
  const text::Cursor start = in;
  const char* stop = in.at;
  while (stop != in.end && !text::is_blank(*stop) && *stop != '\n') ++stop;
  if (stop == in.at) throw text::LineError{in.at, "value is missing", ""};
  const char* digits = in.at + (*in.at == '+' ? 1 : 0);
  const bool negative = *digits == '-' && digits == in.at;
  digits += negative ? 1 : 0;
  std::uint64_t magnitude = 0;
  const auto parsed = std::from_chars(digits, stop, magnitude);
  if (parsed.ec == std::errc::invalid_argument || parsed.ptr != stop) start.fail("value is not an integer");
  constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
  if (parsed.ec == std::errc::result_out_of_range ||
      (!is_unsigned && magnitude > kTop - (negative ? 0 : 1))) {
    start.fail("value overflows a 64-bit integer");
  }
  if (is_unsigned && negative && magnitude != 0) start.fail("value is negative in an unsigned matrix");
  // 2^64 as fp64 would not convert back; such a magnitude is not exact anyway.
  const auto value = static_cast<double>(magnitude);
  if (value >= 18446744073709551616.0 || static_cast<std::uint64_t>(value) != magnitude) {
    start.fail("integer that fp64 cannot hold exactly");
  }
  in.at = stop;
  return negative ? -value : value;
}

class BodyParser {
 public:
  explicit BodyParser(const Mm& header) : h_(header) {}

  void operator()(std::string_view piece, EntryPart& to) const {
    text::Cursor in{piece.data(), piece.data() + piece.size()};
    text::LineCounter lines(piece.data());
    const std::size_t most = text::most_entries(piece, 2);  // "1\n" of an array
    const bool coordinate = h_.format == Mm::Format::coordinate;
    if (coordinate) {
      to.row.reserve(most);
      to.col.reserve(most);
    }
    if (h_.field != Mm::Field::pattern) to.real.reserve(most);
    for (; !in.at_end(); in.at += in.at_end() ? 0 : 1) {
      if (in.line_done() || *in.at == '%') {
        to.skipped.add(lines.line_of(in.at));
        if (!in.at_end() && *in.at == '%') {
          while (!in.at_end() && *in.at != '\n') ++in.at;
        }
        continue;
      }
      const char* const line = in.at;
      if (coordinate) indices(in, to);
      if (h_.field != Mm::Field::pattern) value(in, to);
      if (!in.line_done()) in.fail("text after the value");
      if (coordinate && h_.symmetry != Mm::Symmetry::general) check_symmetric(line, lines, to);
      ++to.entries;
    }
    text::trim(to.row);
    text::trim(to.col);
    text::trim(to.real);
    text::trim(to.imag);
  }

 private:
  void indices(text::Cursor& in, EntryPart& to) const {
    to.row.push_back(static_cast<std::int32_t>(text::take_index(in, "row index", 1, h_.rows) - 1));
    to.col.push_back(h_.object == Mm::Object::vector
                         ? 0
                         : static_cast<std::int32_t>(text::take_index(in, "column index", 1, h_.cols) - 1));
  }
  void value(text::Cursor& in, EntryPart& to) const {
    switch (h_.field) {
      case Mm::Field::integer:
        to.real.push_back(take_whole(in, false));
        break;
      case Mm::Field::unsigned_integer:
        to.real.push_back(take_whole(in, true));
        break;
      case Mm::Field::complex:
        to.real.push_back(text::take_real<double>(in, "value", false));
        to.imag.push_back(text::take_real<double>(in, "imaginary part", false));
        break;
      default:
        to.real.push_back(text::take_real<double>(in, "value", false));
    }
  }
  void check_symmetric(const char* line, text::LineCounter& lines, EntryPart& to) const {
    const std::int32_t i = to.row.back(), j = to.col.back();
    if (i == j) {
      if (h_.symmetry == Mm::Symmetry::skew_symmetric &&
          (to.real.back() != 0 || (h_.field == Mm::Field::complex && to.imag.back() != 0))) {
        throw text::LineError{line, "diagonal entry of a skew-symmetric matrix is not 0",
                              std::to_string(i + 1)};
      }
      if (h_.symmetry == Mm::Symmetry::hermitian && h_.field == Mm::Field::complex && to.imag.back() != 0) {
        throw text::LineError{line, "diagonal entry of a hermitian matrix is not real",
                              std::to_string(i + 1)};
      }
    }
    if (i < j && to.first_above < 0) to.first_above = lines.line_of(line);
    if (i > j && to.first_below < 0) to.first_below = lines.line_of(line);
  }

  const Mm& h_;
};

// The line of entry k of a piece.
std::int64_t line_of(const text::Parsed<EntryPart>& p, std::int64_t k) {
  return p.first_line + p.part.skipped.line_of(k);
}

// A file that stores both (i, j) and (j, i) of a symmetric matrix contradicts its banner: mirroring would
// double the entry. Only files with entries on both sides of the diagonal are searched.
void refuse_both_triangles(const std::string& name, const EntryParts& parts) {
  const bool above =
      std::any_of(parts.begin(), parts.end(), [](const auto& p) { return p.part.first_above >= 0; });
  const bool below =
      std::any_of(parts.begin(), parts.end(), [](const auto& p) { return p.part.first_below >= 0; });
  if (!above || !below) return;
  struct Place {
    std::int32_t low, high;
    bool upper;
    const text::Parsed<EntryPart>* piece;
    std::size_t entry;
  };
  std::vector<Place> places;
  for (const auto& p : parts) {
    for (std::size_t k = 0; k < p.part.row.size(); ++k) {
      const std::int32_t i = p.part.row[k], j = p.part.col[k];
      if (i != j) places.push_back({std::min(i, j), std::max(i, j), i < j, &p, k});
    }
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::pair(a.low, a.high) < std::pair(b.low, b.high);
  });
  for (std::size_t k = 1; k < places.size(); ++k) {
    const Place &a = places[k - 1], &b = places[k];
    if (a.low == b.low && a.high == b.high && a.upper != b.upper) {
      const std::int32_t i = b.upper ? b.low : b.high, j = b.upper ? b.high : b.low;
      throw input_error(name, line_of(*b.piece, static_cast<std::int64_t>(b.entry)),
                        "both (i, j) and (j, i) are stored in a symmetric matrix",
                        std::to_string(i + 1) + " " + std::to_string(j + 1));
    }
  }
}

template <class V>
void append(std::vector<V>& to, std::vector<V>& from) {
  if (to.empty()) {
    to = std::move(from);
  } else {
    to.insert(to.end(), from.begin(), from.end());
  }
  std::vector<V>().swap(from);
}

// ---- conversions ------------------------------------------------------------------------------------------

// Calls visit(i, j, k, mirrored) for the element of every stored value and for its mirror image.
template <class Visit>
void for_each_element(const Mm& file, const Visit& visit) {
  const bool mirror = file.symmetry != Mm::Symmetry::general;
  const auto both = [&](std::int32_t i, std::int32_t j, std::size_t k) {
    visit(i, j, k, false);
    if (mirror && i != j) visit(j, i, k, true);
  };
  if (file.format == Mm::Format::coordinate) {
    for (std::size_t k = 0; k < file.row.size(); ++k) both(file.row[k], file.col[k], k);
    return;
  }
  std::size_t k = 0;
  const auto rows = static_cast<std::int32_t>(file.rows), cols = static_cast<std::int32_t>(file.cols);
  const std::int32_t below = file.symmetry == Mm::Symmetry::skew_symmetric ? 1 : 0;
  for (std::int32_t j = 0; j < cols; ++j) {
    for (std::int32_t i = mirror ? j + below : 0; i < rows; ++i) both(i, j, k++);
  }
}

void refuse_complex(const Mm& file) {
  if (file.field == Mm::Field::complex) {
    throw input_error(file.name, 0, "complex values cannot become a real matrix",
                      "take real and imaginary parts apart");
  }
}

template <class T>
T narrow(const Mm& file, double value) {
  const T narrowed = static_cast<T>(value);
  if (std::isinf(narrowed) && !std::isinf(value)) {
    throw input_error(file.name, 0, "value overflows fp32", std::to_string(value));
  }
  return narrowed;
}

/// Of a file whose size line is number `sizes`, and announces `want` entries.
Error too_many(const std::string& name, std::int64_t line, const Mm& file, std::int64_t sizes,
               std::int64_t want) {
  if (file.format == Mm::Format::array) {
    return input_error(name, line,
                       std::string("more values than a ") + to_string(file.symmetry) + " array of " +
                           std::to_string(file.rows) + " x " + std::to_string(file.cols) + " has",
                       std::to_string(want));
  }
  return input_error(name, line,
                     "more entries than the size line (line " + std::to_string(sizes) + ") announces",
                     std::to_string(want));
}

double stored_real(const Mm& file, std::size_t k, bool mirrored) {
  const double value = file.field == Mm::Field::pattern ? 1.0 : file.real[k];
  return mirrored && file.symmetry == Mm::Symmetry::skew_symmetric ? -value : value;
}

}  // namespace

MatrixMarket read_matrix_market(ByteSource& source) {
  Mm out;
  source.findings().base = 1;
  out.name = source.name();
  text::begin_text(source);
  HeaderLines header(source);
  std::string line;
  if (!header.next(line)) throw input_error(source.name(), 0, "file is empty, expected Matrix Market");
  read_banner(source, line, out);
  bool sized = false;
  while (!sized && header.next(line)) {
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) continue;
    if (words[0][0] == '%') {
      if (text::lower(words[0]) == "%%graphblas") read_graphblas(source, words, line, header.number(), out);
      continue;
    }
    sized = true;
  }
  if (!sized) throw input_error(source.name(), header.number(), "size line is missing");
  const std::int64_t want = read_sizes(source, line, header.number(), out);

  EntryParts parts = text::parse_lines<EntryPart>(source, BodyParser(out), header.number() + 1);
  std::int64_t total = 0, last_line = header.number();
  for (const auto& p : parts) {
    if (total + p.part.entries > want) {
      throw too_many(source.name(), line_of(p, want - total), out, header.number(), want);
    }
    total += p.part.entries;
    last_line = p.first_line + p.lines;
  }
  if (total < want) {
    throw input_error(source.name(), last_line, "file ends early: entries found, entries announced",
                      std::to_string(total) + ", " + std::to_string(want));
  }
  if (out.symmetry != Mm::Symmetry::general && out.format == Mm::Format::coordinate) {
    refuse_both_triangles(source.name(), parts);
  }
  for (auto& p : parts) {
    append(out.row, p.part.row);
    append(out.col, p.part.col);
    append(out.real, p.part.real);
    append(out.imag, p.part.imag);
  }
  return out;
}

MatrixMarket read_matrix_market(const std::string& path) {
  const auto source = open_source(path);
  return read_matrix_market(*source);
}

template <class T>
Entries<T> entries_of(const MatrixMarket& file) {
  refuse_complex(file);
  Entries<T> out{file.rows, file.cols, {}};
  Triplets<T>& all = out.all;
  const bool array = file.format == Mm::Format::array;
  const std::size_t most =
      static_cast<std::size_t>(file.stored()) * (file.symmetry == Mm::Symmetry::general ? 1 : 2);
  if (!array) {
    all.row.reserve(most);
    all.col.reserve(most);
    all.val.reserve(most);
  }
  for_each_element(file, [&](std::int32_t i, std::int32_t j, std::size_t k, bool mirrored) {
    const double value = stored_real(file, k, mirrored);
    if (array && value == 0) return;
    all.row.push_back(i);
    all.col.push_back(j);
    all.val.push_back(narrow<T>(file, value));
  });
  return out;
}

template <class T>
Csr<T> to_csr(const MatrixMarket& file) {
  const Entries<T> entries = entries_of<T>(file);
  return csr_of<T>(file.name, file.rows, file.cols, {&entries.all});
}

template <class T>
Dense<T> to_dense(const MatrixMarket& file) {
  constexpr bool kComplex = !std::is_floating_point_v<T>;
  if constexpr (!kComplex) refuse_complex(file);
  if (file.cols != 0 && file.rows > kLargestIndex / file.cols) {
    throw input_error(file.name, 0, "more than 2^31 - 1 elements",
                      std::to_string(file.rows) + " x " + std::to_string(file.cols));
  }
  Dense<T> out;
  out.rows = file.rows;
  out.cols = file.cols;
  out.data.assign(static_cast<std::size_t>(file.rows * file.cols), T{});
  for_each_element(file, [&](std::int32_t i, std::int32_t j, std::size_t k, bool mirrored) {
    T& to = out.data[static_cast<std::size_t>(i * file.cols + j)];
    if constexpr (kComplex) {
      const double imag = file.field != Mm::Field::complex                        ? 0.0
                          : !mirrored || file.symmetry == Mm::Symmetry::symmetric ? file.imag[k]
                                                                                  : -file.imag[k];
      to += T{stored_real(file, k, mirrored), imag};
    } else {
      to += narrow<T>(file, stored_real(file, k, mirrored));
    }
  });
  return out;
}

template <class T>
void write_matrix_market(const std::string& path, const Csr<T>& matrix, bool gzip) {
  OutputText out(path, gzip);
  out.write("%%MatrixMarket matrix coordinate real general\n" + std::to_string(matrix.rows) + " " +
            std::to_string(matrix.cols) + " " + std::to_string(matrix.nnz()) + "\n");
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (auto k = static_cast<std::size_t>(matrix.row_ptr[row]);
         k < static_cast<std::size_t>(matrix.row_ptr[row + 1]); ++k) {
      out.number(i + 1, ' ');
      out.number(std::int64_t{matrix.col[k]} + 1, ' ');
      out.number(matrix.val[k], '\n');
    }
  }
  out.commit();
}

template Entries<float> entries_of(const MatrixMarket&);
template Entries<double> entries_of(const MatrixMarket&);
template Csr<float> to_csr<float>(const MatrixMarket&);
template Csr<double> to_csr<double>(const MatrixMarket&);
template Dense<float> to_dense<float>(const MatrixMarket&);
template Dense<double> to_dense<double>(const MatrixMarket&);
template Dense<std::complex<double>> to_dense<std::complex<double>>(const MatrixMarket&);
template void write_matrix_market<float>(const std::string&, const Csr<float>&, bool);
template void write_matrix_market<double>(const std::string&, const Csr<double>&, bool);

const char* to_string(MatrixMarket::Field field) {
  constexpr const char* kNames[] = {"real", "integer", "unsigned-integer", "complex", "pattern"};
  return kNames[static_cast<std::size_t>(field)];
}
const char* to_string(MatrixMarket::Symmetry symmetry) {
  constexpr const char* kNames[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
  return kNames[static_cast<std::size_t>(symmetry)];
}
const char* to_string(MatrixMarket::Format format) {
  return format == MatrixMarket::Format::array ? "array" : "coordinate";
}
const char* to_string(MatrixMarket::Object object) {
  return object == MatrixMarket::Object::vector ? "vector" : "matrix";
}

}  // namespace plumb
