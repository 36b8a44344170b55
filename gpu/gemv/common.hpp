// What the rungs of the gemv ladder share: the end of a row, and sums across lanes. Header only.
#pragma once
#include "gpu/common/rung.hpp"
#include "reference/ops/gemv.hpp"

namespace plumb {
namespace gemv {

template <class T>
using Problem = Gemv::Problem<T>;
template <class T>
using In = Gemv::In<T, Space::device>;
template <class T>
using Out = Gemv::Out<T, Space::device>;

/// Columns to read: none where alpha is 0, so that NaN in A or x cannot come through.
template <class T>
PLUMB_DEVICE Index columns(const Problem<T>& p, const In<T>& in) {
  return p.alpha == T(0) ? 0 : in.A.cols;
}

/// y[i] = alpha sum + beta y[i]; y is not read where beta is 0. `sum` is +0 where no column was read.
template <class T>
PLUMB_DEVICE void finish_row(const Problem<T>& p, T* y /* (rows) */, Index i, T sum) {
  y[i] = p.alpha * sum + (p.beta == T(0) ? T(0) : p.beta * y[i]);
}

/// The sum over the block, in thread 0; the last call of a kernel, since `scratch` is not free afterwards.
template <int Threads, class T>
PLUMB_DEVICE T sum_block(T value, T* scratch /* (Threads / 32), shared */) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  value = sum_lanes(value);
  if (lane == 0) scratch[warp] = value;
  __syncthreads();
  return warp == 0 ? sum_lanes(lane < Threads / 32 ? scratch[lane] : T(0)) : T(0);
}

}  // namespace gemv
}  // namespace plumb
