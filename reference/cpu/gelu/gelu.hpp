// The function of gelu and bias_gelu_residual on the host.
#pragma once
#include <cmath>

namespace plumb {

/// x times the share of the normal distribution below it: x / 2 (1 + erf(x / sqrt(2))).
template <class V>
V gelu_of(V x) {
  return V(0.5) * x * (1 + std::erf(x * V(0.70710678118654752)));
}

}  // namespace plumb
