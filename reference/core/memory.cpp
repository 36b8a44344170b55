#include "reference/core/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/exhaustion.hpp"

namespace plumb {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

double system_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    double kib = 0;
    if (word == "MemAvailable:" && file >> kib) return kib * 1024;
  }
  return kUnlimited;
}

/// A number in a file; infinite where there is none ("max").
double number_in(const std::string& path) {
  std::ifstream file(path);
  double value = 0;
  return file >> value ? value : kUnlimited;
}

/// The value of one key in a file of "key value" lines; 0 where there is none.
double value_of(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  double value = 0;
  for (std::string word; file >> word >> value;) {
    if (word == key) return value;
  }
  return 0;
}

/// Files that the group has cached count as used there, and are given up as soon as memory is asked for.
double left_in_group(const std::string& most, const std::string& used, const std::string& stat,
                     const std::string& cache) {
  const double limit = number_in(most), now = number_in(used);
  if (limit == kUnlimited || now == kUnlimited) return kUnlimited;
  return std::max(limit - (now - value_of(stat, cache)), 0.0);
}

double group_memory() {
  const std::string two = "/sys/fs/cgroup/memory.", one = "/sys/fs/cgroup/memory/memory.";
  return std::min(left_in_group(two + "max", two + "current", two + "stat", "file"),
                  left_in_group(one + "limit_in_bytes", one + "usage_in_bytes", one + "stat", "total_cache"));
}

double address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const double pages = number_in("/proc/self/statm");  // the first number: the whole program
  if (pages == kUnlimited) return kUnlimited;
  return std::max(static_cast<double>(limit.rlim_cur) - pages * static_cast<double>(sysconf(_SC_PAGESIZE)),
                  0.0);
}

}  // namespace

std::int64_t MemoryBound::least_for(std::int64_t data) const {
  const std::int64_t all = data + program;
  return allocator_share > 1 && all > 0 ? all + (all - 1) / (allocator_share - 1) : all;
}

double available_memory() { return std::min({system_memory(), group_memory(), address_space()}); }

std::string show_amount(std::int64_t bytes) {
  constexpr std::int64_t kWholeUnits = 10;
  const int shift = bytes >> 20 < kWholeUnits ? 10 : 20;
  return fmt::format("{} {}", ((bytes - 1) >> shift) + 1, shift == 10 ? "KiB" : "MiB");
}

void require_memory(const std::string& what, double bytes) {
  const double there = available_memory();
  if (bytes <= there) return;
  constexpr double kGib = 1 << 30;
  throw Error(fmt::format("{}: about {:.3g} GiB of memory are needed, {:.3g} GiB are available{}", what,
                          bytes / kGib, there / kGib, memory_limit_text()));
}

}  // namespace plumb
