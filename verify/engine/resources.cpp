#include "verify/engine/resources.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <omp.h>

namespace plumb {
namespace {

constexpr std::int64_t kSpareBytes = std::int64_t{64} << 20;  // heap and libraries of a run
constexpr std::int64_t kStackBytes = std::int64_t{8} << 20;   // of a thread, where no limit says otherwise

// The number behind `key` in a file of "key number" lines; 0 where there is none.
std::int64_t counter_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string word;
    std::int64_t value = 0;
    if (words >> word >> value && word == key) return value;
  }
  return 0;
}

std::int64_t stack_bytes() {
  rlimit limit{};
  const bool known = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return known ? static_cast<std::int64_t>(limit.rlim_cur) : kStackBytes;
}

std::string limit_text(int resource, const char* flag, std::int64_t unit) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return {};
  return fmt::format(" (ulimit {} is {})", flag, static_cast<std::int64_t>(limit.rlim_cur) / unit);
}

// Threads that all wait until released, so that they exist at the same time.
class WaitingThreads {
 public:
  WaitingThreads() { pthread_mutex_lock(&gate_); }
  ~WaitingThreads() {
    pthread_mutex_unlock(&gate_);
    for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
  }
  WaitingThreads(const WaitingThreads&) = delete;
  WaitingThreads& operator=(const WaitingThreads&) = delete;

  // 0 or an error number, as pthread_create returns it.
  int start_one() {
    pthread_t thread{};
    const int status = pthread_create(&thread, nullptr, pass_gate, &gate_);
    if (status == 0) threads_.push_back(thread);
    return status;
  }

 private:
  static void* pass_gate(void* gate) {
    pthread_mutex_lock(static_cast<pthread_mutex_t*>(gate));
    pthread_mutex_unlock(static_cast<pthread_mutex_t*>(gate));
    return nullptr;
  }
  pthread_mutex_t gate_ = PTHREAD_MUTEX_INITIALIZER;
  std::vector<pthread_t> threads_;
};

}  // namespace

std::int64_t oom_kills() {
  std::int64_t kills = counter_in("/proc/vmstat", "oom_kill");
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // HIERARCHY:CONTROLLERS:PATH
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      path = line.substr(second + 1);
    if (controllers.empty()) kills += counter_in("/sys/fs/cgroup" + path + "/memory.events", "oom_kill");
    if (controllers == "memory")
      kills += counter_in("/sys/fs/cgroup/memory" + path + "/memory.oom_control", "oom_kill");
  }
  return kills;
}

bool address_space_is_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

std::int64_t address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<std::int64_t>::max();
  std::int64_t pages = 0;  // the first number of statm is the size of the address space
  std::ifstream("/proc/self/statm") >> pages;
  return static_cast<std::int64_t>(limit.rlim_cur) - pages * sysconf(_SC_PAGESIZE);
}

std::string missing_resources(int threads) {
  if (address_space_is_limited()) {
    const std::int64_t needed = kSpareBytes + threads * stack_bytes();
    if (const std::int64_t left = address_space_left(); left < needed) {
      return fmt::format("out of address space: {} MiB are left, {} threads and a heap need {} MiB{}",
                         left >> 20, threads, needed >> 20, limit_text(RLIMIT_AS, "-v", 1024));
    }
  }
  WaitingThreads waiting;
  for (int t = 1; t < threads; ++t) {
    if (const int status = waiting.start_one(); status != 0) {
      return fmt::format("out of threads: thread {} of {} cannot be started: {}{}", t + 1, threads,
                         std::strerror(status), limit_text(RLIMIT_NPROC, "-u", 1));
    }
  }
  return {};
}

int limit_threads_to_what_can_be_had() {
  const int wanted = omp_get_max_threads();
  int threads = 1;
  {
    WaitingThreads waiting;
    while (threads < wanted && waiting.start_one() == 0) ++threads;
  }
  if (threads < wanted) omp_set_num_threads(threads);
  return threads;
}

}  // namespace plumb
