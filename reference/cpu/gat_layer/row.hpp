// One row of a GAT layer on the host: its entries' weights, then their mean of features.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/ops/gat_layer.hpp"

namespace plumb {

template <class T>
void write_gat_row(const GatLayer::In<T, Space::host>& in, const GatLayer::Out<T, Space::host>& out,
                   std::int64_t i) {
  const std::int32_t begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
  const auto score = [&](std::int32_t e) {
    const T x = in.s[i] + in.t[in.A.col[e]];
    return x < 0 ? T(0.2) * x : x;
  };
  T max = -std::numeric_limits<T>::infinity(), weight = 0;
  for (std::int32_t e = begin; e < end; ++e) max = std::max(max, score(e));
  for (std::int64_t j = 0; j < in.h.cols; ++j) out.y(i, j) = 0;
  for (std::int32_t e = begin; e < end; ++e) {
    const T p = std::exp(score(e) - max);
    weight += p;
    for (std::int64_t j = 0; j < in.h.cols; ++j) out.y(i, j) += p * in.h(in.A.col[e], j);
  }
  for (std::int64_t j = 0; j < in.h.cols && begin < end; ++j) out.y(i, j) /= weight;
}

}  // namespace plumb
