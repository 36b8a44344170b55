// Two reports, result by result: what became slower, what faster, and whether that is more than chance.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "verify/bench/result.hpp"

namespace plumb {

struct Change {
  std::string case_id, variant;
  bool cold = false;
  double before = 0, after = 0;  // medians, seconds
  double ratio = 0;              // after / before: above 1 is slower
  double probability = 1;        // of such ranks by chance (rank_test)
  bool significant = false;      // intervals disjoint, or probability below 0.01
  bool regression = false;       // significant, and slower by more than the threshold
};

struct CompareResult {
  std::vector<Change> changes;           // results with times on both sides, in A's order
  std::vector<std::string> only_before;  // "case variant kind" with times in A and none in B
  std::vector<std::string> only_after;
  int regressions = 0;
  double ratio_mean = 0;  // geometric
};

/// `threshold`: 0.05 lets a result be 5 % slower.
[[nodiscard]] CompareResult compare_reports(const BenchReport& a, const BenchReport& b, double threshold);
/// `columns`: how wide a line may be; 0: no limit.
[[nodiscard]] std::string compare_table(const CompareResult&, const BenchReport& a, const BenchReport& b,
                                        double threshold, std::size_t columns = 0);

}  // namespace plumb
