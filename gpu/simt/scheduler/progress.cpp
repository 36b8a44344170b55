// A launch may take long within one block, and come to no place where a clock is looked at: a timer interrupts its thread. Its handler
// writes one line and calls nothing that takes memory. The timer stands while no launch is under way: no call of the program's is interrupted.
#include "gpu/simt/scheduler/progress.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

constexpr double kMostApart = 60;

/// Of the program.
struct Telling {
  bool is_begun = false, is_possible = false;
  double begin = 0, next = 0;  // seconds; when the next line is due
};
Telling told;

/// The launch that tells: of this of the host's threads.
struct Watched {
  timer_t timer{};
  bool has_timer = false;
  double begin = 0;
  std::int64_t number = 0, blocks = 0, blocks_before = 0;
  char kernel[96] = "";
};
thread_local Watched watched;

void write_line() {
  char line[320];
  const double at = seconds_now();
  const Watched& w = watched;
  const std::int64_t done =
      std::clamp<std::int64_t>(current().run.counters.blocks - w.blocks_before - 1, 0, w.blocks);
  auto end = fmt::format_to_n(line, sizeof line - 1, "progress: {:.0f} s; launch {} ({}): {} of {} block{}",
                              at - told.begin, w.number, w.kernel, done, w.blocks, w.blocks == 1 ? "" : "s");
  std::size_t used = std::min(end.size, sizeof line - 1);
  if (done > 0 && done < w.blocks) {
    const double rest = (at - w.begin) / static_cast<double>(done) * static_cast<double>(w.blocks - done);
    end = fmt::format_to_n(line + used, sizeof line - 1 - used, " in {:.0f} s, about {:.0f} s to go",
                           at - w.begin, rest);
    used = std::min(used + end.size, sizeof line - 1);
  }
  line[used++] = '\n';
  if (write(STDERR_FILENO, line, used) < 0) return;
}

void set_timer(double seconds) {
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(seconds);
  when.it_value.tv_nsec = static_cast<long>((seconds - static_cast<double>(when.it_value.tv_sec)) * 1e9);
  timer_settime(watched.timer, 0, &when, nullptr);
}

void on_timer(int) {
  const int error = errno;
  const double at = seconds_now();
  if (watched.has_timer && at >= told.next) {
    write_line();
    told.next = at + std::min(at - told.begin, kMostApart);
  }
  if (watched.has_timer) set_timer(std::max(told.next - at, 0.01));
  errno = error;
}

// SIGURG ends nobody who does not handle it. A program that does has no lines.
bool take_signal() {
  struct sigaction mine {
  }, before{};
  if (sigaction(SIGURG, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) return false;
  mine.sa_handler = &on_timer;
  mine.sa_flags = SA_ONSTACK | SA_RESTART;
  return sigaction(SIGURG, &mine, nullptr) == 0;
}

void begin() {
  constexpr double kOnTerminal = 2, kElsewhere = 10;
  told.is_begun = true;
  told.is_possible = take_signal();
  told.begin = seconds_now();
  told.next = told.begin + (isatty(STDERR_FILENO) != 0 ? kOnTerminal : kElsewhere);
}

bool make_timer() {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGURG;
  event._sigev_un._tid = gettid();
  return timer_create(CLOCK_MONOTONIC, &event, &watched.timer) == 0;
}

}  // namespace

double seconds_now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

LaunchProgress::LaunchProgress(const Launch& launch) {
  if (!runs_by_itself() || current().schedule.depth > 0) return;
  if (!told.is_begun) begin();
  if (!told.is_possible || (!watched.has_timer && !(watched.has_timer = make_timer()))) return;
  watched.begin = seconds_now();
  watched.number = current().run.counters.launches;
  watched.blocks = launch.blocks;
  watched.blocks_before = current().run.counters.blocks;
  const std::string& name = launch.kernel;
  const std::size_t length = std::min(name.size(), sizeof watched.kernel - 1);
  std::memcpy(watched.kernel, name.data(), length);
  watched.kernel[length] = 0;
  is_armed_ = true;
  set_timer(std::max(told.next - watched.begin, 0.001));
}

LaunchProgress::~LaunchProgress() {
  if (is_armed_) timer_settime(watched.timer, 0, std::array<itimerspec, 1>{}.data(), nullptr);
}

}  // namespace plumb::simt
