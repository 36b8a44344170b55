// A child process as its judge sees it: started, asked, waited for, ended.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "verify/engine/operator/resources.hpp"
#include "verify/engine/process/request.hpp"

namespace plumb {

/// Between the words of a command that a worker is started by, where it is not the path of a program alone.
inline constexpr char kWordEnd = '\n';

/// The path of this executable.
[[nodiscard]] std::string this_program();

/// Set by a handler of Ctrl-C or SIGTERM: runs end at once, as `interrupted`.
inline std::atomic<int> stop_signal{0};

/// An open file; closed when destroyed. -1: none.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

/// A child process. Movable handle; killed and reaped when destroyed.
class Worker {
 public:
  /// Starts `program --worker`, with `environment` ("NAME=VALUE") beside this process' own; a program may be a command, its words ended by
  /// kWordEnd. Throws ResourceError where descriptors, processes or memory run out, Error where it cannot otherwise.
  explicit Worker(const std::string& program, OomCounter oom_counter = oom_kills,
                  std::vector<std::string> environment = {});
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Memory shared with the child, at least `bytes`, valid until the next call. Throws ResourceError when there is not that much.
  [[nodiscard]] std::byte* image(std::int64_t bytes);

  struct Outcome {
    /// out_of_memory: killed by SIGKILL, and the kernel has counted a kill for want of memory since the child was started.
    enum class Kind : std::uint8_t {
      replied,
      died,
      timed_out,
      interrupted,
      out_of_memory
    } kind = Kind::replied;
    RunReply reply;
    std::string how;        // "killed by SIGSEGV; last words: ..."
    std::string said = {};  // what the child printed in this run, or its end
  };
  /// Sends the request and waits at most `seconds`. After died or timed_out the worker is gone: alive() is false.
  [[nodiscard]] Outcome run(const RunRequest&, double seconds);
  /// Gives threads that a variant left behind a moment to end, or to be caught writing where they must not.
  /// The reply's `threads` is how many are left; more than `threads` of them is too many.
  [[nodiscard]] Outcome wait_for_threads(int threads);
  /// Asks the child what it cannot have that every variant may take for granted: the reply's `text`, or "".
  [[nodiscard]] Outcome missing_resources();
  [[nodiscard]] bool alive() const { return pid_ > 0; }
  /// Kills and reaps the child.
  void end();

 private:
  class Exchange;
  void start(const std::string& program, const Descriptor& child_wire, const Descriptor& child_output);
  [[nodiscard]] std::string read_output();

  std::vector<std::string> environment_;
  std::int64_t sequence_ = 0;
  int pid_ = -1, group_ = -1;
  Descriptor wire_, image_, output_;
  std::byte* window_ = nullptr;
  std::int64_t mapped_ = 0;
  OomCounter oom_counter_;
  std::int64_t oom_kills_before_ = 0;
};

}  // namespace plumb
