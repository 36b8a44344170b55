#include "datasets/formats/npy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "datasets/io/output_file.hpp"
#include "reference/core/error.hpp"
#include "reference/core/format.hpp"

namespace plumb {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they stand");

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::int64_t kLongestNpyHeader = std::int64_t{1} << 20;  // bytes; numpy itself writes 118

// The header is a Python dictionary with three keys. Only that much of Python is understood.
class HeaderParser {
 public:
  HeaderParser(const std::string& name, std::string_view text) : name_(name), in_(text) {}

  void parse(NpyArray& out) {
    bool descr = false, order = false, shape = false;
    want('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      want(':');
      if (key == "descr" && !descr) {
        descr = true;
        read_type(out);
      } else if (key == "fortran_order" && !order) {
        order = true;
        out.fortran = boolean();
      } else if (key == "shape" && !shape) {
        shape = true;
        read_shape(out);
      } else {
        fail("unknown or repeated key in the .npy header", key);
      }
      if (!take(',')) {
        want('}');
        break;
      }
    }
    skip();
    if (!in_.empty()) fail("text after the .npy header", in_);
    if (!descr || !order || !shape) fail(".npy header lacks descr, fortran_order or shape", "");
  }

 private:
  [[noreturn]] void fail(std::string_view what, std::string_view value) const {
    throw input_error(name_, 0, what, value);
  }
  [[noreturn]] void fail_type(std::string_view what, std::string_view value, char kind) const {
    throw UnreadType(input_error(name_, 0, what, value), kind);
  }
  void skip() {
    while (!in_.empty() && (in_[0] == ' ' || in_[0] == '\n' || in_[0] == '\t' || in_[0] == '\r'))
      in_.remove_prefix(1);
  }
  bool take(char c) {
    skip();
    if (in_.empty() || in_[0] != c) return false;
    in_.remove_prefix(1);
    return true;
  }
  void want(char c) {
    if (!take(c)) fail(std::string("malformed .npy header: expected ") + c, in_);
  }
  std::string_view quoted() {
    skip();
    const char quote = in_.empty() ? '\0' : in_[0];
    const std::size_t end = quote == '\'' || quote == '"' ? in_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) fail("malformed .npy header: expected a quoted word", in_);
    const std::string_view word = in_.substr(1, end - 1);
    in_.remove_prefix(end + 1);
    return word;
  }
  bool boolean() {
    skip();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (in_.substr(0, word.size()) == word) {
        in_.remove_prefix(word.size());
        return value;
      }
    }
    fail("malformed .npy header: expected True or False", in_);
  }
  std::int64_t number(std::string_view what) {
    skip();
    std::int64_t value = 0;
    std::size_t digits = 0;
    while (digits < in_.size() && in_[digits] >= '0' && in_[digits] <= '9') {
      if (value > (std::numeric_limits<std::int64_t>::max() - 9) / 10) fail(what, in_);
      value = value * 10 + (in_[digits++] - '0');
    }
    if (digits == 0) fail(what, in_);
    in_.remove_prefix(digits);
    return value;
  }
  void read_type(NpyArray& out) {
    skip();
    if (!in_.empty() && in_[0] == '[') fail_type("structured arrays are not read", in_, 'V');
    std::string_view type = quoted();
    const std::string_view whole = type;
    if (type.size() < 2) fail("unknown element type", whole);
    const char order = type[0];
    if (order == '>') fail_type("big-endian arrays are not read", whole, type[1]);
    if (order == '<' || order == '|' || order == '=') type.remove_prefix(1);
    const char kind = type[0];
    type.remove_prefix(1);
    if (kind == 'O') fail_type("arrays of Python objects are not read", whole, kind);
    if (type.empty() || type.size() > 9 ||
        !std::all_of(type.begin(), type.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      fail("unknown element type", whole);
    }
    const std::int64_t size = std::stoll(std::string(type));
    const bool integer = (kind == 'i' || kind == 'u') && (size == 1 || size == 2 || size == 4 || size == 8);
    const bool known = integer || (kind == 'b' && size == 1) ||
                       (kind == 'f' && (size == 2 || size == 4 || size == 8)) || kind == 'S' || kind == 'U';
    if (kind == 'c') fail_type("complex arrays are not read", whole, kind);
    if (!known || size == 0)
      fail_type("element type is not read (b1, i1..i8, u1..u8, f2, f4, f8 are)", whole, kind);
    out.kind = kind;
    out.item = kind == 'U' ? size * 4 : size;
  }
  void read_shape(NpyArray& out) {
    want('(');
    while (!take(')')) {
      out.shape.push_back(number("malformed shape in the .npy header"));
      if (!take(',')) {
        want(')');
        break;
      }
    }
  }

  const std::string& name_;
  std::string_view in_;
};

