// Two passes over any accumulator: a grid sized to the chip folds the vector, one block folds the grid.
// Shared by the rungs that differ only in how a thread reads and in what it accumulates.
//
// An accumulator holds kParts numbers of T in `part`; nothing() is the empty one, add(x) takes a term,
// join(other) takes what another thread has, value() rounds. The order is fixed by n and the grid, so the
// results are reproducible.
#pragma once
#include "gpu/device/dependent_launch.hpp"
#include "gpu/reduce/common.hpp"

namespace plumb {
namespace reduce {

constexpr int kPassThreads = 256;
constexpr int kBlocksPerMultiprocessor = 8;

template <class Acc>
PLUMB_DEVICE void join_block_accumulators(Acc& mine, Acc* scratch /* (kPassThreads / 32), shared */) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const auto fold = [&mine](int from) {
    for (int d = from; d > 0; d /= 2) {
      Acc other;
      for (int i = 0; i < Acc::kParts; ++i) other.part[i] = __shfl_down_sync(kAllLanes, mine.part[i], d);
      mine.join(other);
    }
  };
  fold(16);
  if (lane == 0) scratch[warp] = mine;
  __syncthreads();
  if (warp == 0) {
    mine = lane < kPassThreads / 32 ? scratch[lane] : Acc::nothing();
    fold(kPassThreads / 64);
  }
}

/// Gives every term of x to the calling thread's accumulator that is the thread's share: 16 bytes at a time
/// between the first and the last 16-byte boundary (Vectors), or one by one.
template <class Acc, bool Vectors, class E>
PLUMB_DEVICE void take_share(Acc& mine, const E* x /* (n) */, Index n) {
  const Index stride = static_cast<Index>(gridDim.x) * kPassThreads;
  const Index thread = static_cast<Index>(blockIdx.x) * kPassThreads + threadIdx.x;
  if (!Vectors) {
    for (Index i = thread; i < n; i += stride) mine.add(value(x[i]));
    return;
  }
  constexpr int kLanes = kPackOf<E>;
  using Vector = Pack<E, kLanes>;
  const auto address = reinterpret_cast<std::uintptr_t>(x);
  Index head = static_cast<Index>((16 - address % 16) % 16 / sizeof(E));
  if (head > n) head = n;
  const Index vectors = (n - head) / kLanes;
  const auto* v = reinterpret_cast<const Vector*>(x + head);
  if (thread < head) mine.add(value(x[thread]));
  const Index tail = head + vectors * kLanes + thread;
  if (tail < n) mine.add(value(x[tail]));  // fewer than kLanes, so one per thread
  Index i = thread;
  constexpr int kInFlight = 4;  // loads issued before the first is used
  for (; i + (kInFlight - 1) * stride < vectors; i += kInFlight * stride) {
    Vector held[kInFlight];
#pragma unroll
    for (int u = 0; u < kInFlight; ++u) held[u] = v[i + u * stride];
#pragma unroll
    for (int u = 0; u < kInFlight; ++u) {
#pragma unroll
      for (int l = 0; l < kLanes; ++l) mine.add(value(held[u].at[l]));
    }
  }
  for (; i < vectors; i += stride) {
    const Vector held = v[i];
#pragma unroll
    for (int l = 0; l < kLanes; ++l) mine.add(value(held.at[l]));
  }
}

template <class Acc, bool Vectors, class E>
__global__ void __launch_bounds__(kPassThreads)
    reduce_grid(const E* x /* (n) */, Index n, Acc* partial /* (blocks) */) {
  __shared__ Acc scratch[kPassThreads / 32];
  let_dependent_begin();
  Acc mine = Acc::nothing();
  take_share<Acc, Vectors>(mine, x, n);
  join_block_accumulators(mine, scratch);
  if (threadIdx.x == 0) partial[blockIdx.x] = mine;
}

template <class Acc, class O>
__global__ void __launch_bounds__(kPassThreads)
    reduce_partials(const Acc* partial /* (count) */, Index count, O* result /* (1) */) {
  __shared__ Acc scratch[kPassThreads / 32];
  Acc mine = Acc::nothing();
  wait_for_primary();
  for (Index i = threadIdx.x; i < count; i += kPassThreads) mine.join(partial[i]);
  join_block_accumulators(mine, scratch);
  if (threadIdx.x == 0) *result = stored<O>(mine.value());
}

/// Blocks of the first pass: `each` for a multiprocessor, but no more than there are terms for.
inline Index pass_blocks(Index n, int terms_per_thread, int each = kBlocksPerMultiprocessor) {
  const Index most = static_cast<Index>(each) * device_multiprocessors();
  const Index needed = ceil_div(n, static_cast<Index>(kPassThreads) * terms_per_thread);
  return needed < 1 ? 1 : needed < most ? needed : most;
}

template <class Acc, bool Vectors, class T>
void reduce_in_two_passes(const In<T>& in, const Out<T>& out, Context& context) {
  const Index blocks = pass_blocks(in.x.size, Vectors ? kPackOf<in_t<T>> : 1);
  auto* partial = static_cast<Acc*>(context.workspace(blocks * static_cast<Index>(sizeof(Acc))));
  launch(reduce_grid<Acc, Vectors, in_t<T>>, blocks, kPassThreads, 0, context.stream, in.x.data, in.x.size,
         partial);
  launch_dependent(reduce_partials<Acc, out_t<T>>, 1, kPassThreads, 0, context.stream, partial, blocks,
                   out.result.data);
}

/// The accumulator without compensation: of a sum, or of a maximum.
template <class Op, class T>
struct Plain {
  static constexpr int kParts = 1;
  T part[kParts];
  PLUMB_DEVICE static Plain nothing() { return {{Op::template nothing<T>()}}; }
  PLUMB_DEVICE void add(T x) { part[0] = Op::join(part[0], x); }
  PLUMB_DEVICE void join(const Plain& other) { part[0] = Op::join(part[0], other.part[0]); }
  PLUMB_DEVICE T value() const { return part[0]; }
};

template <class T>
const char* sums_only(const Problem<T>& p, const In<T>&, const Out<T>&) {
  return p.kind == Reduce::Kind::sum ? nullptr : "a maximum rounds nothing: there is nothing to compensate";
}

}  // namespace reduce
}  // namespace plumb
