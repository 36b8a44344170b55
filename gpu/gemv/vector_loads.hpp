// The loop of rungs 3 to 6 over a range of one row, as many bytes at a time as its addresses allow. Header only.
#pragma once
#include "gpu/gemv/common.hpp"

namespace plumb {
namespace gemv {

/// Elements that are loaded together: 16 bytes, or one.
template <class T, int Lanes = 16 / sizeof(T)>
struct alignas(sizeof(T) * Lanes) Vector {
  static constexpr int kLanes = Lanes, kInFlight = Lanes == 1 ? 8 : 4;  // loads of a thread at once
  T lane[kLanes];
};

/// Whether A and x may be read by 16 bytes.
template <class T>
bool on_vectors(const In<T>& in) {
  const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(in.A.data) |
                              reinterpret_cast<std::uintptr_t>(in.x.data) |
                              static_cast<std::uintptr_t>(in.A.ld * static_cast<Index>(sizeof(T)));
  return bits % 16 == 0;
}

/// The calling thread's share of sum row[k] * x[k] over [begin, end): vectors number thread, thread + threads, ..., some loads in flight;
/// what is left of the last vector goes to the first threads. `row`, `x` and `begin` lie on boundaries of V.
template <class V, class T>
PLUMB_DEVICE T dot_share(const T* row, const T* x, Index begin, Index end, int thread, int threads) {
  const auto* rv = reinterpret_cast<const V*>(row + begin);
  const auto* xv = reinterpret_cast<const V*>(x + begin);
  const Index vectors = (end - begin) / V::kLanes;
  T sum[V::kLanes] = {};
  constexpr int kInFlight = V::kInFlight;
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
  T total = T(0);
  // groups of fewer threads than a vector's elements go over what is left in turns
  for (Index k = begin + vectors * V::kLanes + thread; V::kLanes > 1 && k < end; k += threads)
    total += row[k] * x[k];
#pragma unroll
  for (int l = 0; l < V::kLanes; ++l) total += sum[l];
  return total;
}

}  // namespace gemv
}  // namespace plumb
