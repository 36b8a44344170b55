// Bytes in order, wherever they lie: a plain file, gzip (also of several members), memory, and the members of
// a tar. Every reader of this room takes a ByteSource, so that compression, archives and tests come for free.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace plumb {

/// What a reader found out about its source, beside the matrix.
struct Findings {
  std::vector<std::string> notes;  // what it guessed, one line each, with the option that says otherwise
  std::int64_t base = 0;           // that the file's indices count from
  bool sized = true;               // the file tells the size; else it is that of the largest index
};

/// A stream of bytes with the name that error messages carry. Not shared between threads.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Up to `bytes` bytes into `to`; fewer only at the end, 0 from then on. Throws Error on damage.
  std::size_t read(char* to, std::size_t bytes);
  /// The next bytes without taking them, as many as there are up to `bytes`: what a format is recognised by. A pipe cannot be
  /// opened twice, so code that looks at the first bytes passes the same source on. Valid until the next call.
  [[nodiscard]] std::string_view peek(std::size_t bytes);
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Written by readers, told by those who open a source.
  [[nodiscard]] Findings& findings() { return findings_; }
  /// The descriptor of a regular file that is read as it stands, for mmap; -1 for everything else.
  [[nodiscard]] virtual int mappable() const { return -1; }

 protected:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  /// As read(), from the underlying bytes.
  virtual std::size_t pull(char* to, std::size_t bytes) = 0;

 private:
  std::string name_;
  Findings findings_;
  std::string held_;  // peeked at and not yet taken, from held_[used_] on
  std::size_t used_ = 0;
};

/// The file's content, opened once; gzip is recognised by its magic, not by its name, and inflated on the way. A pipe, a
/// device, a Unix stream socket and the names of descriptors (/dev/stdin, /dev/fd/N) are read as they come.
/// Errors: cannot open; is a folder; truncated gzip; corrupt gzip; bytes after the last gzip member.
[[nodiscard]] std::unique_ptr<ByteSource> open_source(const std::string& path);

/// The same with nothing inflated: the bytes as they stand.
[[nodiscard]] std::unique_ptr<ByteSource> open_raw_source(const std::string& path);

/// Bytes in memory, which must outlive the source; gzip is inflated as from a file.
[[nodiscard]] std::unique_ptr<ByteSource> memory_source(std::string name, std::string_view bytes);

/// Everything that is left in the source. Errors: more than `limit` bytes.
[[nodiscard]] std::string read_all(ByteSource& source, std::size_t limit = std::size_t{1} << 40);

/// The members of a tar stream (ustar, GNU long names, pax headers), in order, without seeking.
class TarReader {
 public:
  struct Member {
    std::string name;
    std::int64_t size = 0;  // bytes
  };
  /// The source must outlive the reader.
  explicit TarReader(ByteSource& source) : source_(source) {}

  /// Steps to the next regular file, past what was left unread. False at the end of the archive.
  /// Errors: not a tar (checksum), a member or a header cut short, a size that cannot be.
  bool next(Member& member);
  /// The content of the current member, at most once per member. Errors: cut short.
  [[nodiscard]] std::string content();
  /// "ARCHIVE:MEMBER", the name to put into error messages about the current member.
  [[nodiscard]] std::string label() const;

 private:
  void skip(std::int64_t bytes);
  [[nodiscard]] std::string take(std::int64_t bytes);

  ByteSource& source_;
  Member current_;
  std::int64_t unread_ = 0;   // of the current member
  std::int64_t padding_ = 0;  // after it, up to the next multiple of 512
};

/// Reads to the end, so that a wrong checksum behind the last byte that was needed is found. Throws as read() does.
void drain(ByteSource& source);

/// True where the stream looks like a tar: a valid header checksum in its first 512 bytes.
[[nodiscard]] bool looks_like_tar(std::string_view first_block);

}  // namespace plumb
