// The union of what an instrument finds over several schedules of one case.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "verify/judge/checks.hpp"

namespace plumb {

class ScheduleFindings {
 public:
  /// Takes what a run under the schedule found; a finding between lines that an earlier one names is only counted.
  void add(const std::vector<std::string>& findings, std::uint64_t schedule);
  [[nodiscard]] bool empty() const { return kept_.empty(); }
  /// The schedule of the finding that the verdict is of: the first race, or else the first finding.
  [[nodiscard]] std::uint64_t schedule() const { return verdicts().schedule; }
  /// All of them, each with the schedule that shows it first.
  [[nodiscard]] Finding all() const;

 private:
  struct Kept {
    std::string key, text;
    std::uint64_t schedule = 0;
    int schedules = 1;  // that showed it
    bool race = false;
  };
  [[nodiscard]] const Kept& verdicts() const;
  std::vector<Kept> kept_;
};

}  // namespace plumb
