// Samples of one run under the clock, in the process that runs it.
#pragma once
#include <chrono>
#include <limits>
#include <vector>

#include "verify/engine/backend/backend.hpp"
#include "verify/engine/process/request.hpp"

namespace plumb {

/// The one timing loop: after the first, untimed run come, for each kind of cache, runs to warm up and then the samples. begin() and
/// end() stand around every run while repeating(). `request` and `timing` outlive it.
class Repetition {
 public:
  Repetition(const TimingRequest& request, Timing& timing, Backend& backend)
      : request_(request), timing_(timing), backend_(backend) {}

  [[nodiscard]] bool repeating() const { return kind_ > 0; }
  void begin();
  void end();
  /// After every run: whether there is to be another.
  [[nodiscard]] bool again();

 private:
  enum Kind { kDone = -1, kFirst = 0, kWarm = 1, kCold = 2 };

  [[nodiscard]] bool cold() const { return kind_ == kCold; }
  [[nodiscard]] std::vector<double>& times() { return cold() ? timing_.cold : timing_.warm; }
  [[nodiscard]] double elapsed() const;
  [[nodiscard]] bool warming();
  bool enter(Kind kind);
  void give_up_if_slow(double seconds);

  const TimingRequest& request_;
  Timing& timing_;
  Backend& backend_;
  Kind kind_ = kFirst;
  int warmed_ = 0;
  double least_ = std::numeric_limits<double>::infinity();  // seconds of a run while warming
  bool warm_ = false, watched_ = false;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace plumb
