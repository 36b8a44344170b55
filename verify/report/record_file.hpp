// A file that is whole after every record: the tail (what closes the document) is written again behind each record, in one
// write, at the place where the last tail began. A kill leaves a valid file; a full disk is cut back to the last whole state.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace plumb {

class RecordFile {
 public:
  /// Creates or empties the file. Throws Error when it cannot.
  RecordFile(std::string path, std::string_view head, std::string tail);
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  void append(std::string_view record);
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  std::string path_, tail_, trouble_;
  int fd_ = -1;
  std::int64_t end_ = 0;  // where the tail begins
};

}  // namespace plumb
