#include "datasets/io/output_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

#include "datasets/tests/scratch.hpp"

namespace fs = std::filesystem;
using namespace plumb;
using namespace plumb::test;

namespace {

void put(const std::string& path, const std::string& text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

std::ptrdiff_t entries(const Scratch& dir) {
  return std::distance(fs::directory_iterator(dir.file("")), fs::directory_iterator{});
}

std::string all_of(int fd) {
  std::string text;
  char block[256];
  for (ssize_t n = 0; (n = ::read(fd, block, sizeof block)) > 0;)
    text.append(block, static_cast<std::size_t>(n));
  return text;
}

mode_t mode_of(const std::string& path) {
  struct stat about {};
  REQUIRE(::lstat(path.c_str(), &about) == 0);
  return about.st_mode;
}

}  // namespace

TEST_CASE("a file that is not committed leaves no trace and what was there before") {
  const Scratch dir;
  const std::string path = dir.write("f", "old");
  {
    OutputFile file(path);
    CHECK(file.replaces());
    file.write("new");
    CHECK(entries(dir) == 2);
  }
  CHECK(slurp(path) == "old");
  CHECK(entries(dir) == 1);
  put(path, "new");
  CHECK(slurp(path) == "new");
  CHECK(error_of([] { return OutputFile{"/no/such/folder/f"}; }) ==
        "/no/such/folder/f: cannot write: No such file or directory");
  CHECK(error_of([&] { return OutputFile{dir.file("")}; }) ==
        dir.file("") + ": cannot write: Is a directory");
}

TEST_CASE("a new file has the usual permissions, a replaced one keeps its own") {
  const Scratch dir;
  const mode_t before = ::umask(027);
  put(dir.file("new"), "x");
  ::umask(before);
  CHECK((mode_of(dir.file("new")) & 0777) == 0640);
  ::chmod(dir.file("new").c_str(), 0600);
  put(dir.file("new"), "y");
  CHECK((mode_of(dir.file("new")) & 0777) == 0600);
}

TEST_CASE("a link stays a link, and its target is replaced") {
  const Scratch dir;
  fs::create_directory(dir.file("sub"));
  dir.write("sub/target", "old");
  fs::create_symlink("sub/target", dir.file("link"));
  fs::create_symlink("link", dir.file("link_to_link"));
  put(dir.file("link_to_link"), "new");
  CHECK(fs::is_symlink(dir.file("link")));
  CHECK(fs::is_symlink(dir.file("link_to_link")));
  CHECK(slurp(dir.file("sub/target")) == "new");

  fs::create_symlink("sub/not_yet", dir.file("dangling"));
  put(dir.file("dangling"), "made");
  CHECK(fs::is_symlink(dir.file("dangling")));
  CHECK(slurp(dir.file("sub/not_yet")) == "made");

  fs::create_symlink("round", dir.file("round"));
  CHECK(error_of([&] { return OutputFile{dir.file("round")}; }).find("cannot write: Too many levels") !=
        std::string::npos);
  CHECK(entries(dir) == 5);
}

TEST_CASE("a device stays a device, also behind a link") {
  const Scratch dir;
  fs::create_symlink("/dev/null", dir.file("null"));
  put(dir.file("null"), "gone");
  CHECK(fs::is_symlink(dir.file("null")));
  CHECK(S_ISCHR(mode_of("/dev/null")));
  CHECK_FALSE(is_regular_output("/dev/null"));
  CHECK_FALSE(is_regular_output(dir.file("null")));
  CHECK(is_regular_output(dir.file("not_there")));
  CHECK(error_of([] { put("/dev/full", "x"); }) == "/dev/full: cannot write: No space left on device");
}

TEST_CASE("a FIFO is written to and stays") {
  const Scratch dir;
  const std::string path = dir.file("pipe");
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  require_writable(path);  // does not wait for a reader
  std::string got;
  std::thread reader([&] {
    const int fd = ::open(path.c_str(), O_RDONLY);
    got = all_of(fd);
    ::close(fd);
  });
  put(path, "through");
  reader.join();
  CHECK(got == "through");
  CHECK(S_ISFIFO(mode_of(path)));
  CHECK(entries(dir) == 1);
}

TEST_CASE("a socket is connected to and stays") {
  const Scratch dir;
  const std::string path = dir.file("socket");
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  REQUIRE(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(listener, 1) == 0);
  std::string got;
  std::thread reader([&] {
    const int fd = ::accept(listener, nullptr, nullptr);
    got = all_of(fd);
    ::close(fd);
  });
  put(path, "through");
  reader.join();
  ::close(listener);
  CHECK(got == "through");
  CHECK(S_ISSOCK(mode_of(path)));
  CHECK(error_of([&] { return OutputFile{path}; }) == path + ": cannot write: Connection refused");
}

TEST_CASE("the name of a descriptor writes at its current position, and replaces no file") {
  const Scratch dir;
  const std::string log = dir.write("log", "before ");
  const int fd = ::open(log.c_str(), O_WRONLY | O_APPEND);
  for (const std::string& name : {"/dev/fd/" + std::to_string(fd), "/proc/self/fd/" + std::to_string(fd)}) {
    CHECK_FALSE(is_regular_output(name));
    put(name, "more ");
  }
  fs::create_symlink("/dev/fd/" + std::to_string(fd), dir.file("link"));
  put(dir.file("link"), "end");
  ::close(fd);
  CHECK(slurp(log) == "before more more end");
  CHECK(error_of([&] { return OutputFile{"/dev/fd/" + std::to_string(fd)}; }).find("Bad file descriptor") !=
        std::string::npos);
}

TEST_CASE("the names of standard output are recognised") {
  const Scratch dir;
  CHECK(is_standard_output("/dev/stdout"));
  CHECK(is_standard_output("/proc/self/fd/1"));
  fs::create_symlink("/dev/stdout", dir.file("link"));
  CHECK(is_standard_output(dir.file("link")));
  CHECK_FALSE(is_standard_output(dir.file("file")));
  CHECK_FALSE(is_standard_output("/dev/full"));
}

TEST_CASE("an unwritable place is detected without leaving a file") {
  const Scratch dir;
  require_writable(dir.file("f"));
  require_writable("/dev/null");
  CHECK(entries(dir) == 0);
  CHECK(error_of([&] { require_writable(dir.file("none/f")); }) ==
        dir.file("none/f") + ": cannot write: No such file or directory");
  if (::geteuid() != 0) {  // root may write everywhere
    dir.write("readonly", "kept");
    ::chmod(dir.file("readonly").c_str(), 0444);
    CHECK(error_of([&] { require_writable(dir.file("readonly")); }).find("Permission denied") !=
          std::string::npos);
  }
}

TEST_CASE("a folder appears whole, also where a link points to an empty one") {
  const Scratch dir;
  {
    const OutputFolder given_up(dir.file("net"));
    put(given_up.path() + "/a", "x");
  }
  CHECK(entries(dir) == 0);
  fs::create_directory(dir.file("real"));
  fs::create_symlink("real", dir.file("link"));
  OutputFolder folder(dir.file("link"));
  put(folder.path() + "/a", "x");
  CHECK(fs::is_empty(dir.file("real")));
  folder.commit();
  CHECK(slurp(dir.file("real/a")) == "x");
  CHECK(fs::is_symlink(dir.file("link")));
  CHECK(entries(dir) == 2);
  CHECK(error_of([&] { return OutputFolder{dir.file("real")}; }).find("not an empty folder") !=
        std::string::npos);
}

TEST_CASE("a signal removes what is unfinished and gives 128 + its number") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGPIPE, SIGXFSZ}) {
    CAPTURE(signal);
    const Scratch dir;
    dir.write("kept", "old");
    const pid_t child = ::fork();
    if (child == 0) {
      const int null = ::open("/dev/null", O_WRONLY);
      ::dup2(null, 2);
      ::signal(signal, SIG_DFL);  // the suite may have been begun by nohup, which ignores SIGHUP
      end_cleanly_on_signals();
      OutputFile file(dir.file("kept"));
      file.write("half");
      const OutputFolder folder(dir.file("net"));
      OutputFile inside(folder.path() + "/a");
      inside.write("half");
      put(folder.path() + "/b", "whole");
      if (signal == SIGXFSZ) {
        const struct rlimit small { 100, 100 };  // bytes
        ::setrlimit(RLIMIT_FSIZE, &small);
        file.write(std::string(200, 'x'));
      } else {
        ::raise(signal);
      }
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 128 + signal);
    CHECK(entries(dir) == 1);
    CHECK(slurp(dir.file("kept")) == "old");
  }
}

TEST_CASE("a child that ends leaves its parent's unfinished files alone") {
  const Scratch dir;
  OutputFile file(dir.file("f"));
  const pid_t child = ::fork();
  if (child == 0) {
    remove_unfinished_outputs();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  file.write("whole");
  file.commit();
  CHECK(slurp(dir.file("f")) == "whole");
}
