#include "datasets/io/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>

#include "datasets/io/fuzzing.hpp"
#include "datasets/io/places.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

constexpr std::size_t kBlock = std::size_t{256} << 10;  // bytes of compressed input held at a time

class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::string& path) : ByteSource(path) {
    fd_ = open_to_read(path);
    if (fd_ < 0) throw input_error(path, 0, "cannot open", std::strerror(errno));
    struct stat about {};
    const bool known = ::fstat(fd_, &about) == 0;
    if (known && S_ISDIR(about.st_mode)) {
      ::close(fd_);
      throw input_error(path, 0, "is a folder, expected a file");
    }
    regular_ = known && S_ISREG(about.st_mode) && ::lseek(fd_, 0, SEEK_CUR) == 0;
  }
  ~FileSource() override { ::close(fd_); }
  [[nodiscard]] int mappable() const override { return regular_ ? fd_ : -1; }

 protected:
  std::size_t pull(char* to, std::size_t bytes) override {
    std::size_t done = 0;
    while (done < bytes) {
      const ssize_t got = ::read(fd_, to + done, std::min(bytes - done, std::size_t{1} << 30));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw input_error(name(), 0, "cannot read", std::strerror(errno));
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  int fd_ = -1;
  bool regular_ = false;
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string name, std::string_view bytes) : ByteSource(std::move(name)), left_(bytes) {}

 protected:
  std::size_t pull(char* to, std::size_t bytes) override {
    const std::size_t n = std::min(bytes, left_.size());
    if (n > 0) std::memcpy(to, left_.data(), n);
    left_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view left_;
};

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> packed)
      : ByteSource(packed->name()), packed_(std::move(packed)), buffer_(kBlock, '\0') {
    constexpr int kGzipOnly = 15 + 16;
    if (inflateInit2(&zip_, kGzipOnly) != Z_OK) throw input_error(name(), 0, "zlib cannot start");
  }
  ~GzipSource() override { inflateEnd(&zip_); }

 protected:
  std::size_t pull(char* to, std::size_t bytes) override {
    std::size_t done = 0;
    while (done < bytes && !finished_) {
      if (zip_.avail_in == 0) refill();
      if (between_members_) {
        if (!start_next_member()) break;
        continue;
      }
      if (zip_.avail_in == 0) throw input_error(name(), 0, "gzip data is cut short");
      const auto room = static_cast<uInt>(std::min<std::size_t>(bytes - done, 1U << 30));
      zip_.next_out = reinterpret_cast<Bytef*>(to + done);
      zip_.avail_out = room;
      const int status = inflate(&zip_, Z_NO_FLUSH);
      done += room - zip_.avail_out;
      if (status == Z_STREAM_END) {
        between_members_ = true;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw input_error(name(), 0, "gzip data is corrupt", zip_.msg != nullptr ? zip_.msg : "");
      }
    }
    return done;
  }

 private:
  void refill() {
    zip_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
    zip_.avail_in = static_cast<uInt>(packed_->read(buffer_.data(), buffer_.size()));
  }

  // Members may follow each other, and zero bytes may pad the last one (tapes do). Anything else is damage.
  bool start_next_member() {
    if (zip_.avail_in == 0) {
      finished_ = true;
      return false;
    }
    if (padded_ || *zip_.next_in == 0) {
      padded_ = true;
      if (*zip_.next_in != 0) throw input_error(name(), 0, "bytes after the end of the gzip data");
      ++zip_.next_in;
      --zip_.avail_in;
      return true;
    }
    if (*zip_.next_in != 0x1f) throw input_error(name(), 0, "bytes after the end of the gzip data");
    inflateReset(&zip_);
    between_members_ = false;
    return true;
  }

  std::unique_ptr<ByteSource> packed_;
  std::string buffer_;
  z_stream zip_{};
  bool between_members_ = false, padded_ = false, finished_ = false;
};

std::unique_ptr<ByteSource> inflate_if_gzip(std::unique_ptr<ByteSource> raw) {
  if (raw->peek(2) != "\x1f\x8b") return raw;
  return std::make_unique<GzipSource>(std::move(raw));
}

