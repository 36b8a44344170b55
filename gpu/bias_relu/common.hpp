// What the rungs of the bias_relu ladder share: the function of one element. Header only.
#pragma once
#include "gpu/common/packs.hpp"
#include "gpu/common/rung.hpp"
#include "reference/ops/bias_relu.hpp"

namespace plumb {
namespace bias_relu {

template <class T>
using Problem = BiasRelu::Problem<T>;
template <class T>
using In = BiasRelu::In<T, Space::device>;
template <class T>
using Out = BiasRelu::Out<T, Space::device>;

/// min(max(x + b, 0), cap). A NaN fails both comparisons and stays: fmin() and fmax() would lose it.
template <class T>
PLUMB_DEVICE T activate(T x, T b, T cap) {
  T v = x + b;
  v = v < T(0) ? T(0) : v;
  return v > cap ? cap : v;
}

/// The bias of column j.
template <class T>
PLUMB_DEVICE scalar_t<T> bias_of(const Problem<T>& p, const In<T>& in, Index j) {
  return in.b.size > 0 ? value(in.b[j]) : p.bias;
}

}  // namespace bias_relu
}  // namespace plumb
