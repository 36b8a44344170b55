// One query's row of attention on the host, for attention, causal_attention and masked_attention.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "reference/core/abi.hpp"

namespace plumb {

/// A group's keys and values: row j is at `first` + j.
template <class T>
struct Keys {
  const DenseView<const T, Space::host>& k;
  const DenseView<const T, Space::host>& v;
  std::int64_t first, count;
  T scale;
  [[nodiscard]] T score(const T* q, std::int64_t j) const {
    T sum = 0;
    for (std::int64_t d = 0; d < k.cols; ++d) sum += q[d] * k(first + j, d);
    return sum * scale;
  }
};

/// By the definition: all scores, their maximum, their sum, the mean of values. seen(j) says whether key j counts.
template <class T, class Seen>
void attend(const T* q, const Keys<T>& keys, T* o, Seen&& seen) {
  std::vector<T> p(static_cast<std::size_t>(keys.count));
  T max = -std::numeric_limits<T>::infinity(), sum = 0;
  for (std::int64_t j = 0; j < keys.count; ++j) {
    p[static_cast<std::size_t>(j)] = seen(j) ? keys.score(q, j) : -std::numeric_limits<T>::infinity();
    max = std::max(max, p[static_cast<std::size_t>(j)]);
  }
  for (T& x : p) x = std::exp(x - max), sum += x;
  for (std::int64_t d = 0; d < keys.v.cols; ++d) {
    T value = 0;
    for (std::int64_t j = 0; j < keys.count; ++j)
      value += p[static_cast<std::size_t>(j)] * keys.v(keys.first + j, d);
    o[d] = value / sum;
  }
}

/// The same by blocks of 16 keys: sum and mean so far are rescaled where the maximum rises.
template <class T, class Seen>
void attend_online(const T* q, const Keys<T>& keys, T* o, Seen&& seen) {
  constexpr std::int64_t kBlock = 16;
  constexpr T kNone = -std::numeric_limits<T>::infinity();
  T p[kBlock], max = kNone, sum = 0;
  std::fill_n(o, keys.v.cols, T(0));
  for (std::int64_t begin = 0; begin < keys.count; begin += kBlock) {
    const std::int64_t count = std::min(kBlock, keys.count - begin);
    T risen = max;
    for (std::int64_t j = 0; j < count; ++j) {
      p[j] = seen(begin + j) ? keys.score(q, begin + j) : kNone;
      risen = std::max(risen, p[j]);
    }
    if (risen == kNone) continue;
    const T rescale = std::exp(max - risen);
    max = risen, sum *= rescale;
    for (std::int64_t d = 0; d < keys.v.cols; ++d) o[d] *= rescale;
    for (std::int64_t j = 0; j < count; ++j) {
      const T weight = std::exp(p[j] - max);
      sum += weight;
      for (std::int64_t d = 0; d < keys.v.cols; ++d) o[d] += weight * keys.v(keys.first + begin + j, d);
    }
  }
  const T scale = 1 / sum;
  for (std::int64_t d = 0; d < keys.v.cols; ++d) o[d] *= scale;
}

}  // namespace plumb
