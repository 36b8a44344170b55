// A file that appears whole or not at all: written under a temporary name in the same folder, synced, then
// renamed.
#pragma once
#include <atomic>
#include <cstddef>
#include <string>

namespace plumb {

/// For a handler of Ctrl-C: while files are open it sets the flag, and the next write() throws, so that unwinding
/// removes what is half written; while none is open, the program may simply end.
inline std::atomic<bool> stop_writing{false};
inline std::atomic<int> open_files{0};

class AtomicFile {
 public:
  /// Errors: the folder cannot be written to.
  explicit AtomicFile(std::string path);
  /// Without commit() the temporary file is removed and what was at `path` stays.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Errors: the disk is full, and whatever else write(2) says.
  void write(const void* data, std::size_t bytes);
  /// Syncs and renames. Nothing may be written after it.
  void commit();

 private:
  std::string path_, temporary_;
  int fd_ = -1;
};

}  // namespace plumb
