// One row of a GAT layer on the host: its entries' weights, then their mean of features.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "reference/core/values.hpp"
#include "reference/ops/gat_layer.hpp"

namespace plumb {

template <class T>
void write_gat_row(const GatLayer::In<T, Space::host>& in, const GatLayer::Out<T, Space::host>& out,
                   std::int64_t i) {
  using V = scalar_t<T>;
  const std::int32_t begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
  const auto score = [&](std::int32_t e) {
    const V x = value(in.s[i]) + value(in.t[in.A.col[e]]);
    return x < 0 ? V(0.2) * x : x;
  };
  V max = -std::numeric_limits<V>::infinity(), weight = 0;
  std::vector<V> sums(static_cast<std::size_t>(in.h.cols));
  for (std::int32_t e = begin; e < end; ++e) max = std::max(max, score(e));
  for (std::int32_t e = begin; e < end; ++e) {
    const V p = std::exp(score(e) - max);
    weight += p;
    for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += p * value(in.h(in.A.col[e], j));
  }
  for (std::size_t j = 0; j < sums.size(); ++j)
    out.y(i, j) = stored<out_t<T>>(begin < end ? sums[j] / weight : sums[j]);
}

}  // namespace plumb
