// The kernel of rung 5, which rung 6 takes for rows that no block can hold. Header only.
#pragma once
#include "gpu/log_softmax/common.hpp"

namespace plumb {
namespace log_softmax {

constexpr int kOnlineThreads = 256, kOnlineInFlight = 4;

/// max x and sum exp(x - max) of what has been seen; (-Inf, 0) where that is nothing, or -Inf only. A NaN
/// makes the sum NaN, and so does +Inf, by Inf - Inf.
template <class T>
struct Running {
  T m = lowest<T>(), s = T(0);

  template <int N>
  PLUMB_DEVICE void add(const T (&x)[N]) {
    T top = m;
#pragma unroll
    for (int u = 0; u < N; ++u) top = larger(top, x[u]);
    if (top > m) {
      s *= exp_of(m - top);  // m = -Inf: 0 * 0
      m = top;
    }
#pragma unroll
    for (int u = 0; u < N; ++u) {
      if (x[u] != lowest<T>())
        s += exp_of(x[u] - m);  // -Inf adds nothing, and -Inf - -Inf must not be formed
    }
  }
  PLUMB_DEVICE void merge(T other_m, T other_s) {
    const T top = larger(m, other_m);
    const T mine = m == top ? s : s * exp_of(m - top);
    const T others = other_m == top ? other_s : other_s * exp_of(other_m - top);
    m = top;
    s = mine + others;
  }
};

template <class T>
__global__ void __launch_bounds__(kOnlineThreads) log_softmax_online(In<T> in, Out<T> out) {
  constexpr int kThreads = kOnlineThreads, kInFlight = kOnlineInFlight;
  __shared__ T maxima[kThreads / 32], sums[kThreads / 32];
  const Index i = blockIdx.x, cols = in.x.cols;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const T* const x = in.x.data + i * in.x.ld;
  T* const y = out.y.data + i * out.y.ld;
  Running<T> row;
  Index j = threadIdx.x;
  for (; j + (kInFlight - 1) * kThreads < cols; j += kInFlight * kThreads) {
    T v[kInFlight];
#pragma unroll
    for (int u = 0; u < kInFlight; ++u) v[u] = x[j + u * kThreads];
    row.add(v);
  }
  for (; j < cols; j += kThreads) {
    const T v[1] = {x[j]};
    row.add(v);
  }
  for (int d = 16; d > 0; d /= 2) {
    const T other_m = __shfl_xor_sync(kAllLanes, row.m, d), other_s = __shfl_xor_sync(kAllLanes, row.s, d);
    row.merge(other_m, other_s);
  }
  if (lane == 0) maxima[warp] = row.m, sums[warp] = row.s;
  __syncthreads();
  row = Running<T>();
#pragma unroll
  for (int w = 0; w < kThreads / 32; ++w) row.merge(maxima[w], sums[w]);  // every thread, in the same order
  const T log_sum = log_of(row.s);
#pragma unroll 4
  for (j = threadIdx.x; j < cols; j += kThreads) y[j] = finish(x[j], row.m, log_sum);
}

}  // namespace log_softmax
}  // namespace plumb
