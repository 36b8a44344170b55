// Text to numbers, fast and exact, and the pipeline that feeds it: one thread at a time reads and inflates while
// the others parse. Internal to the readers of this room; every text format goes through it, so line numbers and
// messages are of one kind.
#pragma once
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/io/byte_source.hpp"
#include "datasets/io/fuzzing.hpp"
#include "reference/core/error.hpp"

namespace plumb::text {

/// At the beginning of a text: takes a byte order mark of UTF-8 off the source. Errors: UTF-16 or UTF-32, by its byte order mark.
void take_byte_order_mark(ByteSource& source);
/// The same. Errors: also lines that end with CR alone, as on old Macintoshes: read as blanks, they would make one line of the file.
void begin_text(ByteSource& source);

/// Lines that gave no entry, as runs: a file of newlines alone must not cost more memory than it has bytes.
class SkippedLines {
 public:
  /// Lines from 0, in ascending order.
  void add(std::int32_t line) {
    if (!runs_.empty() && runs_.back().first + runs_.back().second == line) {
      ++runs_.back().second;
    } else {
      runs_.emplace_back(line, 1);
    }
  }
  /// The line of entry `k`, both from 0.
  [[nodiscard]] std::int64_t line_of(std::int64_t k) const {
    for (const auto& [first, count] : runs_) k += first <= k ? count : 0;
    return k;
  }

 private:
  std::vector<std::pair<std::int32_t, std::int32_t>> runs_;  // first line, how many
};

/// Entries that a piece of text can hold, for reserve(): one a line, and none shorter than `shortest` bytes.
inline std::size_t most_entries(std::string_view piece, std::size_t shortest) {
  const auto lines = static_cast<std::size_t>(std::count(piece.begin(), piece.end(), '\n')) + 1;
  return std::min(lines, piece.size() / shortest + 1);
}

/// Gives back what most_entries() reserved too much: pieces are kept until all are read.
template <class V>
void trim(std::vector<V>& v) {
  if (v.capacity() > 2 * v.size()) v.shrink_to_fit();
}

/// What went wrong at a place in the text; the pipeline turns it into FILE:LINE: what: value.
struct LineError {
  const char* at = nullptr;  // anywhere in the line
  std::string what;
  std::string value;
};

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// A place in a text whose end is followed by a NUL, as in std::string: digit loops need no check against the
/// end.
struct Cursor {
  const char* at;
  const char* end;

