// How a run with a limit divides its time: equally among the operators that are left, and an operator's among its cases.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace plumb {

class TimeShares {
 public:
  /// `limit`: seconds for the whole run, `most_per_case`: seconds for the variants of one case; both may be infinite.
  /// `operators`: that of each case, cases of one operator in a row.
  TimeShares(double limit, double most_per_case, std::vector<std::string> operators);

  /// Whether case `i` may be begun at `now`, seconds after the start. Asked for the cases in order.
  [[nodiscard]] bool may_begin(std::size_t i, double now);
  /// Until when variants of case `i`, which has been begun, may be begun: twice an equal share of what its operator has left, since
  /// some cases need less.
  [[nodiscard]] double deadline(std::size_t i, double now) const;

 private:
  double limit_, most_per_case_;
  std::vector<std::string> operators_;
  std::string op_;  // that of the last case asked for
  double operator_end_ = 0;
};

}  // namespace plumb
