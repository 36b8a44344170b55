// How variants are judged: what is the same for every trial of a command.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "verify/engine/engine.hpp"
#include "verify/judge/verdict.hpp"

namespace plumb {

/// What a failing record leaves behind, for as long as the call lasts.
struct Failure {
  const Record& record;
  const ImageLayout& layout;          // of the run that is shown
  const std::byte* before = nullptr;  // its image as staged
  const std::byte* after = nullptr;   // and as it was left; null where it did not return
  PreparedCase& prepared;             // expected values and bounds: the twin's where that is shown
  Arithmetic arithmetic = Arithmetic::native;
  bool tensor_cores = false;
};

struct RunOptions : EngineOptions {
  int repeat = 3;      // at least 2: two poisons
  bool spare = false;  // a tier's cases, and nobody chose `repeat`: on the executor most have two runs
  int first = 10;      // misses listed
  bool race = false;   // --race: the CPU executor checks every access
  std::uint64_t stress =
      0;  // --stress: a seed of what disturbs every run, drawn anew for each; 0: nothing does
  int seeds =
      0;  // --seeds: schedules of the CPU executor, all of them run and their findings joined; 0: `repeat`
  std::optional<std::uint64_t> schedule = {};  // --schedule: the first of them; nothing: by the case's seed
  std::int64_t uses =
      0;  // Context::uses: how many runs of a plan variants are told to expect; 0: they are told nothing
  std::function<void(const Failure&)> on_failure =
      {};  // told of every failing record, from the thread that judges it
};

}  // namespace plumb
