// A report that grows by records. A regular file is whole after every one: the tail (what closes the document) is written again behind
// each record, in one write, where the last tail began, so that a kill leaves a valid file and a full disk is cut back to the last
// whole state. Until the last record is there it may say that it is not finished. A device, a pipe or /dev/stdout gets every record once, and the tail at the end.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "datasets/io/output_file.hpp"

namespace plumb {

class RecordFile {
 public:
  /// Creates or empties the file, links followed. Throws Error when it cannot, or when another report is being written to it.
  /// `unfinished`: what stands before the tail until finish(), and says that records are missing.
  RecordFile(std::string path, std::string_view head, std::string tail, std::string unfinished = {});
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  void append(std::string_view record);
  /// No record follows. `complete`: none is missing either.
  void finish(bool complete = true);
  /// What went wrong while writing, or "".
  [[nodiscard]] const std::string& write_error() const { return write_error_; }

 private:
  void open_regular();
  void send(std::string_view text);
  void append_whole(std::string_view record);
  void end_whole();

  std::string path_, tail_, unfinished_, write_error_;
  std::optional<OutputFile> stream_;
  int fd_ = -1;
  std::int64_t end_ = 0;  // where the tail begins
};

}  // namespace plumb