constexpr std::size_t kTarBlock = 512;
constexpr std::int64_t kLongestHeader = std::int64_t{1} << 20;  // bytes of a GNU long name or a pax header

std::string_view text_field(std::string_view block, std::size_t at, std::size_t size) {
  const std::string_view field = block.substr(at, size);
  return field.substr(0, field.find('\0'));
}

// Octal digits, or base 256 where the top bit is set. Negative: not a number.
std::int64_t number_field(std::string_view block, std::size_t at, std::size_t size) {
  const std::string_view field = block.substr(at, size);
  const auto first = static_cast<unsigned char>(field[0]);
  if ((first & 0x80U) != 0) {
    std::int64_t value = first & 0x7fU;
    for (const char c : field.substr(1)) {
      if (value > (std::numeric_limits<std::int64_t>::max() >> 8)) return -1;
      value = (value << 8) | static_cast<unsigned char>(c);
    }
    return value;
  }
  std::int64_t value = 0;
  bool any = false;
  for (const char c : field) {
    if (c == ' ' && !any) continue;
    if (c == ' ' || c == '\0') break;
    if (c < '0' || c > '7') return -1;
    any = true;
    value = value * 8 + (c - '0');  // at most 12 digits: no overflow
  }
  return value;
}

// "LENGTH key=value\n" records; the ones that matter here are path and size.
void read_pax(const ByteSource& source, std::string_view text, std::string& path, std::int64_t& size) {
  while (!text.empty()) {
    std::size_t length = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), length);
    const auto digits = static_cast<std::size_t>(parsed.ptr - text.data());
    if (parsed.ec != std::errc{} || length > text.size() || length < digits + 2 || text[digits] != ' ' ||
        text[length - 1] != '\n') {
      throw input_error(source.name(), 0, "malformed pax header", text);
    }
    const std::string_view record = text.substr(digits + 1, length - digits - 2);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) throw input_error(source.name(), 0, "malformed pax header", record);
    const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
    if (key == "path") path = value;
    if (key == "size") {
      const auto number = std::from_chars(value.data(), value.data() + value.size(), size);
      if (number.ec != std::errc{} || number.ptr != value.data() + value.size() || size < 0) {
        throw input_error(source.name(), 0, "malformed size in a pax header", value);
      }
    }
    text.remove_prefix(length);
  }
}

}  // namespace

std::unique_ptr<ByteSource> open_source(const std::string& path) {
  return inflate_if_gzip(std::make_unique<FileSource>(path));
}

std::unique_ptr<ByteSource> open_raw_source(const std::string& path) {
  return std::make_unique<FileSource>(path);
}

std::unique_ptr<ByteSource> memory_source(std::string name, std::string_view bytes) {
  return inflate_if_gzip(std::make_unique<MemorySource>(std::move(name), bytes));
}

std::size_t ByteSource::read(char* to, std::size_t bytes) {
  const std::size_t n = std::min(bytes, held_.size() - used_);
  if (n > 0) std::memcpy(to, held_.data() + used_, n);
  used_ += n;
  if (used_ == held_.size()) {
    held_.clear();
    used_ = 0;
  }
  return n == bytes ? n : n + pull(to + n, bytes - n);
}

std::string_view ByteSource::peek(std::size_t bytes) {
  const std::size_t before = held_.size() - used_;
  if (before < bytes) {
    held_.erase(0, used_);
    used_ = 0;
    held_.resize(bytes);
    held_.resize(before + pull(held_.data() + before, bytes - before));
  }
  return std::string_view(held_).substr(used_, bytes);
}

void drain(ByteSource& source) {
  std::string scrap(kBlock, '\0');
  while (source.read(scrap.data(), scrap.size()) > 0) {}
}

std::string read_all(ByteSource& source, std::size_t limit) {
  std::string bytes;
  std::size_t used = 0;
  for (;;) {
    bytes.resize(std::max<std::size_t>(kBlock, used * 2));
    const std::size_t got = source.read(bytes.data() + used, bytes.size() - used);
    used += got;
    if (used > limit)
      throw input_error(source.name(), 0, "larger than it can be, in bytes", std::to_string(limit));
    if (used < bytes.size()) break;
  }
  bytes.resize(used);
  return bytes;
}

