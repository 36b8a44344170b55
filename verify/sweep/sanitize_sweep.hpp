// verify --sanitize: every GPU variant's smallest case of several tiles under compute-sanitizer's tools, side by side.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "verify/judge/runner.hpp"
#include "verify/judge/sanitizer.hpp"
#include "verify/selection/selection.hpp"

namespace plumb {

/// Cases with operations and words moved, the cheapest first; hostile ones and those with nothing to do are left out.
class CasesByCost {
 public:
  /// In the order of their cost. Not thread-safe.
  [[nodiscard]] std::vector<Case> ordered(const std::vector<Case>&);

 private:
  std::map<std::string, double> cost_;  // below 0: left out
};

/// The first of `cases` on which the variant launches more than one block, those preferred whose sizes all exceed 32: so that tiles have
/// neighbours in every direction. Where there is none, the nearest to it. False where no case runs, with the reason in `why_not`.
[[nodiscard]] bool choose_multi_tile(Runner&, const VariantInfo&, const std::vector<Case>& cases,
                                     Case& chosen, Record& why_not);

/// The message where compute-sanitizer is missing, and how to install it.
[[nodiscard]] std::string no_sanitizer();

struct SanitizeOptions {
  std::vector<SanitizerTool> tools;
  int workers = 1;
  bool fail_fast = false;
};

/// One record per variant, type and tool, each on one of the cases that the jobs name for it; given to `take` from any thread, one at a
/// time. Returns the first exception; an Error where there is a device but no compute-sanitizer.
[[nodiscard]] std::exception_ptr sanitize_jobs(const std::vector<Job>&, const RunOptions&,
                                               const SanitizeOptions&,
                                               const std::function<void(const Record&)>& take);

}  // namespace plumb
