#include "reference/core/team.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>

#include <omp.h>

namespace plumb {
namespace {

// Seconds of a parallel region in which every thread does next to nothing: the median, since the first ones start threads, or wake them.
// A region with nothing in it would be left out by the compiler.
float measured_region() {
  constexpr int kRegions = 25;
  std::array<double, kRegions> seconds{};
  std::atomic<int> met = 0;
  for (double& of : seconds) {
    const auto begin = std::chrono::steady_clock::now();
#pragma omp parallel
    met.fetch_add(1, std::memory_order_relaxed);
    of = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  std::nth_element(seconds.begin(), seconds.begin() + kRegions / 2, seconds.end());
  return static_cast<float>(std::max(seconds[kRegions / 2], 1e-9));
}

float region_seconds(int threads) {
  constexpr int kMostThreads = 1024;                                // numbers of threads that are told apart
  static std::array<std::atomic<float>, kMostThreads + 1> known{};  // 0: not measured
  std::atomic<float>& of = known[static_cast<std::size_t>(std::min(threads, kMostThreads))];
  float seconds = of.load(std::memory_order_relaxed);
  if (seconds == 0) of.store(seconds = measured_region(), std::memory_order_relaxed);
  return seconds;
}

}  // namespace

bool worth_sharing(double seconds) {
  constexpr double kNoRegionIsShorter = 5e-7;
  const int threads = omp_get_max_threads();
  const double gain = seconds * (1 - 1.0 / threads);
  if (gain < kNoRegionIsShorter || omp_in_parallel() != 0) return false;
  return gain > region_seconds(threads);
}

}  // namespace plumb