bool looks_like_tar(std::string_view block) {
  if (block.size() < kTarBlock || block[0] == '\0') return false;
  const std::int64_t stated = number_field(block, 148, 8);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < kTarBlock; ++i) {
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(block[i]);
  }
  return stated == sum || kFuzzing;
}

bool TarReader::next(Member& member) {
  skip(unread_ + padding_);
  unread_ = padding_ = 0;
  std::string long_name;
  std::int64_t pax_size = -1;
  for (;;) {
    std::string block(kTarBlock, '\0');
    const std::size_t got = source_.read(block.data(), block.size());
    if (got != kTarBlock) throw input_error(source_.name(), 0, "tar is cut short: its end mark is missing");
    if (std::all_of(block.begin(), block.end(), [](char c) { return c == '\0'; })) {
      drain(source_);
      return false;
    }
    if (!looks_like_tar(block)) throw input_error(source_.name(), 0, "not a tar header (wrong checksum)");
    std::int64_t size = number_field(block, 124, 12);
    if (size < 0)
      throw input_error(source_.name(), 0, "impossible size in a tar header", text_field(block, 0, 100));
    const char type = block[156];
    const auto padded = [](std::int64_t n) { return (512 - n % 512) % 512; };
    if (type == 'L' || type == 'K' || type == 'x' || type == 'g') {
      if (size > kLongestHeader) {
        throw input_error(source_.name(), 0, "tar extension header of more than 1 MiB", std::to_string(size));
      }
      const std::string text = take(size);
      skip(padded(size));
      if (type == 'L') long_name = text.substr(0, text.find('\0'));
      if (type == 'x') read_pax(source_, text, long_name, pax_size);
      continue;
    }
    current_.name = long_name;
    if (long_name.empty()) {
      const bool ustar = text_field(block, 257, 5) == "ustar" && block[262] == '\0';
      const std::string_view prefix = ustar ? text_field(block, 345, 155) : std::string_view{};
      if (!prefix.empty()) current_.name = std::string(prefix) + "/";
      current_.name += text_field(block, 0, 100);
    }
    if (pax_size >= 0) size = pax_size;
    long_name.clear();
    pax_size = -1;
    const bool regular = type == '0' || type == '\0' || type == '7';
    const bool link = type == '1' || type == '2';
    current_.size = link ? 0 : size;
    unread_ = current_.size;
    padding_ = padded(current_.size);
    if (regular) {
      member = current_;
      return true;
    }
    skip(unread_ + padding_);
    unread_ = padding_ = 0;
  }
}

std::string TarReader::content() {
  const std::int64_t bytes = unread_;
  unread_ = 0;
  return take(bytes);
}

std::string TarReader::label() const { return source_.name() + ":" + current_.name; }

void TarReader::skip(std::int64_t bytes) {
  std::string scrap(std::min<std::size_t>(kBlock, static_cast<std::size_t>(bytes)), '\0');
  while (bytes > 0) {
    const auto n = std::min(static_cast<std::int64_t>(scrap.size()), bytes);
    const auto got = static_cast<std::int64_t>(source_.read(scrap.data(), static_cast<std::size_t>(n)));
    if (got != n) throw input_error(label(), 0, "tar member is cut short");
    bytes -= n;
  }
}

// Memory grows as bytes are read, so that a wrong size ends in an error before it fills the memory.
std::string TarReader::take(std::int64_t bytes) {
  constexpr std::int64_t kStep = std::int64_t{4} << 20;
  std::string out;
  std::int64_t done = 0;
  while (done < bytes) {
    const std::int64_t n = std::min(bytes - done, std::max(kStep, done));
    out.resize(static_cast<std::size_t>(done + n));
    const auto got = static_cast<std::int64_t>(source_.read(out.data() + done, static_cast<std::size_t>(n)));
    if (got != n) throw input_error(label(), 0, "tar member is cut short");
    done += n;
  }
  return out;
}

}  // namespace plumb