void take_exactly(ByteSource& source, char* to, std::size_t bytes, std::string_view what) {
  if (source.read(to, bytes) != bytes) throw input_error(source.name(), 0, what);
}

/// IEEE half precision, as stored.
struct StoredHalf {
  std::uint16_t bits;
};

template <class Stored, class T>
T converted(const NpyArray& array, Stored value) {
  if constexpr (std::is_same_v<Stored, StoredHalf>) {
    return static_cast<T>(decode(Format::f16, &value.bits));
  } else if constexpr (std::is_same_v<Stored, T>) {
    return value;
  } else if constexpr (std::is_floating_point_v<Stored>) {
    const T narrowed = static_cast<T>(value);
    if (std::isinf(narrowed) && !std::isinf(value))
      throw input_error(array.name, 0, "value overflows fp32", std::to_string(value));
    return narrowed;
  } else if constexpr (std::is_floating_point_v<T>) {
    const T wide = static_cast<T>(value);
    // Back in the wider of the two domains; 2^63 and 2^64 themselves are not values of the stored type.
    constexpr double kTop = std::is_signed_v<Stored> ? 9223372036854775808.0 : 18446744073709551616.0;
    if (static_cast<double>(wide) >= kTop || static_cast<Stored>(wide) != value) {
      throw input_error(array.name, 0, "integer that the floating type cannot hold exactly",
                        std::to_string(value));
    }
    return wide;
  } else {
    const bool fits =
        std::is_signed_v<Stored>
            ? static_cast<std::int64_t>(value) >= std::numeric_limits<T>::min() &&
                  static_cast<std::int64_t>(value) <= std::numeric_limits<T>::max()
            : static_cast<std::uint64_t>(value) <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    if (!fits) throw input_error(array.name, 0, "integer is out of range", std::to_string(value));
    return static_cast<T>(value);
  }
}

// Row-major position t of a column-major array of this shape.
std::size_t fortran_position(const std::vector<std::int64_t>& shape, std::int64_t t) {
  std::int64_t position = 0, stride = 1;
  for (const std::int64_t extent : shape) stride *= extent;
  for (std::size_t d = shape.size(); d-- > 0;) {
    stride /= shape[d];
    position += (t % shape[d]) * stride;
    t /= shape[d];
  }
  return static_cast<std::size_t>(position);
}

template <class Stored, class T>
std::vector<T> values_as(const NpyArray& array) {
  const auto n = static_cast<std::size_t>(array.count());
  std::vector<T> out(n);
  for (std::size_t t = 0; t < n; ++t) {
    const std::size_t from = array.fortran && array.shape.size() > 1
                                 ? fortran_position(array.shape, static_cast<std::int64_t>(t))
                                 : t;
    Stored value;
    std::memcpy(&value, array.bytes.data() + from * sizeof(Stored), sizeof(Stored));
    out[t] = converted<Stored, T>(array, value);
  }
  return out;
}

}  // namespace

std::int64_t NpyArray::count() const {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return 0;  // first: the other extents may be anything
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) n *= extent;
  return n;
}

std::string NpyArray::shape_text() const {
  std::string out = "(";
  for (std::size_t d = 0; d < shape.size(); ++d) out += (d > 0 ? ", " : "") + std::to_string(shape[d]);
  return out + (shape.size() == 1 ? ",)" : ")");
}

NpyArray read_npy(ByteSource& source) {
  char start[8] = {};
  const std::size_t got = source.read(start, sizeof(start));
  if (got < sizeof(start) || std::string_view(start, kNpyMagic.size()) != kNpyMagic) {
    throw input_error(source.name(), 0, "not a .npy file: wrong magic",
                      std::string_view(start, std::min(got, kNpyMagic.size())));
  }
  const int version = start[6];
  if (version < 1 || version > 3)
    throw input_error(source.name(), 0, "unknown .npy version", std::to_string(version));
  unsigned char size[4] = {};
  const std::size_t size_bytes = version == 1 ? 2 : 4;
  take_exactly(source, reinterpret_cast<char*>(size), size_bytes, ".npy header is cut short");
  const std::int64_t length =
      size[0] | size[1] << 8 | size[2] << 16 | static_cast<std::int64_t>(size[3]) << 24;
  if (length > kLongestNpyHeader)
    throw input_error(source.name(), 0, ".npy header of more than 1 MiB", std::to_string(length));
  std::string header(static_cast<std::size_t>(length), '\0');
  take_exactly(source, header.data(), header.size(), ".npy header is cut short");

  NpyArray out;
  out.name = source.name();
  HeaderParser(out.name, header).parse(out);
  constexpr std::int64_t kMost = std::int64_t{1}
                                 << 46;  // bytes: no memory holds more, and products stay below 2^63
  std::int64_t bytes = out.item;
  const bool empty = std::find(out.shape.begin(), out.shape.end(), 0) != out.shape.end();
  for (const std::int64_t extent : out.shape) {
    if (empty) bytes = 0;
    if (extent > kMost / std::max<std::int64_t>(bytes, 1)) {
      throw input_error(source.name(), 0, "shape is too large", out.shape_text());
    }
    bytes *= extent;
  }
  // Memory grows as data are read, so that a wrong shape ends in an error before it fills the memory.
  constexpr std::int64_t kStep = std::int64_t{4} << 20;
  for (std::int64_t done = 0; done < bytes;) {
    const std::int64_t n = std::min(bytes - done, std::max(kStep, done));
    out.bytes.resize(static_cast<std::size_t>(done + n));
    const auto read =
        static_cast<std::int64_t>(source.read(out.bytes.data() + done, static_cast<std::size_t>(n)));
    if (read != n) {
      throw input_error(source.name(), 0, ".npy data is cut short: bytes found, bytes expected",
                        std::to_string(done + read) + ", " + std::to_string(bytes));
    }
    done += n;
  }
  char extra = 0;
  if (source.read(&extra, 1) != 0) throw input_error(source.name(), 0, "bytes after the .npy data");
  return out;
}

