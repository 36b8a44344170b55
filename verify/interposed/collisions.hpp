// When threads of this process wait for each other, or at random: asked by every construct that is interposed. While no seed is in
// force each of these functions is one load.
#pragma once
#include <atomic>
#include <cstdint>

namespace plumb::collisions {

/// Whether a seed is in force.
[[nodiscard]] bool in_force();

/// At a construct: thread `number` of its team waits, or not, as the seed says.
void pause(int number);

/// The meetings of a team: threads that come to one leave it together, unless one of them does not come in time.
class Meeting {
 public:
  /// `count` threads come to each meeting; this is the `turn`-th of the caller, from 1.
  void attend(int count, int turn);

 private:
  std::atomic<int> came_{0};
};

/// From here on this thread is interrupted at moments that no construct marks, as long as the seed is in force.
void begin_slices();

/// A thread that begins or ends.
void enter_thread();
void leave_thread();
/// A thread has just been started.
void note_start();
/// In a thread that begins: waits until no other one has been started for a moment, so that all begin together.
void begin_together();

}  // namespace plumb::collisions
