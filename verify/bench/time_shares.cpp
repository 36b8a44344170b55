#include "verify/bench/time_shares.hpp"

#include <algorithm>
#include <utility>

namespace plumb {

TimeShares::TimeShares(double limit, double most_per_case, std::vector<std::string> operators)
    : limit_(limit), most_per_case_(most_per_case), operators_(std::move(operators)) {}

bool TimeShares::may_begin(std::size_t i, double now) {
  if (operators_[i] != op_) {
    op_ = operators_[i];
    int left = 1;
    for (std::size_t k = i + 1; k < operators_.size(); ++k)
      left += operators_[k] != operators_[k - 1] ? 1 : 0;
    operator_end_ = now + (limit_ - now) / left;
  }
  return now < operator_end_;
}

double TimeShares::deadline(std::size_t i, double now) const {
  const auto same = [&](const std::string& op) { return op == operators_[i]; };
  const auto left =
      std::count_if(operators_.begin() + static_cast<std::ptrdiff_t>(i), operators_.end(), same);
  const double share = 2 * (operator_end_ - now) / static_cast<double>(left);
  return std::min(now + std::min(share, most_per_case_), operator_end_);
}

}  // namespace plumb
