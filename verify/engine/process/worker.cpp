#include "verify/engine/process/worker.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/resource_error.hpp"
#include "reference/core/text.hpp"
#include "reference/core/threads.hpp"
#include "verify/engine/process/confinement.hpp"
#include "verify/engine/process/wire.hpp"

namespace plumb {
namespace {

// The error for a descriptor or a process that could not be had.
ResourceError cannot_start(int code) {
  rlimit files{};
  std::string limit;
  if (code == EAGAIN) limit = process_limit_text();
  // EINVAL: of F_DUPFD with a first number beyond the limit
  if ((code == EMFILE || code == EINVAL) && getrlimit(RLIMIT_NOFILE, &files) == 0)
    code = EMFILE, limit = fmt::format(" (ulimit -n is {})", files.rlim_cur);
  return ResourceError(fmt::format("cannot start a child process: {}{}", std::strerror(code), limit));
}

// The same descriptor with a number of at least 10, so that dup2 onto 0..4 in the child cannot overwrite one that is still needed.
Descriptor raised(const Descriptor& low) {
  Descriptor high(fcntl(low.get(), F_DUPFD_CLOEXEC, 10));
  if (high.get() < 0) throw cannot_start(errno);
  return high;
}

struct DescriptorPair {
  Descriptor first, second;
};
DescriptorPair raised(const int (&pair)[2]) {
  const Descriptor low[2] = {Descriptor(pair[0]), Descriptor(pair[1])};
  return {raised(low[0]), raised(low[1])};
}

// The environment of a child. Idle OpenMP threads of one child would spin against the next: 12 times slower on two cores.
std::vector<char*> child_environment(std::vector<std::string>& own) {
  static char wait[] = "OMP_WAIT_POLICY=passive";
  std::vector<char*> environment;
  for (char** e = environ; *e != nullptr; ++e) environment.push_back(*e);
  if (getenv("OMP_WAIT_POLICY") == nullptr) environment.push_back(wait);
  for (std::string& variable : own) environment.push_back(variable.data());
  environment.push_back(nullptr);
  return environment;
}

// What a child printed, without what Python's faulthandler says after the frames of the kernel: those of the worker, and the list of modules.
std::string without_frames_of_worker(const std::string& said) {
  if (said.find("Fatal Python error") == std::string::npos) return said;
  constexpr const char* kOthers[] = {"Extension modules: ", "/plumbline/worker.py\"",
                                     "/plumbline/_arguments.py\"", "\"<frozen ", "  Binary file "};
  std::string kept;
  for (const std::string& line : split(said, '\n')) {
    if (std::none_of(std::begin(kOthers), std::end(kOthers),
                     [&](const char* other) { return line.find(other) != std::string::npos; }))
      kept += line + '\n';
  }
  return kept;
}

// The last line of what a child printed.
std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  const std::size_t line = text.rfind('\n');
  return line == std::string::npos ? text : text.substr(line + 1);
}

// Of the first thread of a process: seconds on a processor, and ready to run while others had the processors, up to the last time that it
// got one; and whether it runs or is ready now. Zeros where the system does not say.
struct ThreadTimes {
  double ran = 0, waited = 0;
  bool is_ready = false;
};
ThreadTimes times_of(pid_t pid) {
  ThreadTimes times;
  unsigned long long ran = 0, waited = 0;  // nanoseconds
  char state = 0;
  const auto read = [pid](const char* name, const char* format, auto*... numbers) {
    std::FILE* const f = std::fopen(fmt::format("/proc/{}/{}", pid, name).c_str(), "re");
    if (f == nullptr) return false;
    const bool all = std::fscanf(f, format, numbers...) == sizeof...(numbers);
    std::fclose(f);
    return all;
  };
  // without the first the second says nothing: a run that spins would seem to wait
  if (!read("schedstat", "%llu %llu", &ran, &waited)) return times;
  times.ran = 1e-9 * static_cast<double>(ran), times.waited = 1e-9 * static_cast<double>(waited);
  times.is_ready = read("stat", "%*d (%*[^)]) %c", &state) && state == 'R';
  return times;
}

// At most 64 KiB of it are kept.
void keep_end(std::string& text) {
  if (text.size() > 65536) text.erase(0, text.size() - 4096);
}

}  // namespace

std::string this_program() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  return n > 0 ? std::string(path, static_cast<std::size_t>(n)) : "verify";
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

