// .npz: a zip of .npy members, and the scipy.sparse matrices written that way. Apart from npy.cpp for the zip
// in it.
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "datasets/formats/npy.hpp"
#include "datasets/formats/triplets.hpp"
#include "datasets/io/fuzzing.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

// Just enough of zip (PKWARE APPNOTE 4.3): the central directory names the members; local headers are only
// stepped over.
class ZipReader {
 public:
  struct Member {
    std::string name;
    std::uint64_t method = 0, flags = 0, crc = 0, packed = 0, size = 0, header_at = 0;
  };

  ZipReader(const std::string& name, std::string_view bytes) : name_(name), bytes_(bytes) {
    constexpr std::uint64_t kEnd = 22, kLongestComment = 65535;
    if (bytes_.size() < kEnd) throw input_error(name_, 0, "not a zip: too short");
    const std::uint64_t last = bytes_.size() - kEnd;
    const std::uint64_t first = last > kLongestComment ? last - kLongestComment : 0;
    std::uint64_t end = last + 1;
    for (std::uint64_t at = last + 1; at-- > first;) {
      if (number(at, 4) == 0x06054b50) {
        end = at;
        break;
      }
    }
    if (end > last) throw input_error(name_, 0, "not a zip, or cut short: its end record is missing");
    std::uint64_t count = number(end + 10, 2), at = number(end + 16, 4);
    constexpr std::uint64_t kLocator = 20;
    if (end >= kLocator && number(end - kLocator, 4) == 0x07064b50) {  // zip64
      const std::uint64_t record = number(end - kLocator + 8, 8);
      if (number(record, 4) != 0x06064b50) throw input_error(name_, 0, "zip64 end record is missing");
      count = number(record + 32, 8);
      at = number(record + 48, 8);
    }
    for (std::uint64_t k = 0; k < count; ++k) at = read_entry(at);
  }

  [[nodiscard]] const std::vector<Member>& members() const { return members_; }

  [[nodiscard]] std::string content(const Member& m) const {
    const std::string label = name_ + ":" + m.name;
    if ((m.flags & 1U) != 0) throw input_error(label, 0, "encrypted zip members are not read");
    if (number(m.header_at, 4) != 0x04034b50) throw input_error(label, 0, "zip member's header is missing");
    const std::uint64_t start = m.header_at + 30 + number(m.header_at + 26, 2) + number(m.header_at + 28, 2);
    if (start > bytes_.size() || m.packed > bytes_.size() - start)
      throw input_error(label, 0, "zip member is cut short");
    const std::string_view packed = bytes_.substr(start, m.packed);
    std::string out;
    if (m.method == 0) {
      out = packed;
    } else if (m.method == 8) {
      out = inflated(label, packed, m.size);
    } else {
      throw input_error(label, 0, "zip compression method is not read (stored and deflated are)",
                        std::to_string(m.method));
    }
    if (out.size() != m.size) {
      throw input_error(label, 0, "zip member has another size than stated", std::to_string(out.size()));
    }
    const uLong crc =
        ::crc32_z(::crc32(0, nullptr, 0), reinterpret_cast<const Bytef*>(out.data()), out.size());
    if (crc != m.crc && !kFuzzing) throw input_error(label, 0, "checksum of a zip member differs");
    return out;
  }

 private:
  [[nodiscard]] std::uint64_t number(std::uint64_t at, std::uint64_t bytes) const {
    if (at > bytes_.size() || bytes > bytes_.size() - at) throw input_error(name_, 0, "zip is cut short");
    std::uint64_t value = 0;
    for (std::uint64_t k = bytes; k-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes_[at + k]);
    return value;
  }

