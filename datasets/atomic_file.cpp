#include "datasets/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "reference/core/error.hpp"

namespace plumb {

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), temporary_(path_ + ".XXXXXX") {
  fd_ = ::mkstemp(temporary_.data());
  if (fd_ < 0) throw input_error(path_, 0, "cannot write", std::strerror(errno));
  // mkstemp gives 0600; the result shall look as if it had been opened in the usual way.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(fd_, 0666 & ~mask);
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::write(fd_, from, std::min(bytes, std::size_t{1} << 30));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) throw input_error(path_, 0, "cannot write", std::strerror(errno));
    from += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

void AtomicFile::commit() {
  const bool synced = ::fsync(fd_) == 0 || errno == EINVAL || errno == EROFS;  // EINVAL: a pipe or the like
  const bool closed = ::close(fd_) == 0;
  fd_ = -1;
  if (!synced || !closed || std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary_.c_str());
    throw input_error(path_, 0, "cannot write", std::strerror(reason));
  }
}

}  // namespace plumb
