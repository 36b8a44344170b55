#include "reference/core/exhaustion.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>

#include <fmt/format.h>

#include "reference/core/exit_code.hpp"
#include "reference/core/threads.hpp"

namespace plumb {
namespace {

constexpr const char* kOutOfMemory = "out of memory";

thread_local bool exhausted = false;  // an allocation of this thread failed
bool data_limit_is_ours = false;      // set by limit_data()
std::terminate_handler usual_end = nullptr;
void (*before_end)() noexcept = nullptr;
std::atomic<pid_t> watched{0};  // the process whose end by a library is for want of memory

/// A user's limit of this process in bytes, or RLIM_INFINITY.
rlim_t users_limit(__rlimit_resource resource) {
  rlimit limit{};
  if (resource == RLIMIT_DATA && data_limit_is_ours) return RLIM_INFINITY;
  return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

/// Text of memory_limit_text(), made without an allocation.
class LimitLine {
 public:
  LimitLine() {
    add("ulimit -v", RLIMIT_AS);
    add("ulimit -d", RLIMIT_DATA);
    if (used_ > 0)
      used_ += static_cast<std::size_t>(std::snprintf(line_.data() + used_, line_.size() - used_, ")"));
  }
  [[nodiscard]] const char* text() const { return line_.data(); }

 private:
  void add(const char* name, __rlimit_resource resource) {
    const rlim_t limit = users_limit(resource);
    if (limit == RLIM_INFINITY) return;
    used_ += static_cast<std::size_t>(std::snprintf(line_.data() + used_, line_.size() - used_,
                                                    "%s%s is %llu", used_ == 0 ? " (" : ", ", name,
                                                    static_cast<unsigned long long>(limit / 1024)));
  }
  std::array<char, 128> line_{};  // two limits of at most 17 digits
  std::size_t used_ = 0;
};

[[noreturn]] void say_and_end() {
  static std::atomic_flag ends = ATOMIC_FLAG_INIT;
  while (ends.test_and_set()) pause();  // another thread says it
  if (before_end != nullptr) before_end();
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s%s\n", kOutOfMemory, LimitLine().text());
  _exit(kUsage);
}

[[noreturn]] void end_for_memory() {
  // a parallel region's own call leaves no exception to look at
  if (!exhausted && !is_for_want_of_memory()) {
    usual_end();
    std::abort();
  }
  say_and_end();
}

// exit() was called, by main()'s return or by a library.
void look_at_exit(int code, void*) {
  if (code == EXIT_FAILURE && watched == getpid() && memory_is_limited()) say_and_end();
}

void note_and_throw() {
  note_exhausted_memory();
  throw std::bad_alloc();
}

}  // namespace

std::string memory_limit_text() { return LimitLine().text(); }

bool is_for_want_of_memory() {
  const std::exception_ptr thrown = std::current_exception();
  if (!thrown) return false;
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) { return true; } catch (...) {
    return false;
  }
}

bool memory_is_limited() {
  return users_limit(RLIMIT_AS) != RLIM_INFINITY || users_limit(RLIMIT_DATA) != RLIM_INFINITY;
}

void limit_data(std::uint64_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur <= bytes) return;
  limit.rlim_cur = bytes;
  data_limit_is_ours = setrlimit(RLIMIT_DATA, &limit) == 0;
}

std::string ending_text(const std::exception& e, const std::string& advice) {
  const auto* const system = dynamic_cast<const std::system_error*>(&e);
  if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again)
    return fmt::format("a thread cannot be started: {}{}{}", e.what(), process_limit_text(),
                       memory_limit_text());
  if (dynamic_cast<const std::bad_alloc*>(&e) == nullptr) return e.what();
  const std::string what = e.what();
  const bool says_more = what.rfind(kOutOfMemory, 0) == 0;
  return (says_more ? what : kOutOfMemory) + memory_limit_text() + (advice.empty() ? "" : ": " + advice);
}

void note_exhausted_memory() noexcept { exhausted = true; }

void end_where_memory_is_exhausted(void (*before)() noexcept) {
  before_end = before;
  std::set_new_handler(note_and_throw);
  usual_end = std::set_terminate(end_for_memory);
  if (watched.exchange(getpid()) == 0) on_exit(look_at_exit, nullptr);
}

void note_own_end() noexcept { watched = -1; }

namespace {

constexpr int kEndsOfStart[] = {SIGSEGV, SIGBUS, SIGABRT};

void end_of_start(int) { say_and_end(); }

}  // namespace

void watch_start(int, char**, char**) noexcept {
  if (!memory_is_limited()) return;
  struct sigaction end {};
  end.sa_handler = end_of_start;
  for (const int signal : kEndsOfStart) sigaction(signal, &end, nullptr);
}

void note_started() noexcept {
  for (const int signal : kEndsOfStart) {
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler == end_of_start) std::signal(signal, SIG_DFL);
  }
}

}  // namespace plumb
