#include "datasets/io/output_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "datasets/io/places.hpp"
#include "reference/core/error.hpp"
#include "reference/core/exit_code.hpp"

namespace plumb {
namespace {

namespace fs = std::filesystem;

// ---- what a signal must remove ------------------------------------------------------------------------------------

// A signal handler may call few functions, so the names are in static memory. mkstemp writes the name into the slot before it creates the
// file, so there is no moment at which a temporary file is not in the table.
struct Unfinished {
  std::atomic<bool> taken{false};
  std::atomic<pid_t> owner{
      0};  // a child made by fork must not remove its parent's files; 0: nothing to remove
  bool folder = false;
  std::array<char, PATH_MAX> path{};
};
constexpr int kSlots = 64;
std::array<Unfinished, kSlots> unfinished;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<int> creating{0};               // NOLINT: threads between the name and the file
std::atomic<bool> ending{false};            // NOLINT

constexpr std::array kEndingSignals{SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGALRM,
                                    SIGXFSZ, SIGXCPU, SIGPIPE, SIGUSR1, SIGUSR2};

// While an object of this class exists, this thread gets no signal, and a handler in another thread waits for it.
class Creating {
 public:
  Creating() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
    ++creating;
    if (!ending) return;
    --creating;
    for (;;) ::pause();  // another thread is ending the program
  }
  ~Creating() {
    --creating;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  Creating(const Creating&) = delete;
  Creating& operator=(const Creating&) = delete;

 private:
  sigset_t before_{};
};

int take_slot(const std::string& path, const std::string& pattern) {
  if (pattern.size() >= PATH_MAX) throw input_error(path, 0, "cannot write", std::strerror(ENAMETOOLONG));
  for (int k = 0; k < kSlots; ++k) {
    Unfinished& slot = unfinished[static_cast<std::size_t>(k)];
    if (slot.taken.exchange(true)) continue;
    std::memcpy(slot.path.data(), pattern.c_str(), pattern.size() + 1);
    return k;
  }
  throw input_error(path, 0, "cannot write", "too many files are being written at once");
}

Unfinished& slot_of(int k) { return unfinished[static_cast<std::size_t>(k)]; }

void leave_slot(int k) {
  slot_of(k).owner = 0;
  slot_of(k).taken = false;
}

// Creates the temporary file or folder of slot k: its descriptor, 0 for a folder, -1 with errno.
int create_in_slot(int k, bool folder) {
  const Creating guard;
  Unfinished& slot = slot_of(k);
  slot.folder = folder;
  int fd = -1;
  if (folder) {
    fd = ::mkdtemp(slot.path.data()) == nullptr ? -1 : 0;
  } else {
    fd = ::mkostemp(slot.path.data(), O_CLOEXEC);
  }
  if (fd >= 0) slot.owner = ::getpid();
  return fd;
}

// One level of files and the folder itself, by system calls alone: opendir() allocates.
void remove_flat_folder(const char* path) noexcept {
  struct Entry {  // linux_dirent64
    std::uint64_t inode;
    std::int64_t offset;
    unsigned short length;  // NOLINT(google-runtime-int): the kernel's type
    unsigned char type;
    char name[1];
  };
  const int fd = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  alignas(8) char block[4096];
  for (;;) {
    const auto got = ::syscall(SYS_getdents64, fd, block, sizeof block);
    if (got <= 0) break;
    for (std::int64_t at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const Entry*>(block + at);
      ::unlinkat(fd, entry->name, 0);  // fails for . and ..
      at += entry->length;
    }
  }
  ::close(fd);
  ::rmdir(path);
}

// How far the program has come: a handler reads the one of the two that is not being written.
std::array<std::array<char, 256>, 2> how_far{};  // NOLINT
std::atomic<const char*> how_far_now{nullptr};   // NOLINT

void write_text(const char* text) noexcept { (void)!::write(2, text, std::strlen(text)); }

void end_now(int signal) {
  if (ending.exchange(true)) {
    for (;;) ::pause();
  }
  while (creating > 0) {}
  remove_unfinished_outputs();
  if (signal == SIGXFSZ) {
    write_text("\nthe file is larger than the limit (ulimit -f); it was removed\n");
  } else if (signal != SIGPIPE) {
    write_text("\ninterrupted");
    if (const char* const text = how_far_now; text != nullptr) write_text(": "), write_text(text);
    write_text("\n");
  }
  ::_exit(kSignalled + signal);
}

// ---- where a path leads --------------------------------------------------------------------------------------------

struct Target {
  std::string path;     // links followed; does not exist yet, or is of kind `mode`
  bool exists = false;  // then mode holds
  mode_t mode = 0;
  int descriptor = -1;  // of this process, where the path is a name of one
};

Target follow(const std::string& path) {
  Target to;
  fs::path at = path;
  constexpr int kMostLinks = 40;  // as the kernel
  for (int links = 0;; ++links) {
    to.descriptor = descriptor_named(at);
    struct stat about {};
    if (to.descriptor < 0 && ::lstat(at.c_str(), &about) == 0 && S_ISLNK(about.st_mode)) {
      if (links == kMostLinks) throw input_error(path, 0, "cannot write", std::strerror(ELOOP));
      std::error_code failed;
      const fs::path next = fs::read_symlink(at, failed);
      if (failed) throw input_error(path, 0, "cannot write", failed.message());
      at = next.is_absolute() ? next : at.parent_path() / next;
      continue;
    }
    to.path = at.string();
    to.exists = ::stat(to.path.c_str(), &about) == 0;
    to.mode = about.st_mode;
    return to;
  }
}

bool is_stream(const Target& to) { return to.descriptor >= 0 || (to.exists && !S_ISREG(to.mode)); }

mode_t current_umask() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return mask;
}

[[noreturn]] void cannot_write(const std::string& path, int reason) {
  throw input_error(path, 0, "cannot write", std::strerror(reason));
}

}  // namespace

