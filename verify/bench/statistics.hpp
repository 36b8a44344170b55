// Statistics of timing samples: medians with intervals that assume no distribution, and a test of two samples.
#pragma once
#include <vector>

namespace plumb {

/// The least number of samples a time is quoted from without being called noisy, and the widest interval relative to the median.
inline constexpr int kFewestSamples = 20;
inline constexpr double kNoisyWidth = 0.05;

/// Of one sample; in the samples' unit.
struct Summary {
  int count = 0;
  double median = 0;
  double low = 0,
         high = 0;  // 95 % interval of the median, from order statistics; the extremes below 6 samples
  double least = 0, most = 0;
  [[nodiscard]] bool wide()
      const;           // the interval exceeds kNoisyWidth of the median: no ratio can be quoted from it
  bool noisy = false;  // fewer than kFewestSamples, or an interval wider than kNoisyWidth of the median
};

/// All zero for an empty sample.
[[nodiscard]] Summary summarise(std::vector<double> samples);

/// Two-sided probability that two samples from one distribution differ in rank at least as much as these do (Mann-Whitney U,
/// normal approximation with correction for ties and continuity). 1 where a sample is empty or all values are equal.
/// Source: H. B. Mann, D. R. Whitney, Annals of Mathematical Statistics 18 (1947).
[[nodiscard]] double rank_test(const std::vector<double>& a, const std::vector<double>& b);

/// The value below which `share` of the values lie, between two of them in proportion: 0 gives the least, 0.5 the median, 1 the
/// largest. 0 for none.
[[nodiscard]] double percentile(std::vector<double> values, double share);

/// Geometric mean of positive values; 0 for none.
[[nodiscard]] double geometric_mean(const std::vector<double>& values);

}  // namespace plumb
