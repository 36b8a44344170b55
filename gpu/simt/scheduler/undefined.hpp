// Values that CUDA leaves undefined, as what a shuffle takes from a lane that does not take part: whether a launch's results depend on
// one. Registers have no shadow, so that is tried: from the first such value of a place on, the rest of the launch runs also in children of
// the process, in which that place gives other values; one child gives the same, which shows that nothing else differs from run to run.
// Where the memory of all is the same at the launch's end, the value went nowhere.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "gpu/simt/race/race.hpp"

namespace plumb::simt {

/// What a place gives in place of an undefined value: not a number, 0, a large negative and a large positive number.
enum class Stand : std::uint8_t { nan, zero, negative, positive };

/// The rest of the launch with other values at one place, by a child.
struct Trial {
  struct Child {
    pid_t process;
    int answer;  // the end of a pipe to read from
  };
  Location location;
  std::string text;  // of the finding there may be
  ThreadId thread;
  double begun;  // seconds
  std::vector<Child> children;
};

struct Undefined {
  const Thread* exchange = nullptr;         // one of those whose values are exchanged
  std::vector<Trial> trials;                // of the launch under way
  std::unordered_map<Location, int> tried;  // launches in which a place was tried
  // In a child: which place gives what, and where to it answers; -1: in no child.
  Location location = 0;
  Stand stand = Stand::nan;
  int answer = -1;
};

/// The launch under way has ended: what it depends on is noted. A child answers, and ends.
void finish_trials();

}  // namespace plumb::simt