void remove_unfinished_outputs() noexcept {
  const pid_t self = ::getpid();
  for (Unfinished& slot : unfinished) {
    if (slot.owner != self) continue;
    if (slot.folder) {
      remove_flat_folder(slot.path.data());
    } else {
      ::unlink(slot.path.data());
    }
  }
}

void note_how_far(const std::string& text) noexcept {
  auto& next = how_far_now == how_far[0].data() ? how_far[1] : how_far[0];
  const std::size_t length = std::min(text.size(), next.size() - 1);
  std::memcpy(next.data(), text.data(), length);
  next[length] = 0;
  how_far_now = next.data();
}

void end_cleanly_on_signals() {
  for (const int signal : kEndingSignals) {
    struct sigaction before {};
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = end_now;
    sigfillset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  const Target to = follow(path_);
  if (to.descriptor < 0 && to.exists && S_ISDIR(to.mode)) cannot_write(path_, EISDIR);
  if (to.descriptor >= 0) {
    fd_ = ::fcntl(to.descriptor, F_DUPFD_CLOEXEC, 3);
    if (fd_ < 0) cannot_write(path_, errno);
  } else if (is_stream(to)) {
    open_stream(to.path);
  } else {
    if (to.exists && ::faccessat(AT_FDCWD, to.path.c_str(), W_OK, AT_EACCESS) != 0)
      cannot_write(path_, errno);
    open_beside(to.path);
    ::fchmod(fd_, to.exists ? to.mode & 07777 : 0666 & ~current_umask());  // mkstemp gives 0600
  }
}

void OutputFile::open_beside(const std::string& target) {
  target_ = target;
  const int slot = take_slot(path_, target + ".XXXXXX");
  fd_ = create_in_slot(slot, false);
  if (fd_ < 0) {
    const int reason = errno;
    leave_slot(slot);
    cannot_write(path_, reason);
  }
  slot_ = slot;
  replaces_ = true;
}

void OutputFile::open_stream(const std::string& target) {
  do { fd_ = ::open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY); } while (fd_ < 0 && errno == EINTR);
  if (fd_ < 0 && errno == ENXIO) fd_ = connect_to_socket(target);
  if (fd_ < 0) cannot_write(path_, errno);
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
  if (slot_ < 0) return;
  if (slot_of(slot_).owner == ::getpid()) ::unlink(slot_of(slot_).path.data());
  leave_slot(slot_);
}