  std::uint64_t read_entry(std::uint64_t at) {
    if (number(at, 4) != 0x02014b50) throw input_error(name_, 0, "zip directory is damaged");
    Member m;
    m.flags = number(at + 8, 2);
    m.method = number(at + 10, 2);
    m.crc = number(at + 16, 4);
    m.packed = number(at + 20, 4);
    m.size = number(at + 24, 4);
    m.header_at = number(at + 42, 4);
    const std::uint64_t name = number(at + 28, 2), extra = number(at + 30, 2), comment = number(at + 32, 2);
    constexpr std::uint64_t kFixed = 46, k64 = 0xffffffff;
    if (at + kFixed + name + extra + comment > bytes_.size()) throw input_error(name_, 0, "zip is cut short");
    m.name = bytes_.substr(at + kFixed, name);
    std::uint64_t field = at + kFixed + name;
    const std::uint64_t end = field + extra;
    while (field + 4 <= end) {
      const std::uint64_t tag = number(field, 2), next = field + 4 + number(field + 2, 2);
      std::uint64_t from = field + 4;
      for (std::uint64_t* wide : {&m.size, &m.packed, &m.header_at}) {
        if (tag == 1 && *wide == k64 && from + 8 <= next) {
          *wide = number(from, 8);
          from += 8;
        }
      }
      field = next;
    }
    members_.push_back(std::move(m));
    return end + comment;
  }

  // At most `size` + 1 bytes come out, however many the data claim.
  static std::string inflated(const std::string& label, std::string_view packed, std::uint64_t size) {
    z_stream zip{};
    constexpr int kRaw = -15;
    if (inflateInit2(&zip, kRaw) != Z_OK) throw input_error(label, 0, "zlib cannot start");
    std::string out;
    int status = Z_OK;
    std::uint64_t used = 0, done = 0;
    constexpr std::uint64_t kStep = std::uint64_t{1} << 20;
    while (status == Z_OK && done <= size) {
      if (done == out.size()) out.resize(std::min(size + 1, done + std::max(kStep, done)));
      zip.next_in = reinterpret_cast<Bytef*>(
          const_cast<char*>(packed.data() + used));  // zlib's API is not const-correct
      zip.avail_in = static_cast<uInt>(std::min<std::uint64_t>(packed.size() - used, kStep));
      zip.next_out = reinterpret_cast<Bytef*>(out.data() + done);
      zip.avail_out = static_cast<uInt>(std::min<std::uint64_t>(out.size() - done, kStep));
      const uInt in = zip.avail_in, room = zip.avail_out;
      status = inflate(&zip, Z_NO_FLUSH);
      used += in - zip.avail_in;
      done += room - zip.avail_out;
    }
    inflateEnd(&zip);
    if (status != Z_STREAM_END) throw input_error(label, 0, "deflated zip member is corrupt or cut short");
    out.resize(done);
    return out;
  }

  const std::string& name_;
  std::string_view bytes_;
  std::vector<Member> members_;
};

const NpyArray& array_of(const std::string& file, const std::map<std::string, NpyArray>& arrays,
                         const char* name) {
  const auto it = arrays.find(name);
  if (it == arrays.end()) throw input_error(file, 0, "array is missing in the .npz", name);
  return it->second;
}

std::vector<std::int64_t> indices_of(const std::string& file, const std::map<std::string, NpyArray>& arrays,
                                     const char* name, std::int64_t limit) {
  const NpyArray& array = array_of(file, arrays, name);
  if (array.shape.size() != 1)
    throw input_error(array.name, 0, "expected a vector, the shape is", array.shape_text());
  std::vector<std::int64_t> out = npy_values<std::int64_t>(array);
  for (const std::int64_t v : out) {
    if (v < 0 || v >= limit)
      throw input_error(array.name, 0, "index is outside 0.." + std::to_string(limit - 1), std::to_string(v));
  }
  return out;
}

}  // namespace

std::map<std::string, NpyArray> read_npz(ByteSource& source) {
  const std::string bytes = read_all(source);
  const ZipReader zip(source.name(), bytes);
  std::map<std::string, NpyArray> out;
  for (const ZipReader::Member& member : zip.members()) {
    std::string name = member.name;
    if (name.size() < 4 || name.substr(name.size() - 4) != ".npy") continue;
    name.resize(name.size() - 4);
    const std::string content = zip.content(member);
    if (content.substr(0, 2) == "\x1f\x8b") {  // memory_source would inflate it: no .npy begins that way
      throw input_error(source.name() + ":" + member.name, 0, "not a .npy file: wrong magic");
    }
    const auto inner = memory_source(source.name() + ":" + member.name, content);
    if (!out.emplace(name, read_npy(*inner)).second) {
      throw input_error(source.name(), 0, "array is repeated in the .npz", member.name);
    }
  }
  return out;
}

