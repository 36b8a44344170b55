// log_softmax, rung 5: maximum and sum in one read.
//
// Change    each thread keeps a running maximum and a sum relative to it, and rescales the sum when the maximum grows; the pairs of a
//           block are merged the same way. x is read once for them and once for the result. Four loads are in flight per thread.
// Traffic   x twice and y once; the second time from the cache where the rows under way fit.
// Limits    @LIMITS@
// Fails at  narrow rows, as rung 4. The rescaling costs an exponential more per new maximum, and rounds once more.
// Source    Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
#include "gpu/log_softmax/common.hpp"

namespace plumb {
namespace {

using namespace log_softmax;

constexpr int kThreads = 256, kInFlight = 4;

/// max x and sum exp(x - max) of what has been seen. Nothing seen, or -Inf only: (-Inf, 0), and -Inf - -Inf must not be formed.
template <class T>
struct Running {
  T m = lowest<T>(), s = T(0);
  PLUMB_DEVICE void add(T x) {
    if (x > m) {
      s = m == lowest<T>() ? s + T(1) : s * exp_of(m - x) + T(1);
      m = x;
      if (m - m != T(0)) s = m - m;  // +Inf: the row is NaN, and stays so
    } else if (x != lowest<T>()) {
      s += exp_of(x - m);  // x <= m, or x is NaN and so is the sum
    }
  }
  PLUMB_DEVICE void merge(T other_m, T other_s) {
    const T top = larger(m, other_m);
    const T mine = m == top ? s : s * exp_of(m - top), others = other_m == top ? other_s : other_s * exp_of(other_m - top);
    m = top;
    s = mine + others;
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads) log_softmax_online(In<T> in, Out<T> out) {
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
#pragma unroll
    for (int u = 0; u < kInFlight; ++u) row.add(v[u]);
  }
  for (; j < cols; j += kThreads) row.add(x[j]);
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

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch(log_softmax_online<T>, in.x.cols == 0 ? Index{0} : in.x.rows, kThreads, 0, context.stream, in, out);
}

const Register<LogSoftmax, float, Space::device> f32{"05_online", run<float>};
const Register<LogSoftmax, double, Space::device> f64{"05_online", run<double>};

}  // namespace
}  // namespace plumb
