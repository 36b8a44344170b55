// The order of topk's answer, for its host variants.
#pragma once
#include "reference/core/values.hpp"
#include "reference/ops/topk.hpp"

namespace plumb {

/// Whether a stands before b: it is larger, or it alone is NaN.
template <class E>
bool is_before(E a, E b) {
  const auto x = value(a), y = value(b);
  return x > y || (x != x && y == y);
}

}  // namespace plumb
