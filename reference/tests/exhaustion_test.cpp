#include "reference/core/exhaustion.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "reference/core/exit_code.hpp"
#include "reference/core/large_array.hpp"

namespace plumb {
namespace {

/// A soft limit that stops nothing, while it lives.
class WideLimit {
 public:
  explicit WideLimit(rlim_t kib) {
    getrlimit(RLIMIT_AS, &before_);
    const rlimit wide{kib * 1024, before_.rlim_max};
    set_ = setrlimit(RLIMIT_AS, &wide) == 0;
  }
  ~WideLimit() { setrlimit(RLIMIT_AS, &before_); }
  WideLimit(const WideLimit&) = delete;
  WideLimit& operator=(const WideLimit&) = delete;
  [[nodiscard]] bool set() const { return set_; }

 private:
  rlimit before_{};
  bool set_ = false;
};

struct Ended {
  int status = 0;
  std::string text;  // of stderr
};

/// How a process ends that only does this.
Ended in_a_child(const std::function<void()>& work) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    signal(SIGABRT, SIG_DFL);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    try {
      work();
    } catch (...) { _exit(kFailed); }  // the test goes on in the parent alone
    _exit(kOk);
  }
  close(ends[1]);
  Ended ended;
  std::array<char, 256> buffer{};
  for (ssize_t n = 0; (n = read(ends[0], buffer.data(), buffer.size())) > 0;)
    ended.text.append(buffer.data(), static_cast<std::size_t>(n));
  close(ends[0]);
  waitpid(child, &ended.status, 0);
  return ended;
}

void allocate_too_much() {
  std::vector<char> all;
  all.reserve(std::numeric_limits<std::size_t>::max() >> 2);
  static_cast<void>(write(-1, all.data(), 0));  // so that no compiler leaves the allocation out
}

void say_removed() noexcept { static_cast<void>(write(STDERR_FILENO, "removed\n", 8)); }

}  // namespace

TEST_CASE("what ended a program names the limits where memory or threads ran out") {
  constexpr rlim_t kKib = rlim_t{1} << 34;
  const WideLimit limit(kKib);
  if (!limit.set()) return;
  const std::string text = "ulimit -v is " + std::to_string(kKib);
  CHECK(memory_limit_text().find(text) != std::string::npos);
  CHECK(ending_text(std::bad_alloc()) == "out of memory" + memory_limit_text());
  CHECK(ending_text(std::bad_alloc(), "use less") == "out of memory" + memory_limit_text() + ": use less");
  CHECK(ending_text(OutOfMemory(1 << 20, 3)) == "out of memory: 3 MiB were asked for" + memory_limit_text());
  const std::string refused = ending_text(std::system_error(EAGAIN, std::generic_category()));
  CHECK(refused.find("a thread cannot be started: ") == 0);
  CHECK(refused.find(text) != std::string::npos);
  CHECK(ending_text(std::runtime_error("a.mtx:3: bad"), "use less") == "a.mtx:3: bad");
}

TEST_CASE("memory that runs out in a parallel region or in a thread is exit code 2 and one line") {
  const std::function<void()> in_region = [] {
#pragma omp parallel num_threads(1)
    allocate_too_much();
  };
  const std::function<void()> in_thread = [] { std::thread(allocate_too_much).join(); };
  for (const auto& work : {in_region, in_thread}) {
    const Ended ended = in_a_child([&] {
      end_where_memory_is_exhausted(say_removed);
      work();
    });
    CAPTURE(ended.text);
    CHECK(WIFEXITED(ended.status));
    CHECK(WEXITSTATUS(ended.status) == kUsage);
    CHECK(ended.text.find("removed\nerror: out of memory") == 0);
  }
}

TEST_CASE(
    "a library that ends a program whose memory is limited is no verdict; the program's own end is one") {
  for (const bool own : {false, true}) {
    CAPTURE(own);
    const Ended ended = in_a_child([&] {
      const WideLimit limit(rlim_t{1} << 34);
      end_where_memory_is_exhausted();
      if (own) note_own_end();
      std::exit(EXIT_FAILURE);  // as libgomp does
    });
    CHECK(WEXITSTATUS(ended.status) == (own ? EXIT_FAILURE : static_cast<int>(kUsage)));
    CHECK((ended.text.find("error: out of memory (ulimit -v is ") == 0) == !own);
  }
}

TEST_CASE("a limit of data that the program sets is told as no user's, and a user's lower one stays") {
  constexpr rlim_t kOwn = rlim_t{1} << 40;
  for (const rlim_t users : {kOwn / 2, kOwn, kOwn * 2}) {
    CAPTURE(users);
    const Ended ended = in_a_child([&] {
      rlimit limit{};
      getrlimit(RLIMIT_DATA, &limit);
      limit.rlim_cur = users;
      if (setrlimit(RLIMIT_DATA, &limit) != 0) throw std::runtime_error("the limit cannot be set");
      limit_data(kOwn);
      getrlimit(RLIMIT_DATA, &limit);
      const bool stays = users <= kOwn;
      const std::string text = stays ? " (ulimit -d is " + std::to_string(users / 1024) + ")" : "";
      const bool right = limit.rlim_cur == std::min(users, kOwn) && memory_is_limited() == stays &&
                         memory_limit_text() == text;
      if (!right) throw std::runtime_error(memory_limit_text());
    });
    CHECK(WIFEXITED(ended.status));
    CHECK(WEXITSTATUS(ended.status) == kOk);
  }
}

TEST_CASE("any other exception that nothing catches is no matter of memory") {
  const Ended ended = in_a_child([] {
    end_where_memory_is_exhausted();
    std::thread([] { throw std::logic_error("a fault"); }).join();
  });
  CAPTURE(ended.text);
  CHECK(WIFSIGNALED(ended.status));
  CHECK(WTERMSIG(ended.status) == SIGABRT);
  CHECK(ended.text.find("out of memory") == std::string::npos);
}

}  // namespace plumb
