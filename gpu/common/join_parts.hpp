// Sums of which several blocks make a part each: the last block to leave its part adds all of them, in their order, so that results are
// the same from run to run. Header only.
#pragma once
#include "gpu/common/rung.hpp"

namespace plumb {

/// Leaves the block's part; true in the last block of the tile to do so, where `own` then holds the sums of all parts. A part is stored by
/// threads, so that each finds its elements side by side. V: 16 bytes of elements. `finished` is 0 before the first run, and after each.
template <int Threads, class V, class T, int Own>
PLUMB_DEVICE bool join_parts(T (&own)[Own], int parts, int part, T* of_tile /* (parts, Threads, Own) */,
                             unsigned* finished) {
  static_assert(Own % V::kLanes == 0, "a thread's sums are whole vectors");
  constexpr int kV = V::kLanes, kElements = Threads * Own;
  __shared__ bool last;
  const int at = static_cast<int>(threadIdx.x) * kV;
#pragma unroll
  for (int e = 0; e < Own; e += kV) {
    V v;
#pragma unroll
    for (int l = 0; l < kV; ++l) v.lane[l] = own[e + l];
    *reinterpret_cast<V*>(of_tile + static_cast<Index>(part) * kElements + e * Threads + at) = v;
  }
  __syncthreads();  // the whole part, before the count that announces it
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(finished, 1u) == static_cast<unsigned>(parts) - 1;
    __threadfence();          // and the count before the others' parts
    if (last) *finished = 0;  // for the next run
  }
  __syncthreads();
  if (!last) return false;
#pragma unroll
  for (int e = 0; e < Own; ++e) own[e] = T(0);
  constexpr int kAhead = Own <= 8 ? 4 : 1;  // parts whose elements registers have room for
#pragma unroll kAhead
  for (int other = 0; other < parts; ++other) {
#pragma unroll
    for (int e = 0; e < Own; e += kV) {
      const auto v =
          *reinterpret_cast<const V*>(of_tile + static_cast<Index>(other) * kElements + e * Threads + at);
#pragma unroll
      for (int l = 0; l < kV; ++l) own[e + l] += v.lane[l];
    }
  }
  return true;
}

}  // namespace plumb
