// What the rungs of the log_softmax ladder share: names, the maximum that keeps NaN, sums of exponentials and
// their merging. Header only.
#pragma once
#include "gpu/common/functions.hpp"
#include "gpu/common/held_row.hpp"
#include "reference/ops/log_softmax.hpp"

namespace plumb {
namespace log_softmax {

template <class T>
using Problem = LogSoftmax::Problem<T>;
template <class T>
using In = LogSoftmax::In<T, Space::device>;
template <class T>
using Out = LogSoftmax::Out<T, Space::device>;

template <class T>
PLUMB_DEVICE T lowest() {  // what a maximum begins with
  return -static_cast<T>(INFINITY);
}

/// The larger of the two. It loses a NaN in x; the sum brings it back, since NaN - m is NaN.
template <class T>
PLUMB_DEVICE T larger(T m, T x) {
  return x > m ? x : m;
}

/// y of one element: two subtractions in this order, since x - (m + log s) loses the small one. A row of -Inf
/// gives NaN by -Inf - -Inf, and one with +Inf by Inf - Inf in the sum.
template <class T>
PLUMB_DEVICE T finish(T x, T m, T log_sum) {
  return (x - m) - log_sum;
}

template <class T>
PLUMB_DEVICE T max_lanes(T m) {
  for (int d = 16; d > 0; d /= 2) m = larger(m, __shfl_xor_sync(kAllLanes, m, d));
  return m;
}

/// The maximum and the sum over the block of Threads, in every thread. `scratch` (Threads / 32) is free again
/// afterwards.
template <int Threads, class T>
PLUMB_DEVICE T max_block(T m, T* scratch) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  m = max_lanes(m);
  if (lane == 0) scratch[warp] = m;
  __syncthreads();
  m = max_lanes(lane < Threads / 32 ? scratch[lane] : lowest<T>());
  __syncthreads();
  return m;
}
template <int Threads, class T>
PLUMB_DEVICE T sum_block(T s, T* scratch) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  s = sum_lanes(s);
  if (lane == 0) scratch[warp] = s;
  __syncthreads();
  s = sum_lanes(lane < Threads / 32 ? scratch[lane] : T(0));
  __syncthreads();
  return s;
}

/// Of what the calling thread holds of a row: its maximum.
template <int Held, int V, class S>
PLUMB_DEVICE S max_of(HeldRow<Held, V, S>& row) {
  S m = lowest<S>();
  row.each([&m](S x) { m = larger(m, x); });
  return m;
}

/// Subtracts m; the sum of the exponentials, of those that are the row's.
template <int Held, int V, class S>
PLUMB_DEVICE S subtract_and_sum(HeldRow<Held, V, S>& row, S m, int first, int cols, int stride) {
  S s = 0;
  row.each([m](S& x) { x -= m; });
  row.each_inside(first, cols, stride, [&s](S x) { s += exp_of(x); });
  return s;
}

}  // namespace log_softmax
}  // namespace plumb
