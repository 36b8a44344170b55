// verify --sanitize: every GPU variant's smallest case of several tiles under compute-sanitizer's tools, side by side.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "verify/cli/options.hpp"
#include "verify/engine/runner.hpp"

namespace plumb {

/// One variant in one type, and the cases it may be checked on.
struct SanitizeTarget {
  VariantInfo variant;
  std::vector<Case> cases;
};

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
[[nodiscard]] bool choose_multi_tile(Runner&, const VariantInfo&, const std::vector<Case>& cases, Case& chosen, Record& why_not);

/// What is missing, and the way out.
[[nodiscard]] std::string no_sanitizer();

/// One record per target and tool, told to `take` from any thread, one at a time. Throws Error where there is a device but no
/// compute-sanitizer.
void sanitize(const VerifyOptions&, std::vector<SanitizeTarget>, const std::function<void(const Record&)>& take);

}  // namespace plumb
