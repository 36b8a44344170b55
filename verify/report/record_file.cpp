#include "verify/report/record_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "reference/core/error.hpp"

namespace plumb {

RecordFile::RecordFile(std::string path, std::string_view head, std::string tail) : path_(std::move(path)), tail_(std::move(tail)) {
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0) throw Error(fmt::format("{}: cannot write the report: {}", path_, std::strerror(errno)));
  append(head);
}

RecordFile::~RecordFile() {
  if (fd_ >= 0) close(fd_);
}

void RecordFile::append(std::string_view record) {
  if (!trouble_.empty()) return;
  std::string text(record);
  text += tail_;
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = pwrite(fd_, text.data() + done, text.size() - done, end_ + static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      trouble_ = fmt::format("{}: the report ends early: {}", path_, std::strerror(n < 0 ? errno : ENOSPC));
      // back to the last whole document; its tail fitted there before
      if (ftruncate(fd_, end_) == 0 && pwrite(fd_, tail_.data(), tail_.size(), end_) != static_cast<ssize_t>(tail_.size())) {
        trouble_ += ", and could not be closed";
      }
      return;
    }
    done += static_cast<std::size_t>(n);
  }
  end_ += static_cast<std::int64_t>(record.size());
}

}  // namespace plumb
