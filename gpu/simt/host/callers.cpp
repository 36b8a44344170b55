// Two callers of the host at once: each has a thread, and one of them goes on at a time. Where one has a launch under way, the other
// may begin or go on with its own: a device overlaps launches that nothing orders.
//
// Why by turns: a seed replays. Why no more than by turns: the caller that goes on may wait, outside the executor, for something that the
// other one holds (a mutex around its calls). So whoever waits for its turn takes it where nobody has been inside for a while.
#include <chrono>
#include <condition_variable>
#include <exception>
#include <thread>
#include <utility>

#include "gpu/simt/executor.hpp"
#include "gpu/simt/scheduler/index_variables.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

/// How launches of the two overlap, drawn: all of one caller's work within a launch of the other's, or by turns throughout.
class Overlap {
 public:
  Overlap() : by_turns_(one_in(2)), outer_(one_in(4) ? 0 : 1) {
    constexpr int kMostLaunches = 3, kMostTurns = 4;
    while (launches_ < kMostLaunches && one_in(2)) ++launches_;
    turns_ = 1 + static_cast<int>(next_random() % kMostTurns);
  }
  /// Who begins.
  [[nodiscard]] int outer() const { return outer_; }
  /// Whether the caller that has had another turn of its launch under way lets the other go on.
  bool changes(int caller) {
    if (by_turns_) return one_in(2);
    if (caller != outer_ || over_) return false;
    if (std::exchange(launch_, current().schedule.number) != current().schedule.number)
      --launches_, taken_ = 0;
    return over_ = launches_ < -1 || (launches_ == -1 && ++taken_ >= turns_);
  }

 private:
  bool by_turns_;
  int outer_;
  int launches_ = 0;  // of the outer caller that come first
  int turns_;         // of the next one
  int launch_ = -1, taken_ = 0;
  bool over_ = false;
};

/// A launch under way put aside, with what else belongs to it.
class Aside {
 public:
  Aside()
      : launch_(std::exchange<LaunchUnderWay>(current().schedule, {})),
        known_below_(current().race.known_below) {}
  ~Aside() {
    static_cast<LaunchUnderWay&>(current().schedule) = std::move(launch_);
    current().race.known_below = known_below_;
    running_block_extent = block_;
    running_grid_extent = grid_;
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

 private:
  LaunchUnderWay launch_;
  std::uint32_t known_below_;
  uint3 block_ = running_block_extent, grid_ = running_grid_extent;
};

class Callers {
 public:
  /// A caller begins, when it is its turn, and ends.
  void begin(int caller) {
    std::unique_lock<std::mutex> lock(mutex_);
    await(lock, caller);
  }
  void end(int caller) {
    const std::lock_guard<std::mutex> lock(mutex_);
    over_[caller] = true;
    hand_over(caller);
  }
  /// The caller, inside the executor, may let the other go on until that one does the same.
  void offer(int caller, bool polls) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (over_[1 - caller] || (!overlap_.changes(caller) && !polls)) return;
    resolve_pending();
    const Aside aside;
    const unsigned depth = engine().leave();
    hand_over(caller);
    await(lock, caller);
    lock.unlock();  // the other may want it while it is inside
    engine().enter_again(depth);
  }

 private:
  void hand_over(int caller) {
    turn_ = 1 - caller;
    changed_.notify_all();
  }
  void await(std::unique_lock<std::mutex>& lock, int caller) {
    constexpr std::chrono::milliseconds kPatience{200};
    while (turn_ != caller && !over_[1 - caller]) {
      const bool late = changed_.wait_for(lock, kPatience) == std::cv_status::timeout;
      if (late && turn_ != caller && try_enter_engine().owns_lock()) turn_ = caller;
    }
  }

  Overlap overlap_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int turn_ = overlap_.outer();
  bool over_[2] = {};
};

thread_local int this_caller = -1;  // of the host's threads: neither

/// Runs a caller's part on the host's thread that calls this. What it throws.
std::exception_ptr run_caller(Callers& callers, int caller, const std::function<void()>& part) {
  std::exception_ptr thrown;
  this_caller = caller;
  callers.begin(caller);
  try {
    part();
  } catch (...) { thrown = std::current_exception(); }
  callers.end(caller);
  this_caller = -1;
  return thrown;
}

Callers* callers_at_once = nullptr;

}  // namespace

void offer_turn(bool polls) {
  if (this_caller >= 0 && current().schedule.depth == 0) callers_at_once->offer(this_caller, polls);
}

void call_together(const std::function<void()>& first, const std::function<void()>& second) {
  Callers callers;
  callers_at_once = &callers;
  std::exception_ptr of_second;
  std::thread other([&] { of_second = run_caller(callers, 1, second); });
  const std::exception_ptr of_first = run_caller(callers, 0, first);
  other.join();
  callers_at_once = nullptr;
  for (const std::exception_ptr& thrown : {of_first, of_second})
    if (thrown) std::rethrow_exception(thrown);
}

}  // namespace plumb::simt