  void skip_blanks() {
    while (is_blank(*at)) ++at;
  }
  [[nodiscard]] bool at_end() const { return at == end; }
  /// Nothing but blanks up to the end of the line.
  bool line_done() {
    skip_blanks();
    return at == end || *at == '\n';
  }
  void next_line() {
    const void* found = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
    at = found != nullptr ? static_cast<const char*>(found) + 1 : end;
  }
  /// The word at the cursor, for messages.
  [[nodiscard]] std::string word() const {
    const char* stop = at;
    while (stop != end && !is_blank(*stop) && *stop != '\n' && stop - at < 64) ++stop;
    return {at, stop};
  }
  [[noreturn]] void fail(std::string what) const { throw LineError{at, std::move(what), word()}; }
};

/// An integer followed by a blank or the end of the line. `what` names the column in messages.
inline std::int64_t take_integer(Cursor& in, const char* what) {
  in.skip_blanks();
  const char* const start = in.at;
  const char* p = start;
  const bool negative = *p == '-';
  if (negative || *p == '+') ++p;
  const char* const digits = p;
  std::uint64_t value = 0;
  while (static_cast<unsigned char>(*p - '0') < 10)
    value = value * 10 + static_cast<std::uint64_t>(*p++ - '0');
  const auto count = p - digits;
  if (count == 0 || count > 18 || !(is_blank(*p) || *p == '\n' || p == in.end)) {
    if (start == in.end || *start == '\n') throw LineError{start, std::string(what) + " is missing", ""};
    // Leading zeros may make a small number long; more than 18 digits that count do not fit.
    const char* q = digits;
    while (*q == '0') ++q;
    const bool number = count > 0 && (is_blank(*p) || *p == '\n' || p == in.end);
    if (!number) in.fail(std::string(what) + " is not an integer");
    if (p - q > 18) in.fail(std::string(what) + " is too large");
    value = 0;
    for (; q != p; ++q) value = value * 10 + static_cast<std::uint64_t>(*q - '0');
  }
  in.at = p;
  return negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

/// An integer in [first, last]; the cursor stays on the word where it is not.
inline std::int64_t take_index(Cursor& in, const char* what, std::int64_t first, std::int64_t last) {
  in.skip_blanks();
  const char* const start = in.at;
  const std::int64_t value = take_integer(in, what);
  if (value < first || value > last) {
    in.at = start;
    in.fail(std::string(what) + " is outside " + std::to_string(first) + ".." + std::to_string(last));
  }
  return value;
}

enum class Real : std::uint8_t { ok, not_a_number, overflow };

/// Correctly rounded decimal to T, in full; underflow gives a zero of the correct sign. inf and nan are read.
/// T is float or double.
template <class T>
[[nodiscard]] Real parse_real(const char* first, const char* last, T& out);

template <class T>
struct ExactPowers;  // powers of ten that T holds exactly, and the largest integer up to which T holds all
template <>
struct ExactPowers<double> {
  static constexpr double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  static constexpr int last = 22;
  static constexpr std::uint64_t integers = std::uint64_t{1} << 53;
};
template <>
struct ExactPowers<float> {
  static constexpr float ten[] = {1e0F, 1e1F, 1e2F, 1e3F, 1e4F, 1e5F, 1e6F, 1e7F, 1e8F, 1e9F, 1e10F};
  static constexpr int last = 10;
  static constexpr std::uint64_t integers = std::uint64_t{1} << 24;
};

/// take_real() where the fast path does not apply: from_chars over the whole word. The cursor is at the word.
template <class T>
inline T take_any_real(Cursor& in, const char* what, bool finite) {
  const char* const start = in.at;
  if (start == in.end || *start == '\n') throw LineError{start, std::string(what) + " is missing", ""};
  const char* stop = start;
  while (stop != in.end && !is_blank(*stop) && *stop != '\n') ++stop;
  T value{};
  switch (parse_real(start, stop, value)) {
    case Real::not_a_number:
      in.fail(std::string(what) + " is not a number");
    case Real::overflow:
      in.fail(std::string(what) + " overflows fp" + std::to_string(8 * sizeof(T)));
    case Real::ok:
      break;
  }
  // x - x is 0 for every finite x and NaN for the others.
  if (finite && !(value - value == T{0})) in.fail(std::string(what) + " is not finite");
  in.at = stop;
  return value;
}

/// A number followed by a blank or the end of the line, rounded once. Short decimals take Clinger's fast
/// path: both operands of one multiplication or division are exact, so its result is the rounded value. (W.
/// Clinger, PLDI 1990.) `finite`: inf and nan are errors.
template <class T>
inline T take_real(Cursor& in, const char* what, bool finite) {
  in.skip_blanks();
  const char* p = in.at;
  const bool negative = *p == '-';
  if (negative || *p == '+') ++p;
  std::uint64_t mantissa = 0;
  const char* const whole = p;
  while (static_cast<unsigned char>(*p - '0') < 10)
    mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p++ - '0');
  auto digits = p - whole;
  int exponent = 0;
  if (*p == '.') {
    ++p;
    const char* const fraction = p;
    while (static_cast<unsigned char>(*p - '0') < 10)
      mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p++ - '0');
    digits += p - fraction;
    exponent = static_cast<int>(std::max<std::ptrdiff_t>(fraction - p, -1000));
  }
  bool plain = digits > 0 && digits <= 18;
  if (plain && (*p == 'e' || *p == 'E')) {
    ++p;
    const bool minus = *p == '-';
    if (minus || *p == '+') ++p;
    const char* const power = p;
    int e = 0;
    while (static_cast<unsigned char>(*p - '0') < 10 && p - power < 4) e = e * 10 + (*p++ - '0');
    plain = p != power;
    exponent += minus ? -e : e;
  }
  if (plain && (is_blank(*p) || *p == '\n' || p == in.end)) {
    using Exact = ExactPowers<T>;
    while (mantissa > Exact::integers && mantissa % 10 == 0) {
      mantissa /= 10;
      ++exponent;
    }
    if (mantissa <= Exact::integers && exponent >= -Exact::last && exponent <= Exact::last) {
      const T m = static_cast<T>(mantissa);
      const T value = exponent < 0 ? m / Exact::ten[-exponent] : m * Exact::ten[exponent];
      in.at = p;
      return negative ? -value : value;
    }
  }
  return take_any_real<T>(in, what, finite);
}

