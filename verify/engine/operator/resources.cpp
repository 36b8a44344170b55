#include "verify/engine/operator/resources.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "reference/core/exhaustion.hpp"
#include "reference/core/resource_error.hpp"
#include "reference/core/threads.hpp"

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

std::int64_t address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<std::int64_t>::max();
  std::int64_t pages = 0;  // the first number of statm is the size of the address space
  std::ifstream("/proc/self/statm") >> pages;
  return static_cast<std::int64_t>(limit.rlim_cur) - pages * sysconf(_SC_PAGESIZE);
}

std::thread start_thread(std::function<void()> work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& e) { throw ResourceError(ending_text(e)); }
}

std::string missing_resources(int threads) {
  const std::int64_t needed = kSpareBytes + threads * stack_bytes();
  if (const std::int64_t left = address_space_left(); left < needed) {
    return fmt::format("out of address space: {} MiB are left, {} threads and a heap need {} MiB{}",
                       left >> 20, threads, needed >> 20, memory_limit_text());
  }
  const int had = startable_threads(threads);
  if (had == threads) return {};
  return fmt::format("out of threads: thread {} of {} cannot be started{}", had + 1, threads,
                     process_limit_text());
}

}  // namespace plumb
