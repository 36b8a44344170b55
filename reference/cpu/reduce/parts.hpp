// What the reductions share: the maximum that keeps NaN, and the refusal of sums-only variants.
#pragma once
#include <limits>

#include "reference/ops/reduce.hpp"

namespace plumb {

/// The larger of both; NaN where either is one. `b > a ? b : a` alone would lose a NaN in b.
template <class T>
T larger(T a, T b) {
  return b > a || b != b ? b : a;
}

template <class T>
inline constexpr T kMinusInf = -std::numeric_limits<T>::infinity();

/// supports() of variants that differ in how they sum.
template <class T>
const char* sums_only(const Reduce::Problem<T>& p, const Reduce::In<T, Space::host>&,
                      const Reduce::Out<T, Space::host>&) {
  return p.kind == Reduce::Kind::sum ? nullptr : "a way of summing: a maximum has no rounding errors";
}

}  // namespace plumb