/// Cuts a source into pieces of whole lines. The last line may lack its newline.
class Chunker {
 public:
  // Bytes of a piece; also the longest line there may be. Small where a fuzzer's few bytes shall be many
  // pieces.
  static constexpr std::size_t kChunk = kFuzzing ? 64 : std::size_t{1} << 20;

  explicit Chunker(ByteSource& source) : source_(source) {}
  /// False at the end. `too_long`: the piece is the beginning of a line longer than kChunk.
  bool next(std::string& piece, bool& too_long);

 private:
  ByteSource& source_;
  std::string carry_;
  bool ended_ = false;
};

/// One piece, parsed.
template <class Part>
struct Parsed {
  Part part;
  std::int64_t lines = 0;        // newlines in the piece
  std::int64_t first_line = 0;   // set once all is read
  std::int64_t error_line = -1;  // within the piece, from 0
  LineError error;
  std::exception_ptr broken;
};

/// Deals the pieces of one source to all threads, in order: take(piece) is called by one thread at a time and is
/// false at the end; work(piece), which must not throw, runs outside. No more pieces are held than there are
/// threads. Returns what take() threw, after which no piece is taken.
///
/// No OpenMP tasks here: LLVM's runtime (libomp 14) frees a thread's task memory when that thread ends, while
/// the workers it lent still hold pieces of it, and a reader may well be called from a thread that ends.
template <class Piece, class Take, class Work>
std::exception_ptr deal(const Take& take, const Work& work) {
  std::mutex source;
  bool ended = false;
  std::exception_ptr unreadable;
#pragma omp parallel
  for (;;) {
    Piece piece{};
    {
      const std::lock_guard<std::mutex> one_at_a_time(source);
      try {
        ended = ended || !take(piece);
      } catch (...) {
        unreadable = std::current_exception();
        ended = true;
      }
      if (ended) break;
    }
    work(piece);
  }
  return unreadable;
}

/// Parses all of `source` piece by piece on all threads: parse(piece, part) throws LineError. The first line
/// of the source is number `line`. Throws the error of the earliest line, else what reading itself threw.
template <class Part, class Parse>
std::deque<Parsed<Part>> parse_lines(ByteSource& source, const Parse& parse, std::int64_t line = 1) {
  struct Piece {
    std::string text;
    bool too_long = false;
    Parsed<Part>* to = nullptr;
  };
  begin_text(source);
  std::deque<Parsed<Part>> parts;
  std::atomic<bool> failed{false};
  Chunker chunks(source);
  const auto take = [&](Piece& piece) {
    if (failed || !chunks.next(piece.text, piece.too_long)) return false;
    piece.to = &parts.emplace_back();
    return true;
  };
  const auto work = [&](const Piece& piece) noexcept {
    Parsed<Part>& to = *piece.to;
    try {
      to.lines = std::count(piece.text.begin(), piece.text.end(), '\n');
      if (piece.too_long) {
        throw LineError{piece.text.data(), "line is longer than 1 MiB", piece.text.substr(0, 100)};
      }
      parse(std::string_view(piece.text), to.part);
    } catch (LineError& e) {
      to.error_line = std::count(piece.text.data(), e.at, '\n');
      to.error = std::move(e);
      failed = true;
    } catch (...) {
      to.broken = std::current_exception();
      failed = true;
    }
  };
  const std::exception_ptr unreadable = deal<Piece>(take, work);
  for (Parsed<Part>& p : parts) {
    if (p.broken) std::rethrow_exception(p.broken);
    if (p.error_line >= 0) throw input_error(source.name(), line + p.error_line, p.error.what, p.error.value);
    p.first_line = line;
    line += p.lines;
  }
  if (unreadable) std::rethrow_exception(unreadable);
  return parts;
}

/// The number of lines that begin before `at`, counted once however often it is asked in ascending order.
class LineCounter {
 public:
  explicit LineCounter(const char* begin) : at_(begin) {}
  std::int32_t line_of(const char* at) {
    line_ += static_cast<std::int32_t>(std::count(at_, at, '\n'));
    at_ = at;
    return line_;
  }

 private:
  const char* at_;
  std::int32_t line_ = 0;
};

/// The word with ASCII's capitals made small.
[[nodiscard]] std::string lower(std::string_view word);

}  // namespace plumb::text
