// What the rungs of the spmv ladder share: the end of a row, sums across lanes and blocks, and the second
// pass of the variants that cut rows. Header only, and as lean as the ABI, because every rung includes it.
#pragma once
#include "gpu/common/packs.hpp"
#include "gpu/common/rung.hpp"
#include "reference/ops/spmv.hpp"

namespace plumb {
namespace spmv {

template <class T>
using Problem = Spmv::Problem<T>;
template <class T>
using In = Spmv::In<T, Space::device>;
template <class T>
using Out = Spmv::Out<T, Space::device>;

/// alpha sum; 0 where alpha is 0, whatever the sum: NaN in A or x does not count then.
template <class T>
PLUMB_DEVICE scalar_t<T> scaled(const Problem<T>& p, scalar_t<T> sum) {
  return p.alpha == scalar_t<T>(0) ? scalar_t<T>(0) : p.alpha * sum;
}

/// y[i] = alpha sum + beta old, where `old` is y[i], read before and perhaps long ago; it does not count where beta is 0. Adding +0 makes
/// the -0 of an empty row and a negative alpha +0.
template <class T>
PLUMB_DEVICE void finish_row(const Problem<T>& p, out_t<T>* y /* (rows) */, Index i, scalar_t<T> sum,
                             scalar_t<T> old) {
  using S = scalar_t<T>;
  y[i] = stored<out_t<T>>(scaled(p, sum) + (p.beta == S(0) ? S(0) : p.beta * old));
}

/// The same with y[i] read here, unless beta is 0.
template <class T>
PLUMB_DEVICE void finish_row(const Problem<T>& p, out_t<T>* y /* (rows) */, Index i, scalar_t<T> sum) {
  using S = scalar_t<T>;
  finish_row(p, y, i, sum, p.beta == S(0) ? S(0) : value(y[i]));
}

/// Entry k's product, through the read-only path.
template <class T>
PLUMB_DEVICE scalar_t<T> product(const In<T>& in, Index k) {
  return load_value(in.A.val + k) * load_value(in.x.data + __ldg(in.A.col + k));
}

/// Products of entries [begin, begin + count) into shared memory, by the whole block. The indices and values
/// of four rounds are loaded before the first gather waits for one: a round alone has too few bytes in flight
/// to hide memory. They are read once, and leave the second-level cache first: x stays.
template <int Threads, class T>
PLUMB_DEVICE void stage_products(const In<T>& in, Index begin, int count,
                                 scalar_t<T>* staged /* (count), shared */) {
  constexpr int kBatch = 4;
  const std::int32_t* col = in.A.col + begin;
  const in_t<T>* val = in.A.val + begin;
  std::int32_t c[kBatch];
  scalar_t<T> v[kBatch];
  int s = static_cast<int>(threadIdx.x);
  for (; s + (kBatch - 1) * Threads < count; s += kBatch * Threads) {
#pragma unroll
    for (int u = 0; u < kBatch; ++u)
      c[u] = __ldcs(col + s + u * Threads), v[u] = load_value_once(val + s + u * Threads);
#pragma unroll
    for (int u = 0; u < kBatch; ++u) staged[s + u * Threads] = v[u] * load_value(in.x.data + c[u]);
  }
  // the rest together as well: most tiles end here, and rounds one after the other would wait for memory each
#pragma unroll
  for (int u = 0; u < kBatch - 1; ++u) {
    c[u] = -1;
    if (s + u * Threads < count)
      c[u] = __ldcs(col + s + u * Threads), v[u] = load_value_once(val + s + u * Threads);
  }
#pragma unroll
  for (int u = 0; u < kBatch - 1; ++u) {
    if (c[u] >= 0) staged[s + u * Threads] = v[u] * load_value(in.x.data + c[u]);
  }
}

/// The sum over the block, in thread 0. `scratch` has a place per warp; all threads call it, and it may be
/// called again at once.
template <int Threads, class T>
PLUMB_DEVICE T sum_block(T value, T* scratch /* (Threads / 32), shared */) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  value = sum_lanes(value, 32);
  if (lane == 0) scratch[warp] = value;
  __syncthreads();
  if (warp == 0) value = sum_lanes(lane < Threads / 32 ? scratch[lane] : T(0), 32);
  __syncthreads();
  return value;
}

/// First i of [0, count) with at(i) >= wanted; count where there is none. `at` does not decrease.
template <class At>
PLUMB_HOST_DEVICE Index first_at_least(Index count, Index wanted, At at) {
  Index low = 0, high = count;
  while (low < high) {
    const Index middle = (low + high) / 2;
    if (at(middle) < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// A tile's part of the sum of a row that another tile finishes. row < 0: none.
template <class S>
struct Carry {
  Index row;
  S sum;
};

/// Parts of rows that lie in several tiles. A row's own tile, where it begins or ends, writes what it has of it to y, to which its carries are
/// added; where y rounds sums, to `own`, so that the row is rounded once.
template <class T>
struct Carries {
  Carry<scalar_t<T>>* carry = nullptr;  // (count), rows ascending
  scalar_t<T>* own = nullptr;           // (count); null where y holds sums
  Index count = 0;                      // of tiles
};

/// Which tile a row that lies in several belongs to: the one before those that have a carry of it, or the one behind them.
enum class Owner : std::uint8_t { before, behind };

constexpr int kCarryThreads = 128;

// One warp per carry; the first of a run of equal rows adds the whole run to y, lane by lane and then across
// lanes: always in the same order, so the result is reproducible.
template <class T, Owner O>
__global__ void __launch_bounds__(kCarryThreads)
    spmv_add_carries(Problem<T> p, Carries<T> carries, out_t<T>* y /* (rows) */) {
  using S = scalar_t<T>;
  const Index count = carries.count;
  const Carry<S>* carry = carries.carry;
  const Index warp = (static_cast<Index>(blockIdx.x) * kCarryThreads + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (warp >= count) return;  // whole warps
  const Index row = carry[warp].row;
  if (row < 0 || (warp > 0 && carry[warp - 1].row == row)) return;
  constexpr int kBatch = 4;  // loads in flight at once: a row of a million entries leaves 488 carries
  S sum = 0;
  int added = 0;
  bool more = true;
  for (Index c = warp + lane; more; c += kBatch * 32) {
    Carry<S> of[kBatch];
#pragma unroll
    for (int u = 0; u < kBatch; ++u) of[u] = c + u * 32 < count ? carry[c + u * 32] : Carry<S>{-1, S(0)};
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      more = of[u].row == row;
      if (more) sum += of[u].sum, ++added;
    }
  }
  sum = sum_lanes(sum, 32);
  if constexpr (kHoldsSums<T>) {
    if (lane == 0) y[row] += scaled(p, sum);
  } else {
    added = sum_lanes(added, 32);
    if (lane == 0) finish_row(p, y, row, sum + carries.own[O == Owner::before ? warp - 1 : warp + added]);
  }
}

template <Owner O, class T>
void add_carries(const Problem<T>& p, const Carries<T>& carries, const Out<T>& out, Context& context) {
  launch(spmv_add_carries<T, O>, ceil_div(carries.count, kCarryThreads / 32), kCarryThreads, 0,
         context.stream, p, carries, out.y.data);
}

/// Memory for the carries of `count` tiles, workspace of `context`.
template <class T>
Carries<T> make_carries(Index count, Context& context) {
  using S = scalar_t<T>;
  Carries<T> carries;
  carries.count = count;
  carries.carry = static_cast<Carry<S>*>(context.workspace(count * static_cast<Index>(sizeof(Carry<S>))));
  if constexpr (!kHoldsSums<T>)
    carries.own = static_cast<S*>(context.workspace(count * static_cast<Index>(sizeof(S))));
  return carries;
}

}  // namespace spmv
}  // namespace plumb
