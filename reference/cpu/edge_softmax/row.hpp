// One row of edge_softmax on the host: three loops over its entries.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/ops/edge_softmax.hpp"

namespace plumb {

template <class T>
void write_edge_row(const EdgeSoftmax::In<T, Space::host>& in, const EdgeSoftmax::Out<T, Space::host>& out,
                    std::int64_t i) {
  const std::int32_t begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
  T max = -std::numeric_limits<T>::infinity(), sum = 0;
  for (std::int32_t e = begin; e < end; ++e) max = std::max(max, in.A.val[e]);
  for (std::int32_t e = begin; e < end; ++e) sum += std::exp(in.A.val[e] - max);
  for (std::int32_t e = begin; e < end; ++e) out.y[e] = std::exp(in.A.val[e] - max) / sum;
}

}  // namespace plumb
