// What drawn cases say together: our speed beside the vendor's, and what the adaptive rung's choice costs.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "verify/bench/result.hpp"

namespace plumb {

/// One drawn case on one device: the fastest of each kind among those that compute in the operator's own type; null where there is
/// none. A rung that was left out counts with its single run.
struct DrawnCase {
  const BenchResult *vendor = nullptr, *best = nullptr, *adaptive = nullptr;
  [[nodiscard]] const BenchResult& any() const { return best != nullptr ? *best : *vendor; }
  /// The vendor's time over that of `ours`: above 1 is faster; 0 where one is missing.
  [[nodiscard]] double ratio(const BenchResult* ours) const;
  /// How much slower the adaptive rung is than our best: 0.1 is 10 %; below 0 where one is missing.
  [[nodiscard]] double regret() const;
  [[nodiscard]] bool noisy() const;  // an interval is too wide for a ratio to be exact
};
/// In the order of the report. They point into it.
[[nodiscard]] std::vector<DrawnCase> drawn_cases_of(const BenchReport&);

/// Speeds beside the vendor's over some cases; the worst is the least.
struct DrawnRatio {
  int cases = 0, noisy = 0;
  double mean = 0, percentile_5 = 0, worst = 0;  // geometric mean
  std::string worst_case, worst_repro;
};
struct DrawnRegret {
  int cases = 0;
  double median = 0, percentile_95 = 0, worst = 0;
  std::string worst_case, worst_repro;
};
/// After how many runs of a plan what the adaptive rung prepares has paid beside the vendor, over the cases where the two are known.
struct DrawnPayment {
  int cases = 0, never = 0;
  double median = -1;  // infinite: never; below 0: there are no cases
};
/// Of one operator in one type on one device.
struct DrawnSummary {
  std::string op, dtype, device;
  int cases = 0;
  DrawnRatio best, adaptive;
  DrawnRegret regret;
  DrawnPayment payment;
};
[[nodiscard]] std::vector<DrawnSummary> summarise_drawn(const BenchReport&);

/// "gemm.f32(...): best gpu/19_b_as_it_lies 12.3 us, 1.05x vendor; adaptive ...", of every device that timed the case.
[[nodiscard]] std::string drawn_case_lines(const BenchReport&, const std::string& case_id);
/// How the cases were drawn, and what was not timed. Of a report with `drawn`, as are the next two.
[[nodiscard]] std::string drawn_head(const BenchReport&);
/// Head, table, and the worst cases with the commands that repeat them. `columns`: how wide a line may be, commands apart; 0: no limit.
[[nodiscard]] std::string drawn_table(const BenchReport&, std::size_t columns = 0);
/// The same as a page, with a line for each case; `plots`: operator, path from the page.
[[nodiscard]] std::string drawn_markdown(const BenchReport&,
                                         const std::map<std::string, std::string>& plots = {});

}  // namespace plumb