void OutputFile::write(const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::write(fd_, from, std::min(bytes, std::size_t{1} << 30));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) cannot_write(path_, errno);
    from += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

void OutputFile::commit() {
  if (slot_ < 0) {
    const int fd = std::exchange(fd_, -1);
    if (::close(fd) != 0) cannot_write(path_, errno);
    return;
  }
  const bool synced = ::fsync(fd_) == 0 || errno == EINVAL || errno == EROFS;  // file systems without fsync
  int reason = errno;
  const bool closed = ::close(std::exchange(fd_, -1)) == 0;
  if (synced && !closed) reason = errno;
  bool renamed = false;
  if (synced && closed) {
    renamed = ::rename(slot_of(slot_).path.data(), target_.c_str()) == 0;
    reason = errno;
  }
  if (!renamed) ::unlink(slot_of(slot_).path.data());
  leave_slot(std::exchange(slot_, -1));
  if (!renamed) cannot_write(path_, reason);
}

OutputFolder::OutputFolder(const std::string& path) {
  fs::path place = fs::path(path).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();
  place_ = follow(place.string()).path;
  place = place_;
  if (fs::exists(place) && !(fs::is_directory(place) && fs::is_empty(place))) {
    throw input_error(path, 0, "is there and not an empty folder");
  }
  const int slot = take_slot(path, place_ + ".XXXXXX");
  if (create_in_slot(slot, true) < 0) {
    const int reason = errno;
    leave_slot(slot);
    throw input_error(path, 0, "cannot make the folder", std::strerror(reason));
  }
  slot_ = slot;
  making_ = slot_of(slot).path.data();
  ::chmod(making_.c_str(), 0777 & ~current_umask());
}

OutputFolder::~OutputFolder() {
  if (slot_ < 0) return;
  if (slot_of(slot_).owner == ::getpid()) remove_flat_folder(making_.c_str());
  leave_slot(slot_);
}

void OutputFolder::commit() {
  if (::rename(making_.c_str(), place_.c_str()) != 0) {  // takes the place of an empty folder too
    throw input_error(place_, 0, "cannot make the folder", std::strerror(errno));
  }
  leave_slot(std::exchange(slot_, -1));
}

void require_writable(const std::string& path) {
  const Target to = follow(path);
  if (to.descriptor < 0 && to.exists && (S_ISFIFO(to.mode) || S_ISSOCK(to.mode))) {
    if (::faccessat(AT_FDCWD, to.path.c_str(), W_OK, AT_EACCESS) != 0) cannot_write(path, errno);
    return;
  }
  const OutputFile probe(path);
}

bool is_regular_output(const std::string& path) { return !is_stream(follow(path)); }

bool is_standard_output(const std::string& path) {
  const Target to = follow(path);
  struct stat there {};
  struct stat standard {};
  if (::fstat(STDOUT_FILENO, &standard) != 0) return false;
  if (to.descriptor >= 0) {
    return ::fstat(to.descriptor, &there) == 0 && there.st_dev == standard.st_dev &&
           there.st_ino == standard.st_ino;
  }
  return to.exists && S_ISCHR(to.mode) && ::isatty(STDOUT_FILENO) != 0 &&
         ::stat(to.path.c_str(), &there) == 0 && (there.st_rdev == standard.st_rdev || to.path == "/dev/tty");
}

}  // namespace plumb
