// The 16-byte loop of rungs 3 and 4 over a range of one row. Header only.
#pragma once
#include "gpu/gemv/common.hpp"

namespace plumb {
namespace gemv {

template <class T>
struct alignas(16) Vector {
  static constexpr int kLanes = 16 / sizeof(T);
  T lane[kLanes];
};

/// The calling thread's share of sum row[k] * x[k] over [begin, end): vectors number thread, thread +
/// threads, ..., four loads in flight; what is left of the last vector goes to the first threads. `row`, `x`
/// and `begin` lie on 16-byte boundaries.
template <class T>
PLUMB_DEVICE T dot_share(const T* row, const T* x, Index begin, Index end, int thread, int threads) {
  using V = Vector<T>;
  const auto* rv = reinterpret_cast<const V*>(row + begin);
  const auto* xv = reinterpret_cast<const V*>(x + begin);
  const Index vectors = (end - begin) / V::kLanes;
  T sum[V::kLanes] = {};
  constexpr int kInFlight = 4;
  Index v = thread;
  for (; v + (kInFlight - 1) * static_cast<Index>(threads) < vectors;
       v += kInFlight * static_cast<Index>(threads)) {
    V a[kInFlight], b[kInFlight];
#pragma unroll
    for (int u = 0; u < kInFlight; ++u)
      a[u] = rv[v + u * static_cast<Index>(threads)], b[u] = xv[v + u * static_cast<Index>(threads)];
#pragma unroll
    for (int u = 0; u < kInFlight; ++u) {
#pragma unroll
      for (int l = 0; l < V::kLanes; ++l) sum[l] += a[u].lane[l] * b[u].lane[l];
    }
  }
  for (; v < vectors; v += threads) {
    const V a = rv[v], b = xv[v];
#pragma unroll
    for (int l = 0; l < V::kLanes; ++l) sum[l] += a.lane[l] * b.lane[l];
  }
  const Index tail = begin + vectors * V::kLanes + thread;
  T total = tail < end ? row[tail] * x[tail] : T(0);
#pragma unroll
  for (int l = 0; l < V::kLanes; ++l) total += sum[l];
  return total;
}

}  // namespace gemv
}  // namespace plumb
