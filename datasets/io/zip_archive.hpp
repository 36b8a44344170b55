// The members of a zip in memory: what .npz and PyTorch's .pt files are.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumb {

/// Just enough of zip (PKWARE APPNOTE 4.3): the central directory names the members; local headers are only stepped over.
class ZipArchive {
 public:
  struct Member {
    std::string name;
    std::uint64_t method = 0, flags = 0, crc = 0, packed = 0, size = 0, header_at = 0;
  };

  /// `name`: the file, for messages. It and `bytes` must outlive the archive. zip64 is read.
  /// Errors: not a zip; cut short; a damaged directory.
  ZipArchive(const std::string& name, std::string_view bytes);

  [[nodiscard]] const std::vector<Member>& members() const { return members_; }
  /// Stored or deflated. Errors: cut short; a size or CRC that differs; encrypted; another compression.
  [[nodiscard]] std::string content(const Member& m) const;

 private:
  [[nodiscard]] std::uint64_t number(std::uint64_t at, std::uint64_t bytes) const;
  std::uint64_t read_entry(std::uint64_t at);

  const std::string& name_;
  std::string_view bytes_;
  std::vector<Member> members_;
};

}  // namespace plumb
