// The kernel of rung 5, which rungs 6 and 8 take for rows that no block can hold. Header only.
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

/// What the threads of the block have, together, in every thread. The last of a kernel: `maxima` and `sums` are not free afterwards.
template <class T>
PLUMB_DEVICE Running<T> merge_block(Running<T> mine, T* maxima /* (warps), shared */,
                                    T* sums /* (warps), shared */) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  for (int d = 16; d > 0; d /= 2) {
    const T other_m = __shfl_xor_sync(kAllLanes, mine.m, d), other_s = __shfl_xor_sync(kAllLanes, mine.s, d);
    mine.merge(other_m, other_s);
  }
  if (lane == 0) maxima[warp] = mine.m, sums[warp] = mine.s;
  __syncthreads();
  Running<T> all;
#pragma unroll
  for (int w = 0; w < kOnlineThreads / 32; ++w)
    all.merge(maxima[w], sums[w]);  // every thread, in the same order
  return all;
}

/// Of the calling thread's share of x[begin, end).
template <class E>
PLUMB_DEVICE Running<value_t<E>> running_share(const E* x, Index begin, Index end) {
  using S = value_t<E>;
  constexpr int kThreads = kOnlineThreads, kInFlight = kOnlineInFlight;
  Running<S> row;
  Index j = begin + threadIdx.x;
  for (; j + (kInFlight - 1) * kThreads < end; j += kInFlight * kThreads) {
    S v[kInFlight];
#pragma unroll
    for (int u = 0; u < kInFlight; ++u) v[u] = value(x[j + u * kThreads]);
    row.add(v);
  }
  for (; j < end; j += kThreads) {
    const S v[1] = {value(x[j])};
    row.add(v);
  }
  return row;
}

/// y[begin, end) by the block.
template <class E, class O, class S>
PLUMB_DEVICE void finish_range(const E* x, O* y, Index begin, Index end, S m, S log_sum) {
#pragma unroll 4
  for (Index j = begin + threadIdx.x; j < end; j += kOnlineThreads)
    y[j] = stored<O>(finish(value(x[j]), m, log_sum));
}

template <class T>
__global__ void __launch_bounds__(kOnlineThreads) log_softmax_online(In<T> in, Out<T> out) {
  using S = scalar_t<T>;
  __shared__ S maxima[kOnlineThreads / 32], sums[kOnlineThreads / 32];
  const Index i = blockIdx.x, cols = in.x.cols;
  const in_t<T>* const x = in.x.data + i * in.x.ld;
  const Running<S> row = merge_block(running_share(x, 0, cols), maxima, sums);
  finish_range(x, out.y.data + i * out.y.ld, 0, cols, row.m, log_of(row.s));
}

template <class T>
void run_online(const In<T>& in, const Out<T>& out, Context& context) {
  launch(log_softmax_online<T>, in.x.cols == 0 ? Index{0} : in.x.rows, kOnlineThreads, 0, context.stream, in,
         out);
}

}  // namespace log_softmax
}  // namespace plumb
