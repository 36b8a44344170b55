// What tests share that read and write files: a folder that is removed again, a limit on the size of files, gzip and tar
// made by hand, and the message of an error.
#pragma once
#include <stdlib.h>
#include <sys/resource.h>
#include <zlib.h>

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/core/error.hpp"

namespace plumb::test {

/// A folder under the system's temporary one; removed with all that is in it.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "plumb.XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path path = file(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }
  /// Number of files and folders directly in it.
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator{}));
  }

 private:
  std::string path_;
};

/// No file of this process grows beyond `bytes` while it exists: what a full disk does to a regular file. A write beyond
/// fails with EFBIG.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// One gzip member.
inline std::string gzip(std::string_view bytes) {
  z_stream zip{};
  deflateInit2(&zip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&zip, bytes.size()) + 64, '\0');
  zip.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  zip.avail_in = static_cast<uInt>(bytes.size());
  zip.next_out = reinterpret_cast<Bytef*>(out.data());
  zip.avail_out = static_cast<uInt>(out.size());
  deflate(&zip, Z_FINISH);
  out.resize(zip.total_out);
  deflateEnd(&zip);
  return out;
}

/// One tar member: header, content, padding. `type` as in ustar.
inline std::string tar_member(const std::string& name, std::string_view content, char type = '0') {
  std::string header(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
  char size[13];
  std::snprintf(size, sizeof(size), "%011zo", content.size());
  put(0, name.substr(0, 100));
  put(100, "0000644");
  put(124, size);
  put(148, "        ");
  header[156] = type;
  put(257, std::string("ustar\0", 6) + "00");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  char checksum[8];
  std::snprintf(checksum, sizeof(checksum), "%06o", sum);
  put(148, checksum);
  header[154] = '\0';
  header += content;
  header.append((512 - content.size() % 512) % 512, '\0');
  return header;
}
inline std::string tar_end() { return std::string(1024, '\0'); }

/// A zip of members, stored or deflated.
inline std::string zip(const std::vector<std::pair<std::string, std::string>>& members,
                       bool deflated = false) {
  std::string out, directory;
  const auto number = [](std::string& to, std::size_t value, int bytes) {
    for (int k = 0; k < bytes; ++k) to += static_cast<char>(value >> (8 * k) & 0xff);
  };
  for (const auto& member : members) {
    const std::string& name = member.first;  // clang 14 captures no structured bindings
    const std::string& content = member.second;
    const std::string packed = deflated ? gzip(content).substr(10, gzip(content).size() - 18) : content;
    const std::size_t crc =
        crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
    const std::size_t at = out.size();
    const auto common = [&](std::string& to) {
      number(to, 20, 2);
      number(to, 0, 2);
      number(to, deflated ? 8 : 0, 2);
      number(to, 0, 4);
      number(to, crc, 4);
      number(to, packed.size(), 4);
      number(to, content.size(), 4);
      number(to, name.size(), 2);
      number(to, 0, 2);
    };
    number(out, 0x04034b50, 4);
    common(out);
    out += name + packed;
    number(directory, 0x02014b50, 4);
    number(directory, 20, 2);
    common(directory);
    number(directory, 0, 2);
    number(directory, 0, 4);
    number(directory, 0, 4);
    number(directory, at, 4);
    directory += name;
  }
  const std::size_t at = out.size();
  out += directory;
  number(out, 0x06054b50, 4);
  number(out, 0, 4);
  number(out, members.size(), 2);
  number(out, members.size(), 2);
  number(out, directory.size(), 4);
  number(out, at, 4);
  number(out, 0, 2);
  return out;
}

/// The message of the Error that `call` throws; empty when it throws none.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& e) { return e.what(); }
  return {};
}

}  // namespace plumb::test
