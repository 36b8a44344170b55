// What the rungs of the log_softmax ladder share: names, the maximum that keeps NaN, sums of exponentials and
// their merging. Header only.
#pragma once
#include "gpu/common/functions.hpp"
#include "gpu/common/packs.hpp"
#include "gpu/common/rung.hpp"
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

/// Elements of a piece, which a lane moves at once: of `held` that it has, as many as 16 bytes of x hold.
template <class T, int Held>
constexpr int kPiece = Held < kPackOf<in_t<T>> ? Held : kPackOf<in_t<T>>;

/// Whether rows of x and y are made of whole pieces of V on 16-byte boundaries.
template <int V, class T>
bool whole_pieces(const In<T>& in, const Out<T>& out) {
  const auto on_vectors = [](const void* data, Index bytes) {
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && bytes % 16 == 0;
  };
  return in.x.cols % V == 0 && on_vectors(in.x.data, in.x.ld * static_cast<Index>(sizeof(in_t<T>))) &&
         on_vectors(out.y.data, out.y.ld * static_cast<Index>(sizeof(out_t<T>)));
}

/// A row in the registers of lanes or of a block, in pieces of V that lie `stride` apart: Held numbers of the calling thread.
template <int Held, int V, class S>
struct HeldRow {
  S at[Held];

  /// Loads the pieces below `cols`, of which the thread's first is `first`; the others are lowest(). Returns the maximum.
  template <class E>
  PLUMB_DEVICE S load(const E* x, int first, int cols, int stride) {
    S m = lowest<S>();
#pragma unroll
    for (int p = 0; p < Held / V; ++p) {
      const bool inside = p * stride + first < cols;
      Pack<E, V> piece;
      if (inside) piece = load_pack<V>(x + p * stride);
#pragma unroll
      for (int e = 0; e < V; ++e) {
        at[p * V + e] = inside ? value(piece.at[e]) : lowest<S>();
        m = larger(m, at[p * V + e]);
      }
    }
    return m;
  }
  /// Subtracts m, and returns the sum of the exponentials.
  PLUMB_DEVICE S subtract_and_sum(S m, int first, int cols, int stride) {
    S s = 0;
#pragma unroll
    for (int p = 0; p < Held / V; ++p) {
#pragma unroll
      for (int e = 0; e < V; ++e) {
        at[p * V + e] -= m;
        if (p * stride + first < cols) s += exp_of(at[p * V + e]);
      }
    }
    return s;
  }
  /// Stores what is held less log_sum.
  template <class O>
  PLUMB_DEVICE void finish(O* y, S log_sum, int first, int cols, int stride) {
#pragma unroll
    for (int p = 0; p < Held / V; ++p) {
#pragma unroll
      for (int e = 0; e < V; ++e) at[p * V + e] -= log_sum;
      if (p * stride + first < cols) store_pack<V>(y + p * stride, at + p * V, false);
    }
  }
};

}  // namespace log_softmax
}  // namespace plumb
