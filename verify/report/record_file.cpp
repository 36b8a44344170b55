#include "verify/report/record_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "reference/core/error.hpp"

namespace plumb {

RecordFile::RecordFile(std::string path, std::string_view head, std::string tail, std::string unfinished)
    : path_(std::move(path)), tail_(std::move(tail)), unfinished_(std::move(unfinished)) {
  if (is_regular_output(path_)) {
    open_regular();
  } else {
    stream_.emplace(path_);
  }
  append(head);
}

RecordFile::~RecordFile() {
  if (stream_) finish(false);
  if (fd_ >= 0) close(fd_);
}

void RecordFile::open_regular() {
  const auto refuse = [&](const char* why) {
    if (fd_ >= 0) close(fd_);
    throw Error(fmt::format("{}: cannot write the report: {}", path_, why));
  };
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd_ < 0) refuse(std::strerror(errno));
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    refuse("another report is being written to this file");
  if (ftruncate(fd_, 0) != 0) refuse(std::strerror(errno));
}

void RecordFile::append(std::string_view record) {
  if (!write_error_.empty()) return;
  stream_ ? send(record) : append_whole(record);
}

void RecordFile::finish(bool complete) {
  if (complete) unfinished_.clear();
  if (!stream_) {
    if (complete && write_error_.empty()) end_whole();
    return;
  }
  if (write_error_.empty()) send(unfinished_ + tail_);
  try {
    if (write_error_.empty()) stream_->commit();
  } catch (const Error& e) { write_error_ = e.what(); }
  stream_.reset();
}

// The last tail takes less than the one before.
void RecordFile::end_whole() {
  append_whole("");
  if (write_error_.empty() && ftruncate(fd_, end_ + static_cast<off_t>(tail_.size())) != 0)
    write_error_ = fmt::format("{}: the report is not ended: {}", path_, std::strerror(errno));
}

void RecordFile::send(std::string_view text) {
  try {
    stream_->write(text);
  } catch (const Error& e) { write_error_ = fmt::format("{}; the report ends early", e.what()); }
}

void RecordFile::append_whole(std::string_view record) {
  const std::string tail = unfinished_ + tail_;
  std::string text(record);
  text += tail;
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = pwrite(fd_, text.data() + done, text.size() - done, end_ + static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      write_error_ =
          fmt::format("{}: the report ends early: {}", path_, std::strerror(n < 0 ? errno : ENOSPC));
      // cut back to the last whole document, whose tail has fitted before
      if (ftruncate(fd_, end_) == 0 &&
          pwrite(fd_, tail.data(), tail.size(), end_) != static_cast<ssize_t>(tail.size())) {
        write_error_ += ", and could not be closed";
      }
      return;
    }
    done += static_cast<std::size_t>(n);
  }
  end_ += static_cast<std::int64_t>(record.size());
}

}  // namespace plumb