std::map<std::string, NpyArray> read_npz(const std::string& path) {
  const auto source = open_source(path);
  return read_npz(*source);
}

std::string scipy_format(const std::map<std::string, NpyArray>& arrays) {
  const auto it = arrays.find("format");
  if (it == arrays.end() || (it->second.kind != 'S' && it->second.kind != 'U')) return {};
  std::string format;
  for (const char c : it->second.bytes) {
    if (c != '\0') format += c;
  }
  return format;
}

namespace {

using Arrays = std::map<std::string, NpyArray>;

/// What the formats have in common.
template <class T>
struct ScipyArrays {
  const std::string& file;
  const Arrays& arrays;
  std::string format;
  std::int64_t rows, cols;

  /// Errors: the array has not so many dimensions.
  [[nodiscard]] const NpyArray& data(std::size_t dimensions) const {
    const NpyArray& data = array_of(file, arrays, "data");
    if (data.shape.size() != dimensions)
      throw input_error(data.name, 0,
                        dimensions == 1 ? "expected a vector, the shape is"
                                        : "expected " + std::to_string(dimensions) + " extents, the shape is",
                        data.shape_text());
    return data;
  }
  [[nodiscard]] std::vector<std::int32_t> indices(const char* name, std::int64_t limit) const {
    const std::vector<std::int64_t> wide = indices_of(file, arrays, name, limit);
    return {wide.begin(), wide.end()};
  }
  /// Which of `major` rows (columns, rows of blocks) each of `count` places of indptr is of.
  [[nodiscard]] std::vector<std::int32_t> expanded(std::int64_t major, std::int64_t count) const {
    const std::vector<std::int64_t> ptr = indices_of(file, arrays, "indptr", count + 1);
    if (static_cast<std::int64_t>(ptr.size()) != major + 1 || ptr.front() != 0 || ptr.back() != count ||
        !std::is_sorted(ptr.begin(), ptr.end())) {
      throw input_error(
          file, 0,
          "indptr does not rise from 0 to the number of values over the rows (csc: columns; bsr: "
          "rows of blocks)");
    }
    std::vector<std::int32_t> all;
    all.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < major; ++i) {
      const auto k = static_cast<std::size_t>(i);
      all.insert(all.end(), static_cast<std::size_t>(ptr[k + 1] - ptr[k]), static_cast<std::int32_t>(i));
    }
    return all;
  }
};

template <class T>
Triplets<T> entries_of_lists(const ScipyArrays<T>& m) {
  Triplets<T> all;
  all.val = npy_values<T>(m.data(1));
  const auto nnz = static_cast<std::int64_t>(all.val.size());
  if (m.format == "coo") {
    all.row = m.indices("row", m.rows);
    all.col = m.indices("col", m.cols);
    return all;
  }
  const bool by_rows = m.format == "csr";
  all.row = m.expanded(by_rows ? m.rows : m.cols, nnz);
  all.col = m.indices("indices", by_rows ? m.cols : m.rows);
  if (!by_rows) std::swap(all.row, all.col);
  return all;
}

/// data (blocks, R, C): dense blocks of R rows and C columns.
template <class T>
Triplets<T> entries_of_blocks(const ScipyArrays<T>& m) {
  const NpyArray& data = m.data(3);
  const std::int64_t count = data.shape[0], r = data.shape[1], c = data.shape[2];
  if (r < 1 || c < 1 || m.rows % r != 0 || m.cols % c != 0)
    throw input_error(data.name, 0, "blocks do not divide the matrix, the shape is", data.shape_text());
  const std::vector<std::int32_t> block_row = m.expanded(m.rows / r, count),
                                  block_col = m.indices("indices", m.cols / c);
  if (static_cast<std::int64_t>(block_col.size()) != count)
    throw input_error(m.file, 0, "indices and blocks differ in number",
                      std::to_string(block_col.size()) + ", " + std::to_string(count));
  Triplets<T> all;
  all.val = npy_values<T>(data);
  for (std::size_t b = 0; b < block_col.size(); ++b) {
    for (std::int64_t i = 0; i < r * c; ++i) {
      all.row.push_back(static_cast<std::int32_t>(block_row[b] * r + i / c));
      all.col.push_back(static_cast<std::int32_t>(block_col[b] * c + i % c));
    }
  }
  return all;
}

