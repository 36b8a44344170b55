// How far a program that takes long has come, told on stderr: after 2 s where that is a terminal, after 10 s elsewhere, and then after
// twice as long each time, at most a minute later.
#pragma once
#include "gpu/simt/scheduler/scheduler.hpp"

namespace plumb::simt {

/// Seconds of a clock that no one sets. A handler of a signal may call it.
[[nodiscard]] double seconds_now();

/// As long as this lives, the launch under way tells how far it has come: blocks of all, seconds, an estimate of the rest.
class LaunchProgress {
 public:
  explicit LaunchProgress(const Launch& launch);
  ~LaunchProgress();
  LaunchProgress(const LaunchProgress&) = delete;
  LaunchProgress& operator=(const LaunchProgress&) = delete;

 private:
  bool is_armed_ = false;
};

}  // namespace plumb::simt
