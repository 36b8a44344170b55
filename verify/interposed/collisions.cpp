#include "verify/interposed/collisions.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "verify/engine/backend/collisions.hpp"

namespace plumb::collisions {
namespace {

constexpr int kSignal = SIGURG;  // ignored where no handler stands: one that comes late does nothing
constexpr std::int64_t kMicrosecond = 1000;
constexpr std::int64_t kMeetingPatience = 300 * kMicrosecond, kStartPatience = 60 * kMicrosecond;
// What one thread waits in one run, at most. On a busy machine a short wait takes long: then fewer of them.
constexpr int kMostWaits = 48;
constexpr std::int64_t kLongestWait = 20'000 * kMicrosecond;

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

std::int64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

void sleep_for(std::int64_t nanoseconds) {
  const timespec t{0, static_cast<long>(nanoseconds)};
  nanosleep(&t, nullptr);
}

// How a run is disturbed: a mix of few means, drawn from its seed, because one hides what another shows.
struct Plan {
  std::uint64_t seed = 0;
  bool meets = false;        // threads leave the start of a region, and barriers, together
  bool interrupts = false;   // threads are stopped at any instruction
  unsigned pauses = 0;       // of 8 constructs
  std::int64_t longest = 0;  // of a pause
  int late = -1;             // a thread that comes late to every construct

  explicit Plan(std::uint64_t s = 0) : seed(s) {
    const std::uint64_t h = mixed(s);
    meets = h % 4 != 0;
    interrupts = (h >> 8) % 4 != 0;
    pauses = static_cast<unsigned>((h >> 16) % 3 * 3);
    longest = ((h >> 24) % 2 == 0 ? 10 : 150) * kMicrosecond;
    late = (h >> 32) % 2 == 0 ? static_cast<int>((h >> 40) % 4) : -1;
  }
};

std::atomic<std::uint64_t> force{0};  // the seed; 0: none
Plan plan;                            // written while no seed is in force
std::atomic<std::int64_t> last_start{0};
std::atomic<std::uint32_t> known_threads{0};

// What a thread remembers of one seed.
struct Own {
  std::uint64_t seed = 0, steps = 0;
  std::uint32_t number = 0;
  int waits = 0;
  std::int64_t spent = 0;
  bool has_timer = false;
  bool has_slice = false;  // an interrupt will come
  timer_t timer{};
};
thread_local Own own;

std::uint64_t draw() {
  const std::uint64_t seed = force.load(std::memory_order_relaxed);
  if (own.seed != seed) own.seed = seed, own.steps = 0, own.waits = 0, own.spent = 0;
  return mixed(seed + 0x9e3779b97f4a7c15ull * (++own.steps + (std::uint64_t{own.number} << 32)));
}

bool waited_enough() { return own.waits >= kMostWaits || own.spent >= kLongestWait; }

// To be called when a thread has waited since `begin`.
void note_wait(std::int64_t begin) {
  ++own.waits;
  own.spent += now() - begin;
}

// One way to lose time.
void wait(std::uint64_t h, std::int64_t longest) {
  const std::int64_t begin = now();
  const auto length = static_cast<std::int64_t>((h >> 8) % static_cast<std::uint64_t>(longest));
  switch (h % 3) {
    case 0:
      for (std::uint64_t i = 0; i <= (h >> 40) % 4; ++i) sched_yield();
      break;
    case 1:
      while (now() < begin + length / 4) {}
      break;
    default:
      sleep_for(length);
  }
  note_wait(begin);
}

// The next interrupt of this thread: a slice of 1 to 64 us, short ones as often as long ones.
void begin_slice() {
  const std::uint64_t h = draw();
  const std::int64_t length = (1 + static_cast<std::int64_t>(h >> 8) % 1000) << (h % 7);
  itimerspec when{};
  when.it_value.tv_nsec = static_cast<long>(kMicrosecond + length);
  own.has_slice = timer_settime(own.timer, 0, &when, nullptr) == 0;
}

void on_interrupt(int) {
  const int error = errno;
  own.has_slice = false;
  if (in_force() && !waited_enough()) {
    wait(draw(), plan.longest);
    begin_slice();
  }
  errno = error;
}

void collide(std::uint64_t seed) {
  static const bool prepared = [] {
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    action.sa_flags = SA_RESTART;
    sigaction(kSignal, &action, nullptr);
    enter_thread();  // the first one
    return true;
  }();
  (void)prepared;
  force = 0;
  if (seed == 0) return;
  plan = Plan(seed);
  force = seed;
  begin_slices();
}

const struct Registration {
  Registration() { collide_threads = collide; }
} registration;

}  // namespace

bool in_force() { return force.load(std::memory_order_relaxed) != 0; }

void pause(int number) {
  if (!in_force()) return;
  const std::uint64_t h = draw();
  if (waited_enough()) return;
  if (number >= 0 && number == plan.late && h % 2 == 0) {
    const std::int64_t length = static_cast<std::int64_t>(50 + (h >> 8) % 200) * kMicrosecond;
    const std::int64_t begin = now();
    sleep_for(length);
    note_wait(begin);
  } else if ((h >> 4) % 8 < plan.pauses) {
    wait(h >> 8, plan.longest);
  }
}

void Meeting::attend(int count, int turn) {
  if (!in_force() || !plan.meets || waited_enough()) return;
  ++came_;
  const std::int64_t begin = now();
  while (came_ < count * turn && now() < begin + kMeetingPatience) sched_yield();
  note_wait(begin);
}

void begin_slices() {
  if (!in_force() || !plan.interrupts) return;
  const bool knows_seed = own.seed == force.load(std::memory_order_relaxed);
  if (knows_seed && (own.has_slice || waited_enough())) return;
  if (!own.has_timer) {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = kSignal;
    event._sigev_un._tid = static_cast<int>(syscall(SYS_gettid));
    own.has_timer = timer_create(CLOCK_MONOTONIC, &event, &own.timer) == 0;
  }
  if (own.has_timer) begin_slice();
}

void enter_thread() { own.number = ++known_threads; }

void leave_thread() {
  if (own.has_timer) timer_delete(own.timer);
  own.has_timer = false;
}

void note_start() {
  if (in_force()) last_start = now();
}

void begin_together() {
  if (!in_force()) return;
  const std::int64_t begin = now();
  while (plan.meets && now() < std::min(last_start + kStartPatience, begin + 10 * kStartPatience))
    sched_yield();
  note_wait(begin);
  pause(static_cast<int>(own.number % 4));
  begin_slices();
}

}  // namespace plumb::collisions