Worker::Worker(const std::string& program, OomCounter oom_counter, std::vector<std::string> environment)
    : environment_(std::move(environment)),
      oom_counter_(std::move(oom_counter)),
      oom_kills_before_(oom_counter_()) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) throw cannot_start(errno);
  DescriptorPair wire = raised(pair);
  if (pipe2(pair, O_CLOEXEC) != 0) throw cannot_start(errno);
  DescriptorPair output = raised(pair);
  Descriptor image(memfd_create("plumbline-image", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (image.get() < 0) throw cannot_start(errno);
  wire_ = std::move(wire.first), output_ = std::move(output.first), image_ = raised(image);
  // it may grow but never shrink: a child that truncated it would end the judge with SIGBUS
  fcntl(image_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL);
  fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  start(program, wire.second, output.second);
}

void Worker::start(const std::string& program, const Descriptor& child_wire, const Descriptor& child_output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, child_output.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, child_output.get(), 2);
  posix_spawn_file_actions_adddup2(&actions, child_wire.get(), kWire);
  posix_spawn_file_actions_adddup2(&actions, image_.get(), kImage);
  // a group of its own: Ctrl-C is the judge's, and the whole group can be ended; signals that the judge ignores are as usual there
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t usual;
  sigemptyset(&usual);
  for (const int s : {SIGXFSZ, SIGPIPE}) sigaddset(&usual, s);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> words = split(program, kWordEnd);
  words.emplace_back("--worker");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int status = start_process(pid_, words.front().c_str(), actions, attributes, arguments.data(),
                                   child_environment(environment_).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (status != 0) {
    pid_ = -1;
    if (status == EAGAIN || status == ENOMEM || status == EMFILE) throw cannot_start(status);
    throw Error(fmt::format("cannot start a child process: {}: {}", words.front(), std::strerror(status)));
  }
  group_ = pid_;
}

Worker::~Worker() { end(); }

void Worker::end() {
  if (group_ > 0) end_process(group_, pid_ < 0);
  pid_ = group_ = -1;
  if (window_ != nullptr) munmap(window_, static_cast<std::size_t>(mapped_));
  window_ = nullptr, mapped_ = 0;
  wire_ = Descriptor(), image_ = Descriptor(), output_ = Descriptor();
}

std::byte* Worker::image(std::int64_t bytes) {
  const std::int64_t pages = (bytes + 4095) / 4096 * 4096;
  if (pages > kWindowBytes)
    throw Error(fmt::format("a case of {} GiB is larger than the image window", pages >> 30));
  if (mapped_ < pages) {
    if (window_ != nullptr) munmap(window_, static_cast<std::size_t>(mapped_));
    window_ = nullptr, mapped_ = 0;
    // fallocate rather than ftruncate: too little memory is an error here, not a SIGBUS later
    if (fallocate(image_.get(), 0, 0, pages) != 0) {
      rlimit limit{};
      if (errno == EFBIG && getrlimit(RLIMIT_FSIZE, &limit) == 0)  // memory shared with a child is a file too
        throw ResourceError(
            fmt::format("an image of {} KiB is larger than the limit of files (ulimit -f is {})", pages >> 10,
                        limit.rlim_cur >> 10));
      throw ResourceError(
          fmt::format("out of memory: an image of {} MiB: {}", pages >> 20, std::strerror(errno)));
    }
    void* at =
        mmap(nullptr, static_cast<std::size_t>(pages), PROT_READ | PROT_WRITE, MAP_SHARED, image_.get(), 0);
    if (at == MAP_FAILED)
      throw ResourceError(fmt::format("out of memory: an image of {} MiB cannot be mapped: {}", pages >> 20,
                                      std::strerror(errno)));
    window_ = static_cast<std::byte*>(at), mapped_ = pages;
  }
  return window_;
}

std::string Worker::read_output() {
  std::string said;
  char buffer[4096];
  for (ssize_t n; (n = read(output_.get(), buffer, sizeof buffer)) > 0;) {
    said.append(buffer, static_cast<std::size_t>(n));
    keep_end(said);
  }
  return said;
}

// One request and its reply. A child that breaks the protocol, dies, or does not answer in time is ended.
class Worker::Exchange {
 public:
  Exchange(Worker& worker, RunRequest request, double seconds)
      : worker_(worker), request_(std::move(request)), seconds_(seconds) {}

  Outcome make() {
    std::byte unasked;
    const ssize_t early = recv(worker_.wire_.get(), &unasked, 1, MSG_DONTWAIT | MSG_PEEK);
    if (early > 0) return ended(Outcome::Kind::died, kBrokenWire);
    if (early == 0) return died(kAfter);
    request_.sequence = ++worker_.sequence_;
    if (!encode(request_).send(worker_.wire_.get())) return died(kAfter);
    while (true) {
      if (std::optional<Outcome> outcome = wait_a_while()) return *std::move(outcome);
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kShort =
      5;  // milliseconds; reading the times of a process takes longer than a short run
  static constexpr double kMostWaiting = 20;  // times the limit: a variant's own threads make each other wait
  static constexpr const char* kDuring = "in the middle of a run";
  static constexpr const char* kAfter =
      "after it had returned: a thread that it left running was still working";

  // Until the child is ended. That others keep it from a processor is no time of its own.
  [[nodiscard]] long long milliseconds_left() const {
    const double wall = std::chrono::duration<double>(Clock::now() - begin_).count();
    double left = seconds_ - wall;
    if (left <= 0 && wall < kMostWaiting * seconds_ && before_) {
      const ThreadTimes now = times_of(worker_.pid_);
      left += now.waited - before_->waited;
      // a wait that goes on is not counted yet
      if (now.is_ready) left = std::max(left, seconds_ - (now.ran - before_->ran));
    }
    return static_cast<long long>(std::ceil(1e3 * left));
  }

  // At most a tenth of a second; nothing: no reply yet.
  std::optional<Outcome> wait_a_while() {
    if (stop_signal != 0) return ended(Outcome::Kind::interrupted, "interrupted");
    const long long left = milliseconds_left();
    if (left <= 0) return ended(Outcome::Kind::timed_out, fmt::format("did not end within {:g} s", seconds_));
    std::array<pollfd, 2> fds{
        {{worker_.wire_.get(), POLLIN, 0}, {listening_ ? worker_.output_.get() : -1, POLLIN, 0}}};
    const int ready =
        poll(fds.data(), fds.size(), static_cast<int>(std::min<long long>(left, before_ ? 100 : kShort)));
    if (ready < 0 && errno != EINTR) return ended(Outcome::Kind::died, "poll failed");
    if (!before_ && fds[0].revents == 0) before_ = times_of(worker_.pid_);
    if (ready <= 0) return std::nullopt;
    if ((fds[1].revents & POLLIN) != 0) {
      said_ +=
          worker_
              .read_output();  // drained as it comes: a kernel that prints much must not block on a full pipe
      keep_end(said_);
    } else if (fds[1].revents != 0) {
      listening_ = false;  // it closed its output
    }
    if ((fds[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) return std::nullopt;
    return receive();
  }

  // Never blocks: half a message and then silence must not hold up the judge.
  std::optional<Outcome> receive() {
    std::array<std::byte, 65536> part;
    const ssize_t n = recv(worker_.wire_.get(), part.data(), part.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
    if (n <= 0) return died(request_.call.op == kWaitForThreads ? kAfter : kDuring);
    inbox_.insert(inbox_.end(), part.begin(), part.begin() + n);
    try {
      Message message;
      if (!message.take_from(inbox_)) return std::nullopt;
      Outcome outcome;
      outcome.reply = decode_reply(message);
      if (outcome.reply.sequence != request_.sequence) throw Error(kBrokenWire);
      outcome.said = said_ + worker_.read_output();
      return outcome;
    } catch (const Error& e) { return ended(Outcome::Kind::died, e.what()); }
  }

  // The control socket is closed: how did the process end?
  Outcome died(const char* when) {
    // the socket closes a moment before the process is gone; on a busy machine that can be seconds
    const auto patience = Clock::now() + std::chrono::seconds(10);
    while (Clock::now() < patience) {
      int status = 0;
      if (waitpid(worker_.pid_, &status, WNOHANG) == worker_.pid_) {
        worker_.pid_ = -1;
        return died_with(status, when);
      }
      usleep(1000);
    }
    return ended(Outcome::Kind::died, "closed its control socket to the judge");
  }

  Outcome died_with(int status, const char* when) {
    if (!WIFSIGNALED(status))
      return ended(Outcome::Kind::died, fmt::format("exited with code {} {}", WEXITSTATUS(status), when));
    const int signal = WTERMSIG(status);
    if (signal == SIGKILL && worker_.oom_counter_() != worker_.oom_kills_before_)
      return ended(Outcome::Kind::out_of_memory, "out of memory: the kernel killed the child process");
    constexpr const char* kForbidden = ": by seccomp, it called a forbidden system call on another process";
    constexpr const char* kWalls = ", in which inputs may be neither written nor read beyond their ends";
    const bool of_walls = signal == SIGSEGV && !request_.instruments.walls.empty();
    return ended(Outcome::Kind::died, fmt::format("killed by SIG{} {}{}", sigabbrev_np(signal), when,
                                                  signal == SIGSYS ? kForbidden
                                                  : of_walls       ? kWalls
                                                                   : ""));
  }

  Outcome ended(Outcome::Kind kind, const std::string& how) {
    Outcome outcome;
    outcome.said = without_frames_of_worker(said_ + worker_.read_output());
    const std::string last = last_line(outcome.said);
    outcome.kind = kind;
    outcome.how = last.empty() ? how : fmt::format("{}; last words: {}", how, printable(last, 300));
    worker_.end();
    return outcome;
  }

  Worker& worker_;
  RunRequest request_;
  double seconds_;
  std::optional<ThreadTimes> before_;  // of a run that is longer than kShort
  Clock::time_point begin_ = Clock::now();
  std::string said_;
  std::vector<std::byte> inbox_;
  bool listening_ = true;
};

Worker::Outcome Worker::run(const RunRequest& request, double seconds) {
  return Exchange(*this, request, seconds).make();
}

Worker::Outcome Worker::missing_resources() {
  RunRequest request;
  request.call.op = kMissingResources;
  return Exchange(*this, std::move(request), 60).make();
}

Worker::Outcome Worker::wait_for_threads(int threads) {
  RunRequest request;
  request.call.op = kWaitForThreads;
  request.call.image_bytes = threads;
  return Exchange(*this, std::move(request), 60).make();
}

}  // namespace plumb
