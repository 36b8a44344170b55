// The one way a program of ours writes a file: whole or not at all where a regular file is asked for, straight through where
// the path names a device, a pipe, a socket or a descriptor (/dev/stdout).
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace plumb {

/// One output, open from the constructor to commit() or the destructor.
///
///   path names                            what happens
///   nothing yet, or a regular file        written under a temporary name in the same folder; commit() syncs and renames it.
///                                         The new file keeps the permissions of the old one.
///   a symbolic link                       the link stays; its target is handled as its kind says
///   a device, a pipe (FIFO), a socket     opened (a Unix stream socket: connected) and written to; no rename, no seek
///   /dev/stdout, /dev/fd/N, /proc/self/fd/N   written through a duplicate of that descriptor, from its current position
///
/// Thread safety: one object per thread. Not copyable.
class OutputFile {
 public:
  /// Errors: `PATH: cannot write: reason` where the folder or the existing file cannot be written to, where the path is a
  /// folder, where no process listens on the socket. Opening a FIFO waits for its reader.
  explicit OutputFile(std::string path);
  /// Without commit() a temporary file is removed, and what was at `path` stays.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Errors: the disk is full, and whatever else write(2) reports.
  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Ends the file; nothing may be written after it. Errors: as write().
  void commit();

  /// True: commit() replaces a regular file. False: bytes leave as they are written.
  [[nodiscard]] bool replaces() const { return replaces_; }

 private:
  void open_beside(const std::string& target);
  void open_stream(const std::string& target);

  std::string path_, target_;
  int fd_ = -1;
  int slot_ = -1;  // of the table of unfinished files; -1: a stream, or committed
  bool replaces_ = false;
};

/// A folder that appears whole or not at all: filled under a temporary name beside its place, then renamed.
class OutputFolder {
 public:
  /// Errors: the place is taken by anything but an empty folder; the folder above cannot be written to.
  explicit OutputFolder(const std::string& path);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  /// Where to write the files (no folders inside).
  [[nodiscard]] const std::string& path() const { return making_; }
  void commit();

 private:
  std::string place_, making_;
  int slot_ = -1;
};

/// Throws the Error that OutputFile's constructor would throw, before hours of work; leaves nothing and opens no FIFO.
void require_writable(const std::string& path);

/// True where a regular file at `path` would be created or replaced, links followed; false for a device, a pipe, a socket, a
/// descriptor: what is written there cannot be written again.
[[nodiscard]] bool is_regular_output(const std::string& path);

/// True where `path` leads to the same place as standard output (/dev/stdout, or the terminal): then words for a person belong
/// on standard error.
[[nodiscard]] bool is_standard_output(const std::string& path);

/// From here on SIGINT, SIGTERM, SIGHUP, SIGXFSZ, SIGXCPU and SIGPIPE remove every unfinished file and folder, and end the
/// program with exit code 128 + signal. A signal that is ignored (nohup) stays ignored.
void end_cleanly_on_signals();
/// What the line of a signal says behind "interrupted": how far the program has come, in at most 255 bytes. For one thread.
void note_how_far(const std::string& text) noexcept;

/// The removing alone, for a program with handlers of its own; async-signal-safe. No OutputFile may be used afterwards. Files
/// of the parent process are left alone.
void remove_unfinished_outputs() noexcept;

}  // namespace plumb