/// data (diagonals, length): column j of a diagonal is at row j - offset. What lies outside the matrix is not read.
template <class T>
Triplets<T> entries_of_diagonals(const ScipyArrays<T>& m) {
  const NpyArray& data = m.data(2);
  const std::vector<std::int64_t> offsets = npy_values<std::int64_t>(array_of(m.file, m.arrays, "offsets"));
  if (static_cast<std::int64_t>(offsets.size()) != data.shape[0])
    throw input_error(m.file, 0, "offsets and diagonals differ in number",
                      std::to_string(offsets.size()) + ", " + std::to_string(data.shape[0]));
  const std::vector<T> values = npy_values<T>(data);
  const std::int64_t length = data.shape[1];
  Triplets<T> all;
  for (std::size_t d = 0; d < offsets.size(); ++d) {
    if (offsets[d] <= -m.rows || offsets[d] >= m.cols) continue;
    const std::int64_t begin = std::max<std::int64_t>(0, offsets[d]),
                       end = std::min({m.cols, length, m.rows + offsets[d]});
    for (std::int64_t j = begin; j < end; ++j) {
      const T value = values[d * static_cast<std::size_t>(length) + static_cast<std::size_t>(j)];
      if (value == 0) continue;
      all.row.push_back(static_cast<std::int32_t>(j - offsets[d]));
      all.col.push_back(static_cast<std::int32_t>(j));
      all.val.push_back(value);
    }
  }
  return all;
}

}  // namespace

template <class T>
Csr<T> scipy_matrix(const std::string& file, const Arrays& arrays) {
  const std::string format = scipy_format(arrays);
  if (format.empty())
    throw input_error(file, 0, "not a scipy.sparse matrix: the .npz has no array 'format' of text");
  if (format != "csr" && format != "csc" && format != "coo" && format != "bsr" && format != "dia") {
    throw input_error(
        file, 0, "scipy.sparse format is not read (csr, csc, coo, bsr, dia are): convert it with .tocsr()",
        format);
  }
  const std::vector<std::int64_t> shape = npy_values<std::int64_t>(array_of(file, arrays, "shape"));
  if (shape.size() != 2 || shape[0] < 0 || shape[1] < 0 || shape[0] > kLargestIndex ||
      shape[1] > kLargestIndex) {
    throw input_error(file, 0, "shape is not a pair of numbers in 0..2147483647",
                      array_of(file, arrays, "shape").shape_text());
  }
  const ScipyArrays<T> m{file, arrays, format, shape[0], shape[1]};
  Triplets<T> all = format == "bsr"   ? entries_of_blocks(m)
                    : format == "dia" ? entries_of_diagonals(m)
                                      : entries_of_lists(m);
  if (all.row.size() != all.val.size() || all.col.size() != all.val.size()) {
    throw input_error(file, 0, "indices and values differ in number",
                      std::to_string(all.row.size()) + ", " + std::to_string(all.col.size()) + ", " +
                          std::to_string(all.val.size()));
  }
  if (all.val.empty()) all = {};
  return csr_of<T>(file, shape[0], shape[1], {&all});
}

template <class T>
Csr<T> read_scipy_npz(ByteSource& source) {
  return scipy_matrix<T>(source.name(), read_npz(source));
}

template <class T>
Csr<T> read_scipy_npz(const std::string& path) {
  const auto source = open_source(path);
  return read_scipy_npz<T>(*source);
}

template Csr<float> scipy_matrix(const std::string&, const std::map<std::string, NpyArray>&);
template Csr<double> scipy_matrix(const std::string&, const std::map<std::string, NpyArray>&);
template Csr<float> read_scipy_npz(ByteSource&);
template Csr<double> read_scipy_npz(ByteSource&);
template Csr<float> read_scipy_npz(const std::string&);
template Csr<double> read_scipy_npz(const std::string&);

}  // namespace plumb
