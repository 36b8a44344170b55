// One query's row of attention on the host, for attention, causal_attention and masked_attention.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "reference/core/values.hpp"

namespace plumb {

/// A group's keys and values: row j is at `first` + j.
template <class T>
struct Keys {
  using V = scalar_t<T>;
  const DenseView<const in_t<T>, Space::host>& k;
  const DenseView<const in_t<T>, Space::host>& v;
  std::int64_t first, count;
  V scale;
  [[nodiscard]] V score(const in_t<T>* q, std::int64_t j) const {
    V sum = 0;
    for (std::int64_t d = 0; d < k.cols; ++d) sum += value(q[d]) * value(k(first + j, d));
    return sum * scale;
  }
  [[nodiscard]] V component(std::int64_t j, std::int64_t d) const { return value(v(first + j, d)); }
};

/// By the definition: all scores, their maximum, their sum, the mean of values. seen(j) says whether key j counts.
template <class T, class Seen>
void attend(const in_t<T>* q, const Keys<T>& keys, out_t<T>* o, Seen&& seen) {
  using V = scalar_t<T>;
  std::vector<V> p(static_cast<std::size_t>(keys.count));
  V max = -std::numeric_limits<V>::infinity(), sum = 0;
  for (std::int64_t j = 0; j < keys.count; ++j) {
    p[static_cast<std::size_t>(j)] = seen(j) ? keys.score(q, j) : -std::numeric_limits<V>::infinity();
    max = std::max(max, p[static_cast<std::size_t>(j)]);
  }
  for (V& x : p) x = std::exp(x - max), sum += x;
  for (std::int64_t d = 0; d < keys.v.cols; ++d) {
    V mean = 0;
    for (std::int64_t j = 0; j < keys.count; ++j)
      mean += p[static_cast<std::size_t>(j)] * keys.component(j, d);
    o[d] = stored<out_t<T>>(mean / sum);
  }
}

/// The same by blocks of 16 keys: sum and mean so far are rescaled where the maximum rises.
template <class T, class Seen>
void attend_online(const in_t<T>* q, const Keys<T>& keys, out_t<T>* o, Seen&& seen) {
  using V = scalar_t<T>;
  constexpr std::int64_t kBlock = 16;
  constexpr V kNone = -std::numeric_limits<V>::infinity();
  V p[kBlock], max = kNone, sum = 0;
  std::vector<V> mean(static_cast<std::size_t>(keys.v.cols));
  for (std::int64_t begin = 0; begin < keys.count; begin += kBlock) {
    const std::int64_t count = std::min(kBlock, keys.count - begin);
    V risen = max;
    for (std::int64_t j = 0; j < count; ++j) {
      p[j] = seen(begin + j) ? keys.score(q, begin + j) : kNone;
      risen = std::max(risen, p[j]);
    }
    if (risen == kNone) continue;
    const V rescale = std::exp(max - risen);
    max = risen, sum *= rescale;
    for (V& m : mean) m *= rescale;
    for (std::int64_t j = 0; j < count; ++j) {
      const V weight = std::exp(p[j] - max);
      sum += weight;
      for (std::size_t d = 0; d < mean.size(); ++d) mean[d] += weight * keys.component(begin + j, d);
    }
  }
  const V scale = 1 / sum;
  for (std::size_t d = 0; d < mean.size(); ++d) o[d] = stored<out_t<T>>(mean[d] * scale);
}

}  // namespace plumb
