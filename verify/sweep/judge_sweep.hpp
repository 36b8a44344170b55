// verify's sweep: judges every variant of every job and hands over a record of each.
#pragma once
#include <functional>

#include "verify/judge/runner.hpp"
#include "verify/selection/selection.hpp"
#include "verify/sweep/sweep.hpp"

namespace plumb {

struct JudgeSweepOptions {
  int workers = 1;
  bool fail_fast = false;
  bool all =
      false;  // a variant is judged on every case, also after kGiveUpAfter timeouts or crashes in a row
};

/// After so many equal verdicts in a row, of timeout, crash, error and out_of_bounds, a variant is skipped on later cases.
inline constexpr int kGiveUpAfter = 3;

/// Calls `take` with every record, from any thread, one at a time. Returns the first exception, or null; `take` has been
/// called with every record made before it.
[[nodiscard]] std::exception_ptr judge_jobs(const std::vector<Job>&, const RunOptions&,
                                            const JudgeSweepOptions&,
                                            const std::function<void(const Record&)>& take);

}  // namespace plumb
