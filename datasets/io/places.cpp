#include "datasets/io/places.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace plumb {

namespace fs = std::filesystem;

int descriptor_named(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.empty() || name.size() > 9 || name.find_first_not_of("0123456789") != std::string::npos) return -1;
  std::error_code none;
  const fs::path folder =
      fs::canonical(path.parent_path().empty() ? fs::path(".") : path.parent_path(), none);
  if (none || folder != fs::canonical("/proc/self/fd", none)) return -1;
  return std::atoi(name.c_str());
}

int connect_to_socket(const std::string& socket_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int reason = errno;
    ::close(fd);
    errno = reason;
    return -1;
  }
  return fd;
}

int open_to_read(const std::string& path) {
  int fd = -1;
  do { fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC); } while (fd < 0 && errno == EINTR);
  if (fd >= 0 || errno != ENXIO) return fd;
  // A socket cannot be opened. Behind the name of a descriptor it is there already.
  fs::path at = path;
  std::error_code none;
  for (int links = 0; links < 40 && descriptor_named(at) < 0 && fs::is_symlink(at, none); ++links) {
    const fs::path next = fs::read_symlink(at, none);
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  const int open_already = descriptor_named(at);
  return open_already >= 0 ? ::fcntl(open_already, F_DUPFD_CLOEXEC, 3) : connect_to_socket(path);
}

}  // namespace plumb
