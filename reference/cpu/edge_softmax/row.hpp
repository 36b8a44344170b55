// One row of edge_softmax on the host: three loops over its entries.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/core/values.hpp"
#include "reference/ops/edge_softmax.hpp"

namespace plumb {

template <class T>
void write_edge_row(const EdgeSoftmax::In<T, Space::host>& in, const EdgeSoftmax::Out<T, Space::host>& out,
                    std::int64_t i) {
  using V = scalar_t<T>;
  const std::int32_t begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
  const auto a = [&](std::int32_t e) { return value(in.A.val[e]); };
  V max = -std::numeric_limits<V>::infinity(), sum = 0;
  for (std::int32_t e = begin; e < end; ++e) max = std::max(max, a(e));
  for (std::int32_t e = begin; e < end; ++e) sum += std::exp(a(e) - max);
  for (std::int32_t e = begin; e < end; ++e) out.y[e] = stored<out_t<T>>(std::exp(a(e) - max) / sum);
}

}  // namespace plumb
