// Sums over the entries of a row by groups of lanes, for kernels that end a row in their own way (store it,
// add a bias, take a softmax). Apart from common.hpp because models include it too.
//
// A group of `lanes` lanes holds a row of B side by side, V columns a lane: neighbours, or, where Apart, columns
// that lie `lanes` apart, so that rows on no boundary are read side by side too. `slots` groups, neighbours in the
// warp, share the entries of one row of A: slot s takes entries s, s + slots, ... Both are powers of two, and
// lanes * slots is at most 32; what is left of the warp works on other rows.
#pragma once
#include "gpu/spmm/common.hpp"

namespace plumb {
namespace spmm {

/// The place in a panel of lanes * V columns of a lane's column v; `within` is the lane's place in its group.
template <int V, bool Apart>
PLUMB_DEVICE int place_of_column(int within, int lanes, int v) {
  return Apart ? v * lanes + within : within * V + v;
}

/// A lane's columns of a row of B, from the first on; +0 for those beyond `left` columns, which are apart.
template <int V, bool Apart, class E>
PLUMB_DEVICE Pack<E, V> load_columns(const E* first, int lanes, Index left) {
  if constexpr (!Apart) {
    return load_pack<V>(first);
  } else {
    Pack<E, V> pack;
#pragma unroll
    for (int v = 0; v < V; ++v) pack.at[v] = v * lanes < left ? load_pack<1>(first + v * lanes).at[0] : E{};
    return pack;
  }
}

/// sum[v] += A.val[k] * B[A.col[k]][column v of the lane, whose first is `column`] for k = begin, begin + step, ... below end, in this order.
/// The indices and values of Batch entries are loaded before the first row of B waits for one, and Batch rows
/// of B are in flight at once; the last, broken batch too, since short rows have no other. `step` is best a
/// constant: with one, the loads of a batch share an address (`col + k + u * step`, not `col + (k + u *
/// step)`, whose sum could wrap: 109 us against 152 on a banded matrix, H200).
template <int V, int Batch, bool Apart = false, class T>
PLUMB_DEVICE void add_entries(const In<T>& in, unsigned begin, unsigned end, unsigned step, Index column,
                              int lanes, scalar_t<T> (&sum)[V]) {
  using E = in_t<T>;
  const std::int32_t* col = in.A.col;
  const E* val = in.A.val;
  const E* b = in.B.data + column;
  const Index ld = in.B.ld, left = in.B.cols - column;
  const auto load = [&](std::int32_t c) {
    return load_columns<V, Apart>(b + static_cast<Index>(c) * ld, lanes, left);
  };
  unsigned k = begin;  // nnz < 2^31 and Batch * step <= 1024: k does not wrap
  for (; k + (Batch - 1) * step < end; k += Batch * step) {
    std::int32_t c[Batch];
    scalar_t<T> a[Batch];
    Pack<E, V> x[Batch];
#pragma unroll
    for (int u = 0; u < Batch; ++u) c[u] = __ldg(col + k + u * step), a[u] = load_value(val + k + u * step);
#pragma unroll
    for (int u = 0; u < Batch; ++u) x[u] = load(c[u]);
#pragma unroll
    for (int u = 0; u < Batch; ++u) {
#pragma unroll
      for (int v = 0; v < V; ++v) sum[v] += a[u] * value(x[u].at[v]);
    }
  }
  if (Batch > 1 && k < end) {
    constexpr int kMost = Batch > 1 ? Batch - 1 : 1;
    std::int32_t c[kMost];
    scalar_t<T> a[kMost];
    Pack<E, V> x[kMost];
#pragma unroll
    for (int u = 0; u < kMost; ++u) {
      if (k + u * step < end) c[u] = __ldg(col + k + u * step), a[u] = load_value(val + k + u * step);
    }
#pragma unroll
    for (int u = 0; u < kMost; ++u) {
      if (k + u * step < end) x[u] = load(c[u]);
    }
#pragma unroll
    for (int u = 0; u < kMost; ++u) {
      if (k + u * step < end) {
#pragma unroll
        for (int v = 0; v < V; ++v) sum[v] += a[u] * value(x[u].at[v]);
      }
    }
  }
}

/// Adds the sums of a row's groups: afterwards every group has all of them. All 32 lanes call it.
template <int V, class T>
PLUMB_DEVICE void join_slots(T (&sum)[V], int lanes, int slots) {
  for (int d = lanes; d < lanes * slots; d *= 2) {
#pragma unroll
    for (int v = 0; v < V; ++v) sum[v] += __shfl_xor_sync(kAllLanes, sum[v], d);
  }
}

/// As join_slots, but at every step half the columns are handed over and half kept, while there are two: at
/// most V - 1 shuffles and then one a step, not V a step. A group ends with kScattered columns of
/// its lane's V; the place of the first is returned. Groups that would hold the same columns differ in the
/// lowest bits of their slot: the one where these are 0 stores.
template <int Lanes, int Slots, int V, class T>
PLUMB_DEVICE int scatter_slots(T (&sum)[V], int lane) {
  int first = 0, left = V;
#pragma unroll
  for (int d = Lanes * Slots / 2; d >= Lanes; d /= 2) {
    if (left > 1) {
      const bool upper = (lane & d) != 0;
      left /= 2;
#pragma unroll
      for (int v = 0; v < V / 2; ++v) {
        if (v < left) {
          const T keep = upper ? sum[left + v] : sum[v], give = upper ? sum[v] : sum[left + v];
          sum[v] = keep + __shfl_xor_sync(kAllLanes, give, d);
        }
      }
      first += upper ? left : 0;
    } else {
      sum[0] += __shfl_xor_sync(kAllLanes, sum[0], d);
    }
  }
  return first;
}
template <int Slots, int V>
constexpr int kScattered = V > Slots ? V / Slots : 1;

/// A lane's columns of a row of C from `first` on, as load_columns() has them.
template <int V, bool Apart, class O, class S>
PLUMB_DEVICE void store_columns(O* first, const S* sum, int lanes, Index left) {
  if constexpr (!Apart) {
    store_pack<V>(first, sum);
  } else {
#pragma unroll
    for (int v = 0; v < V; ++v) {
      if (v * lanes < left) store_value(first + v * lanes, sum[v]);
    }
  }
}

}  // namespace spmm
}  // namespace plumb
