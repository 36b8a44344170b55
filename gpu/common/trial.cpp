#include "gpu/common/trial.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gpu/common/own_context.hpp"
#include "reference/core/resource_error.hpp"

namespace plumb {
namespace {

constexpr int kRounds = 5;
constexpr double kRoundSeconds = 1e-4, kMostOfRound = 10;  // of a candidate

// One after the other in every round: all see the same clocks of the device.
class Rounds {
 public:
  Rounds(const Trial& trial, void* stream) : trial_(trial), stream_(stream) {
    for (int i = 0; i < trial.count; ++i) {
      contexts_.push_back(std::make_unique<OwnContext>(stream));
      trial.prepare(trial.self, i, contexts_.back()->get());
      run(i);  // loads its kernels
      least_.push_back(least_of(i, 1));
      runs_.push_back(runs_in_round(least_.back()));
    }
  }
  void next() {
    for (int i = 0; i < trial_.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      least_[at] = std::min(least_[at], least_of(i, runs_[at]));
    }
  }
  [[nodiscard]] const std::vector<double>& least() const { return least_; }

 private:
  static int runs_in_round(double seconds) {
    return static_cast<int>(
        std::clamp(std::ceil(kRoundSeconds / std::max(seconds, 1e-9)), 1.0, kMostOfRound));
  }
  void run(int i) {
    OwnContext& context = *contexts_[static_cast<std::size_t>(i)];
    context.begin_run();
    trial_.run(trial_.self, i, context.get());
  }
  // Each run by itself: short kernels that follow each other overlap, and a caller's do not.
  double least_of(int i, int runs) {
    return least_seconds([&] { run(i); }, runs, stream_);
  }

  const Trial& trial_;
  void* stream_;
  std::vector<std::unique_ptr<OwnContext>> contexts_;
  std::vector<int> runs_;  // in a round
  std::vector<double> least_;
};

TrialTimes measured(const Trial& trial, void* stream) {
  const auto begin = std::chrono::steady_clock::now();
  TrialTimes times{};
  try {
    Rounds rounds(trial, stream);
    for (int r = 0; r < kRounds; ++r) rounds.next();
    std::transform(rounds.least().begin(), rounds.least().end(), times.us,
                   [](double seconds) { return seconds * 1e6; });
  } catch (const ResourceError&) { return {{}, -1, false}; } catch (const std::bad_alloc&) {
    return {{}, -1, false};
  }
  times.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return times;
}

}  // namespace

TrialTimes try_candidates(const Trial& trial, void* stream) {
  static std::mutex mutex;
  // by the key's hash: where two keys have one, the times of the other are a slower choice
  static std::unordered_map<std::size_t, TrialTimes> known;
  const std::lock_guard lock(mutex);
  const std::size_t key =
      std::hash<std::string_view>{}({static_cast<const char*>(trial.key), trial.key_bytes});
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  const TrialTimes times = measured(trial, stream);
  if (times.seconds >= 0) known.emplace(key, times).first->second.known = true;
  return times;
}

}  // namespace plumb
