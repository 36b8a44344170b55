#include "datasets/io/zip_archive.hpp"

#include <zlib.h>

#include <algorithm>

#include "datasets/io/fuzzing.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

// At most `size` + 1 bytes come out, however many the data claim.
std::string inflated(const std::string& label, std::string_view packed, std::uint64_t size) {
  z_stream zip{};
  constexpr int kRaw = -15;
  if (inflateInit2(&zip, kRaw) != Z_OK) throw input_error(label, 0, "zlib cannot start");
  std::string out;
  int status = Z_OK;
  std::uint64_t used = 0, done = 0;
  constexpr std::uint64_t kStep = std::uint64_t{1} << 20;
  while (status == Z_OK && done <= size) {
    if (done == out.size()) out.resize(std::min(size + 1, done + std::max(kStep, done)));
    zip.next_in =
        reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + used));  // zlib's API is not const-correct
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

}  // namespace

ZipArchive::ZipArchive(const std::string& name, std::string_view bytes) : name_(name), bytes_(bytes) {
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

std::string ZipArchive::content(const Member& m) const {
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
  const uLong crc = ::crc32_z(::crc32(0, nullptr, 0), reinterpret_cast<const Bytef*>(out.data()), out.size());
  if (crc != m.crc && !kFuzzing) throw input_error(label, 0, "checksum of a zip member differs");
  return out;
}

std::uint64_t ZipArchive::number(std::uint64_t at, std::uint64_t bytes) const {
  if (at > bytes_.size() || bytes > bytes_.size() - at) throw input_error(name_, 0, "zip is cut short");
  std::uint64_t value = 0;
  for (std::uint64_t k = bytes; k-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes_[at + k]);
  return value;
}

std::uint64_t ZipArchive::read_entry(std::uint64_t at) {
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

}  // namespace plumb