NpyArray read_npy(const std::string& path) {
  const auto source = open_source(path);
  return read_npy(*source);
}

template <class T>
std::vector<T> npy_values(const NpyArray& a) {
  if (!a.unread.empty()) throw Error(a.unread);
  const std::string type = a.type();
  if (type == "b1") {
    std::vector<T> out = values_as<std::uint8_t, T>(a);
    for (T& v : out) v = v != T{0} ? T{1} : T{0};
    return out;
  }
  if (type == "i1") return values_as<std::int8_t, T>(a);
  if (type == "u1") return values_as<std::uint8_t, T>(a);
  if (type == "i2") return values_as<std::int16_t, T>(a);
  if (type == "u2") return values_as<std::uint16_t, T>(a);
  if (type == "i4") return values_as<std::int32_t, T>(a);
  if (type == "u4") return values_as<std::uint32_t, T>(a);
  if (type == "i8") return values_as<std::int64_t, T>(a);
  if (type == "u8") return values_as<std::uint64_t, T>(a);
  if constexpr (std::is_floating_point_v<T>) {
    if (type == "f2") return values_as<StoredHalf, T>(a);
    if (type == "f4") return values_as<float, T>(a);
    if (type == "f8") return values_as<double, T>(a);
  }
  throw input_error(a.name, 0,
                    std::is_floating_point_v<T> ? "expected numbers, the array holds"
                                                : "expected integers, the array holds",
                    type);
}

template <class T>
Dense<T> npy_dense(const NpyArray& array) {
  if (array.shape.size() != 2)
    throw input_error(array.name, 0, "expected a matrix, the shape is", array.shape_text());
  Dense<T> out;
  out.rows = array.shape[0];
  out.cols = array.shape[1];
  out.data = npy_values<T>(array);
  return out;
}

template <class T>
void write_npy(const std::string& path, const std::vector<std::int64_t>& shape,
               const std::vector<T>& values) {
  NpyArray about;
  about.shape = shape;
  if (about.count() != static_cast<std::int64_t>(values.size())) {
    throw input_error(path, 0, "shape and number of values differ", about.shape_text());
  }
  std::string header = std::string("{'descr': '<") + (std::is_floating_point_v<T> ? 'f' : 'i') +
                       std::to_string(sizeof(T)) +
                       "', 'fortran_order': False, 'shape': " + about.shape_text() + ", }";
  constexpr std::size_t kStart = 10, kAlign = 64;  // numpy pads so that the data begin at a multiple of 64
  header.append((kAlign - (kStart + header.size() + 1) % kAlign) % kAlign, ' ');
  header += '\n';
  std::string start(kNpyMagic);
  start += {1, 0, static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  OutputFile file(path);
  file.write(start.data(), start.size());
  file.write(header.data(), header.size());
  file.write(values.data(), values.size() * sizeof(T));
  file.commit();
}

template std::vector<float> npy_values(const NpyArray&);
template std::vector<double> npy_values(const NpyArray&);
template std::vector<std::int32_t> npy_values(const NpyArray&);
template std::vector<std::int64_t> npy_values(const NpyArray&);
template Dense<float> npy_dense(const NpyArray&);
template Dense<double> npy_dense(const NpyArray&);
template void write_npy(const std::string&, const std::vector<std::int64_t>&, const std::vector<float>&);
template void write_npy(const std::string&, const std::vector<std::int64_t>&, const std::vector<double>&);
template void write_npy(const std::string&, const std::vector<std::int64_t>&,
                        const std::vector<std::int32_t>&);
template void write_npy(const std::string&, const std::vector<std::int64_t>&,
                        const std::vector<std::int64_t>&);

}  // namespace plumb
