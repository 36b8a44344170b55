// A dot product in vector registers, shared by the variants that differ in which thread computes which part.
#pragma once
#include <cstdint>

#include "reference/cpu/simd.hpp"

namespace plumb {

/// sum of a[k] * x[k] for k in [0, n): four vector sums side by side, then their lanes in order, then the
/// rest.
template <class E>
value_t<E> simd_dot(const E* a, const E* x, std::int64_t n) {
  using T = value_t<E>;
  constexpr int kSums = 4;
  constexpr std::int64_t kStep = kSums * kLanes<T>;
  Vector<T> sum[kSums] = {};
  std::int64_t k = 0;
  for (; k + kStep <= n; k += kStep) {
#pragma GCC unroll 4
    for (int s = 0; s < kSums; ++s) {
      Vector<T> left, right;
      load_values<T>(left, a + k + s * kLanes<T>);
      load_values<T>(right, x + k + s * kLanes<T>);
      sum[s] += left * right;
    }
  }
  const Vector<T> lanes = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  T total = 0;
  for (int l = 0; l < kLanes<T>; ++l) total += lanes[l];
  for (; k < n; ++k) total += value(a[k]) * value(x[k]);
  return total;
}

}  // namespace plumb
