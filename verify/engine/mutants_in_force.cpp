#include "verify/engine/mutants_in_force.hpp"

#include <algorithm>
#include <atomic>

#include "verify/engine/mutant_points.hpp"

namespace plumb {
namespace {

// Written by every thread of a variant: the same bits again and again, so their order is of no matter.
std::atomic<std::uint8_t> seen[kMostMutants + 1];
std::atomic<int> in_force{0};
std::atomic<bool> touched{false};

void note(int first, int count, std::uint8_t bit) {
  const int end = std::min(first + count, kMostMutants + 1);
  for (int n = std::max(first, 1); n < end; ++n) {
    const std::uint8_t before = seen[n].load(std::memory_order_relaxed);
    if ((before & bit) == 0) seen[n].store(before | bit, std::memory_order_relaxed);
  }
  if (!touched.load(std::memory_order_relaxed)) touched.store(true, std::memory_order_relaxed);
}

}  // namespace

void put_mutant_in_force(int number) {
  in_force = number;
  if (!touched) return;
  for (std::atomic<std::uint8_t>& s : seen) s.store(0, std::memory_order_relaxed);
  touched = false;
}

std::vector<SeenMutant> seen_mutants() {
  std::vector<SeenMutant> all;
  if (!touched) return all;
  for (int n = 1; n <= kMostMutants; ++n) {
    if (const std::uint8_t s = seen[n]; s != 0) all.push_back({n, s});
  }
  return all;
}

}  // namespace plumb

extern "C" int plumb_mutant_at(int first, int count) noexcept {
  plumb::note(first, count, plumb::kPlaceReached | plumb::kPlaceFelt);
  const int which = plumb::in_force.load(std::memory_order_relaxed) - first;
  return which >= 0 && which < count ? which : -1;
}

extern "C" int plumb_mutant_asked(int first, int count) noexcept {
  plumb::note(first, count, plumb::kPlaceReached);
  const int number = plumb::in_force.load(std::memory_order_relaxed), which = number - first;
  if (number == 0) return plumb::mutate::kAsking;
  return which >= 0 && which < count ? which : -1;
}

extern "C" void plumb_mutant_felt(int number) noexcept { plumb::note(number, 1, plumb::kPlaceFelt); }

extern "C" void plumb_mutant_absent(int first, int count) noexcept {
  plumb::note(first, count, plumb::kPlaceAbsent);
}
