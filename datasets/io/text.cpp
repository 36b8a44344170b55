#include "datasets/io/text.hpp"

namespace plumb::text {
namespace {

// True where the decimal in [first, last) is at least 1 in magnitude. Only asked of numbers beyond the range
// of T.
bool is_large(const char* first, const char* last) {
  std::int64_t place = 0;  // decimal exponent of the first digit that is not 0
  bool seen_point = false, seen_digit = false;
  const char* p = first;
  for (; p != last && *p != 'e' && *p != 'E'; ++p) {
    if (*p == '.') {
      seen_point = true;
    } else if (*p >= '0' && *p <= '9') {
      if (!seen_digit && *p != '0') {
        seen_digit = true;
        place = seen_point ? place - 1 : 0;
      } else if (!seen_digit && seen_point) {
        --place;
      } else if (seen_digit && !seen_point) {
        ++place;
      }
    }
  }
  std::int64_t exponent = 0;
  if (p != last) {
    ++p;
    const bool minus = p != last && *p == '-';
    if (p != last && (*p == '-' || *p == '+')) ++p;
    for (; p != last; ++p)
      exponent = std::min<std::int64_t>(exponent * 10 + (*p - '0'), std::int64_t{1} << 40);
    if (minus) exponent = -exponent;
  }
  return place + exponent >= 0;
}

}  // namespace

template <class T>
Real parse_real(const char* first, const char* last, T& out) {
  if (first != last && *first == '+') {
    ++first;
    if (first != last && *first == '-') return Real::not_a_number;
  }
  T value{};
  const auto result = std::from_chars(first, last, value);
  if (result.ptr != last || result.ec == std::errc::invalid_argument || first == last)
    return Real::not_a_number;
  if (result.ec == std::errc::result_out_of_range) {
    if (is_large(first, last)) return Real::overflow;
    value = *first == '-' ? -T{0} : T{0};
  }
  out = value;
  return Real::ok;
}

template Real parse_real(const char*, const char*, float&);
template Real parse_real(const char*, const char*, double&);

void take_byte_order_mark(ByteSource& source) {
  struct Mark {
    std::string_view bytes;
    const char *name, *shown;
  };
  using namespace std::string_view_literals;
  constexpr Mark kRefused[] = {
      {"\xff\xfe\0\0"sv, "UTF-32", "FF FE 00 00"},  // before UTF-16's, which it begins with
      {"\0\0\xfe\xff"sv, "UTF-32", "00 00 FE FF"},
      {"\xff\xfe"sv, "UTF-16", "FF FE"},
      {"\xfe\xff"sv, "UTF-16", "FE FF"}};
  const std::string_view first = source.peek(4);
  for (const Mark& mark : kRefused) {
    if (first.substr(0, mark.bytes.size()) != mark.bytes) continue;
    throw input_error(source.name(), 1,
                      std::string("text in ") + mark.name + "; convert it with: iconv -f " + mark.name +
                          " -t UTF-8 FILE > OUT; byte order mark",
                      mark.shown);
  }
  constexpr std::string_view kUtf8 = "\xef\xbb\xbf";
  if (first.substr(0, kUtf8.size()) != kUtf8) return;
  char mark[kUtf8.size()];
  source.read(mark, sizeof(mark));
}

void begin_text(ByteSource& source) {
  take_byte_order_mark(source);
  constexpr std::size_t kLooked = 4096;  // bytes: some lines of any text
  const std::string_view first = source.peek(kLooked);
  const std::size_t cr = first.find('\r');
  if (cr == std::string_view::npos || first.find('\n') != std::string_view::npos || cr + 1 >= first.size())
    return;
  throw input_error(source.name(), 1,
                    "CR line ends (each line ends with CR alone); convert them with: tr '\\r' '\\n'",
                    first.substr(0, cr));
}

bool Chunker::next(std::string& piece, bool& too_long) {
  too_long = false;
  piece = std::move(carry_);
  carry_.clear();
  if (!ended_) {
    const std::size_t held = piece.size();
    piece.resize(kChunk);
    const std::size_t got = source_.read(piece.data() + held, kChunk - held);
    ended_ = held + got < kChunk;
    piece.resize(held + got);
  }
  if (piece.empty()) return false;
  if (ended_) return true;
  const std::size_t newline = piece.rfind('\n');
  if (newline == std::string::npos) {
    too_long = true;
    return true;
  }
  carry_.assign(piece, newline + 1, std::string::npos);
  piece.resize(newline + 1);
  return true;
}

std::string lower(std::string_view word) {
  std::string out(word);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

}  // namespace plumb::text
