#include "verify/bench/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plumb {
namespace {

// The largest k (from 0) for which the k-th smallest of n is below the median with probability at least 0.975: at most k of n fair
// coins show heads with probability <= 0.025. -1 where n is too small for any.
int order_of_interval(int n) {
  double term = std::pow(0.5, n), sum = 0;  // P(exactly k heads)
  int k = -1;
  while (true) {
    sum += term;
    if (sum > 0.025 || k + 1 > n) return k;
    ++k;
    term *= static_cast<double>(n - k) / (k + 1);
  }
}

}  // namespace

bool Summary::wide() const { return !(high - low <= kNoisyWidth * median); }

Summary summarise(std::vector<double> samples) {
  Summary s;
  if (samples.empty()) return s;
  std::sort(samples.begin(), samples.end());
  const auto n = samples.size();
  s.count = static_cast<int>(n);
  s.median = n % 2 == 1 ? samples[n / 2] : 0.5 * (samples[n / 2 - 1] + samples[n / 2]);
  s.least = samples.front(), s.most = samples.back();
  // 0.5^n underflows far above any number of samples taken here; the normal approximation is exact enough long before
  const int k =
      n <= 1000 ? order_of_interval(s.count) : static_cast<int>(0.5 * s.count - 0.98 * std::sqrt(s.count));
  const auto order = static_cast<std::size_t>(std::max(k, 0));
  s.low = samples[order], s.high = samples[n - 1 - order];
  s.noisy = s.count < kFewestSamples || s.wide();
  return s;
}

double rank_test(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty() || b.empty()) return 1;
  std::vector<std::pair<double, bool>> all;
  for (const double v : a) all.emplace_back(v, true);
  for (const double v : b) all.emplace_back(v, false);
  std::sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  double ranks = 0, ties = 0;  // sum of the ranks of a, sum of t^3 - t over groups of equal values
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i;
    while (end < all.size() && all[end].first == all[i].first) ++end;
    const double rank = 0.5 * static_cast<double>(i + 1 + end), t = static_cast<double>(end - i);
    for (std::size_t j = i; j < end; ++j) ranks += all[j].second ? rank : 0;
    ties += t * t * t - t;
    i = end;
  }
  const double m = static_cast<double>(a.size()), n = static_cast<double>(b.size()), total = m + n;
  const double u = ranks - m * (m + 1) / 2;
  const double variance = m * n / 12 * (total + 1 - ties / (total * (total - 1)));
  if (!(variance > 0)) return 1;
  const double z = std::max(std::fabs(u - m * n / 2) - 0.5, 0.0) / std::sqrt(variance);
  return std::erfc(z / std::sqrt(2.0));
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at), above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

double geometric_mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  double sum = 0;
  for (const double v : values) sum += std::log(v);
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace plumb
