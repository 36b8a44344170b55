// Tests of the judge itself: probes whose correct answer is known by hand, and wrong judges that the probes must notice.
#pragma once
#include <string>
#include <vector>

#include "verify/judge/checks.hpp"

namespace plumb {

/// Puts every probe to `parts`; returns the names of those answered wrongly. Empty for a sound judge.
[[nodiscard]] std::vector<std::string> judge_self_test(const JudgeParts& parts);

struct JudgeFault {
  std::string name;
  JudgeParts parts;
};
/// The catalogue of judges that are wrong in one way each.
[[nodiscard]] std::vector<JudgeFault> judge_faults();

}  // namespace plumb
