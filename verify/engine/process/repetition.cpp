#include "verify/engine/process/repetition.hpp"

#include <algorithm>

namespace plumb {
namespace {

// clocks rise and pages are mapped within some milliseconds of work; one run is enough where it takes longer than that
constexpr double kWarmingSeconds = 0.05;
constexpr int kWarmingRuns = 3, kMostWarmingRuns = 200;
// a run so many times slower than the limit is judged by itself, any other with the next one: the first may find clocks low
constexpr double kFarAbove = 4;

}  // namespace

void Repetition::begin() {
  backend_.begin_sample(cold());
  // once, and after the backend's own launches
  if (!watched_) backend_.watch_launches();
  watched_ = true;
}

void Repetition::end() {
  const double seconds = backend_.end_sample();
  if (!warming()) {
    times().push_back(seconds);
    return;
  }
  if (warmed_ == 0 && timing_.kernels.empty()) timing_.kernels = backend_.watched_launches();
  ++warmed_;
  give_up_if_slow(seconds);
}

void Repetition::give_up_if_slow(double seconds) {
  const double limit = request_.give_up_above;
  least_ = std::min(least_, seconds);
  if (limit <= 0 || least_ <= limit || (warmed_ < 2 && least_ <= kFarAbove * limit)) return;
  timing_.given_up = true;
  times().push_back(least_);
}

bool Repetition::again() {
  if (timing_.given_up) return enter(kDone);
  if (kind_ == kFirst) return enter(request_.warm ? kWarm : request_.cold ? kCold : kDone);
  if (warming()) return true;
  const bool enough = static_cast<int>(times().size()) >= request_.samples;
  const bool spent = !times().empty() && elapsed() > request_.budget;
  if (!enough && !spent) return true;
  return enter(kind_ == kWarm && request_.cold ? kCold : kDone);
}

double Repetition::elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
}

bool Repetition::warming() {
  if (!times().empty()) return false;
  const double spent = elapsed();
  const bool long_enough = spent > kWarmingSeconds || warmed_ >= kMostWarmingRuns;
  const bool often_enough = warmed_ >= kWarmingRuns || (warmed_ >= 1 && spent > 20 * kWarmingSeconds);
  if (!warm_ && long_enough && often_enough) {
    warm_ = true;
    since_ = std::chrono::steady_clock::now();
  }
  return !warm_;
}

bool Repetition::enter(Kind kind) {
  kind_ = kind, warmed_ = 0, warm_ = false, least_ = std::numeric_limits<double>::infinity();
  since_ = std::chrono::steady_clock::now();
  return kind_ != kDone;
}

}  // namespace plumb
