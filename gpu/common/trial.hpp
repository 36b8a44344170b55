// Candidates timed by prepare(), for a plan of many runs. Each has its plan and its memory for as long as the trial takes.
#pragma once
#include <cstddef>

#include "reference/core/abi.hpp"

namespace plumb {

/// So many candidates are tried: those of least time by their models. On 479 drawn products with few columns the best of four was at most
/// 0.2 % slower than the best of thirteen on geometric mean, where the first alone was 2.5 %.
constexpr int kTried = 4;
/// Runs of a candidate by which a trial's time is foreseen.
constexpr double kRunsOfTrial = 12;

/// What is tried, as functions of a number from 0 to `count`.
struct Trial {
  int count;
  void* self;
  void (*prepare)(void* self, int i, Context& context);
  void (*run)(void* self, int i, Context& context);
  const void* key;  // bytes that are alike where the same is tried once more, in this program
  std::size_t key_bytes;
};

struct TrialTimes {
  double us[kTried];  // of a run
  double seconds;     // that the trial took; below 0: the device has no memory for one
  bool known;         // by an earlier trial
};

/// The times of a trial. A second one with the same key gives those of the first, so that plans for one problem compute the same bits.
/// Errors: throws Error where a kernel fails.
TrialTimes try_candidates(const Trial& trial, void* stream);

}  // namespace plumb
