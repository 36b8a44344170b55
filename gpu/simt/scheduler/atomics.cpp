// Fences, atomics and time: where a thread may be switched though it waits for nobody.
#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "gpu/simt/state.hpp"
#include "reference/core/error.hpp"

namespace plumb::simt {

void fence(Scope scope, bool sequential) {
  Thread* t = current().schedule.thread;
  if (t == nullptr) return;
  leave_trail(*t, "a fence", {"", 0});
  if (checking()) sequential ? on_ordered_fence(*t, scope) : on_fence(*t, scope);
  if (current().run.order != Order::ascending && one_in(4)) yield(false);
}

void wait_for_launches() {
  Thread* t = current().schedule.thread;
  if (t != nullptr && checking()) on_launches_awaited(*t);
}

bool draws_preemption() {
  return current().run.order == Order::random || current().run.order == Order::by_warp;
}

Preemption Preemption::of_launch() {
  constexpr Preemption kDrawn[] = {{16, 5, 64}, {2, 8, 1 << 14}, {5, 8, 1 << 14}, {32, 6, 1 << 14}};
  return draws_preemption() ? kDrawn[next_random() % std::size(kDrawn)] : Preemption{};
}

bool Preemption::draws(Block& b) {
  if (one_in_ == 0 || times_ == 0 || !one_in(one_in_)) return false;
  --times_;
  if (one_in(2)) b.held_back = 1 << next_random() % (longest_ + 1);
  return true;
}

void pause_by_chance(Thread& thread, bool polls) {
  ScheduleState& schedule = current().schedule;
  const bool preempted = schedule.resident.size() > 1 && schedule.preemption.draws(*thread.block);
  if (preempted) schedule.slice_ends = true;
  if (preempted || polls || (current().run.order != Order::ascending && one_in(8))) yield(polls);
}

void pause_before_atomic(Thread& thread, const volatile void* p, std::size_t bytes, Here here) {
  thread.here = here;
  thread.waits_for = "an atomic operation";
  thread.polls = {const_cast<const unsigned char*>(static_cast<const volatile unsigned char*>(p)),
                  static_cast<std::uint32_t>(bytes), locate(here)};
  pause_by_chance(thread, thread.atomic_was_idle);
}

void atomic_begin(const volatile void* p, std::size_t bytes, Scope scope, Here here, bool exchanges,
                  const void* expected) {
  Thread* t = current().schedule.thread;
  if (t == nullptr) return;
  pause_before_atomic(*t, p, bytes, here);
  if (reinterpret_cast<std::uintptr_t>(p) % bytes != 0) {
    note(FindingKind::misaligned,
         fmt::format("atomic operation on {} bytes at an address that is no multiple", bytes), t,
         locate(here));
    stop();
  }
  if (!checking()) return;
  access(const_cast<void*>(p), bytes, exchanges ? Access::atomic_exchange : Access::atomic_rmw, locate(here),
         scope);
  if (expected != nullptr) note_attempt(*t, const_cast<const void*>(p), bytes, expected);
}

void atomic_end(bool changed) {
  Thread* t = current().schedule.thread;
  if (t == nullptr) return;
  t->atomic_was_idle = !changed;
  if (changed) progress();
}

bool fails_for_no_reason() {
  return current().schedule.thread != nullptr && current().run.order != Order::ascending && one_in(8);
}

void pause() {
  if (current().schedule.thread == nullptr) return;
  Thread& t = *current().schedule.thread;
  if (t.polls.at == nullptr) t.waits_for = "__nanosleep";  // else it sleeps between two looks
  yield(true);
}

long long clock_ticks() {
  if (current().schedule.thread != nullptr) {  // threads that wait for time to pass wait together
    current().schedule.thread->waits_for = "the clock";
    yield(false);
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void trap(const char* what, Here here) {
  if (current().schedule.thread == nullptr) throw input_error(here.file, here.line, what);
  note(FindingKind::trap, what, current().schedule.thread, locate(here));
  stop();
}

void not_offered(const char* what, Here here) {
  end_unsupported(what, here);
  trap(fmt::format("not supported by the CPU executor: {}", what).c_str(), here);
}

}  // namespace plumb::simt

// clock() counts a device's cycles in a kernel (cudaDeviceProp::clockRate: a thousand a microsecond), and the process' time in host code.
extern "C" clock_t clock() noexcept {
  if (plumb::simt::current().schedule.thread != nullptr)
    return static_cast<clock_t>(plumb::simt::clock_ticks());
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<clock_t>(used.tv_sec * CLOCKS_PER_SEC + used.tv_nsec / (1000000000 / CLOCKS_PER_SEC));
}

// A failed assert() in a kernel is a finding; in host code it is what it always was.
// NOLINTNEXTLINE(bugprone-exception-escape): trap() leaves the fiber, it does not throw through here
extern "C" void __assert_fail(const char* expression, const char* file, unsigned line,
                              const char* function) noexcept {
  if (plumb::simt::current().schedule.thread != nullptr) {
    plumb::simt::trap((std::string("assertion failed: ") + expression).c_str(),
                      {file, static_cast<int>(line)});
  }
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
  std::abort();
}
