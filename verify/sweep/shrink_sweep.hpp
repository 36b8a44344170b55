// The first failing case of each variant, reduced to the smallest that still fails in the same way.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "verify/judge/runner.hpp"
#include "verify/selection/selection.hpp"

namespace plumb {

struct FailingCase {
  Case c;
  VariantInfo variant;
  Verdict verdict = Verdict::fail;
};

struct SmallerCase {
  FailingCase failing;
  Case smallest;
  int runs = 0;       // how many cases were judged on the way
  std::string repro;  // the command that judges `smallest` alone
};

/// Collects the first failing record of each variant. The jobs must outlive it.
class FirstFailures {
 public:
  explicit FirstFailures(const std::vector<Job>& jobs);
  void take(const Record&);
  [[nodiscard]] const std::vector<FailingCase>& all() const { return failures_; }

 private:
  std::map<std::string, const Job*> jobs_;  // by case id
  std::map<std::string, bool> seen_;        // by operator and variant
  std::vector<FailingCase> failures_;
};

/// Reduces each of `failures`, one after the other, and tells each result as soon as it is known. A signal ends it.
void shrink_failures(const std::vector<FailingCase>& failures, const RunOptions& run,
                     const std::function<void(const SmallerCase&)>& tell);

}  // namespace plumb
