// Sums of which several blocks make a part each: the last block to leave its part, or a second kernel, adds what all left, always in the same
// order, so that results are the same from run to run. Header only.
#pragma once
#include "gpu/common/rung.hpp"
#include "gpu/device/dependent_launch.hpp"

namespace plumb {

/// Parts of a tile that the last of its blocks adds, in the same launch. More are left in memory, and added by a kernel of their own on all
/// multiprocessors. H200, gemm in fp32: 165 x 165 x 44,191 in 43 parts 114 and 103 us, 131 x 131 x 1152 in 9 parts 13.7 and 10.5; up to three
/// parts take 1 to 2 us less by the last block.
constexpr int kAddedByBlock = 3;
inline bool parts_are_left(Index parts) { return parts > kAddedByBlock; }

/// What adding the parts of a tile costs, in parts that its last block adds.
inline Index additions_of(Index parts) {
  if (parts == 1) return 0;
  return parts_are_left(parts) ? kAddedByBlock + 1 : parts;
}

/// A count for each of `tiles` tiles, 0 each; null where tiles are whole, or their parts are left. For prepare(): they are 0 again after each run.
inline unsigned* prepare_counts(Index tiles, Index parts, Context& context) {
  const Index bytes = tiles * static_cast<Index>(sizeof(unsigned));
  if (bytes == 0 || parts == 1 || parts_are_left(parts)) return nullptr;
  auto* const counts = static_cast<unsigned*>(context.workspace(bytes));
  device_fill(counts, 0, static_cast<std::size_t>(bytes), context.stream);
  return counts;
}

/// Stores the sums of the calling block, so that each thread finds its own side by side. V: 16 bytes of elements.
template <int Threads, class V, class T, int Own>
PLUMB_DEVICE void leave_part(const T (&own)[Own], T* part /* (Threads, Own) */) {
  static_assert(Own % V::kLanes == 0, "a thread's sums are whole vectors");
#pragma unroll
  for (int e = 0; e < Own; e += V::kLanes) {
    V v;
#pragma unroll
    for (int l = 0; l < V::kLanes; ++l) v.lane[l] = own[e + l];
    *reinterpret_cast<V*>(part + e * Threads + static_cast<int>(threadIdx.x) * V::kLanes) = v;
  }
}

/// True in the last of `blocks` blocks to call it; what all of them have stored before may be read then. `count` is 0 before and after.
PLUMB_DEVICE bool last_to_leave(int blocks, unsigned* count) {
  __shared__ bool last;
  __syncthreads();  // all that the block has stored, before the count that announces it; and all have read `last`
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(count, 1u) == static_cast<unsigned>(blocks) - 1;
    __threadfence();       // and the count before what the others have stored
    if (last) *count = 0;  // for the next run
  }
  __syncthreads();
  return last;
}

/// sum = the sum of `parts` parts, in their order, of each of Lanes neighbours: one element, or all of a vector V, which lies on its bounds.
/// `apart`: elements from one part to the next. Ahead: parts that are loaded before the first is added.
template <int Ahead, class V, class T, int Lanes>
PLUMB_DEVICE void add_parts(T (&sum)[Lanes], const T* first, int parts, Index apart) {
#pragma unroll
  for (int l = 0; l < Lanes; ++l) sum[l] = T(0);
#pragma unroll Ahead
  for (int part = 0; part < parts; ++part) {
    if constexpr (Lanes == 1) {
      sum[0] += first[part * apart];
    } else {
      const auto v = *reinterpret_cast<const V*>(first + part * apart);
#pragma unroll
      for (int l = 0; l < Lanes; ++l) sum[l] += v.lane[l];
    }
  }
}

/// Leaves the block's part; true in the last block of the tile to do so, where `own` then holds the sums of all parts, added in their order.
/// `finished` is 0 before the first run, and after each. 1 < parts <= kAddedByBlock.
template <int Threads, class V, class T, int Own>
PLUMB_DEVICE bool join_parts(T (&own)[Own], int parts, int part, T* of_tile /* (parts, Threads, Own) */,
                             unsigned* finished) {
  constexpr Index kApart = static_cast<Index>(Threads) * Own;
  leave_part<Threads, V>(own, of_tile + part * kApart);
  if (!last_to_leave(parts, finished)) return false;
#pragma unroll
  for (int e = 0; e < Own; e += V::kLanes) {
    T sum[V::kLanes];
    add_parts<kAddedByBlock, V>(sum, of_tile + e * Threads + static_cast<int>(threadIdx.x) * V::kLanes, parts,
                                kApart);
#pragma unroll
    for (int l = 0; l < V::kLanes; ++l) own[e + l] = sum[l];
  }
  return true;
}

constexpr int kAddThreads = 256;  // of a block that adds what others left

/// A thread's work in a block of kAddThreads where Shares threads add the parts of an element: neighbours have neighbouring elements.
template <int Shares>
struct ShareOfElement {
  static constexpr int kElements = kAddThreads / Shares;  // of a block
  int share = static_cast<int>(threadIdx.x) / kElements, element = static_cast<int>(threadIdx.x) % kElements;
};

/// Threads that all multiprocessors hold at once.
inline Index resident_threads() {
  constexpr Index kEach = 2048;  // of a multiprocessor, compute capability 8.0 and 9.0
  return kEach * device_multiprocessors();
}

/// How many threads add the parts of an element: several where parts are many and elements do not keep all multiprocessors busy by one each.
constexpr int kManyShares = 4;
inline bool shares_pay(Index elements, Index parts) {
  constexpr Index kFewParts = 8;
  return parts > kFewParts && kManyShares * elements <= resident_threads();
}

/// The sum of an element's `parts` parts, of the block's Shares threads that have it in the first: each adds neighbouring parts in their
/// order, and then the shares are added in theirs. `inside`: there is such an element. All threads of the block call it.
template <int Shares, class T>
PLUMB_DEVICE T sum_of_shares(const T* first /* (parts, apart) */, int parts, Index apart, bool inside) {
  const ShareOfElement<Shares> mine;
  const int from = parts * mine.share / Shares, past = parts * (mine.share + 1) / Shares;
  T sum[1] = {T(0)};
  if (inside) add_parts<8, T>(sum, first + from * apart, past - from, apart);
  if constexpr (Shares > 1) {
    __shared__ T sums[kAddThreads];
    sums[threadIdx.x] = sum[0];
    __syncthreads();
    if (mine.share > 0) return T(0);
#pragma unroll
    for (int s = 1; s < Shares; ++s) sum[0] += sums[s * mine.kElements + mine.element];
  }
  return sum[0];
}

/// Adds the parts that blocks of the launch before left of tiles of kTile elements. of(tile, e) says where the sum of element e of a tile
/// goes; null where there is no such element.
template <int kTile, int Shares, class Of, class T>
__global__ void __launch_bounds__(kAddThreads)
    add_left_parts(Of of, const T* partial /* (tiles, parts, kTile) */, int parts) {
  using Share = ShareOfElement<Shares>;
  constexpr int kBlocks = kTile / Share::kElements;
  static_assert(kTile % Share::kElements == 0, "threads fill the tile");
  const Share mine;
  const int tile = static_cast<int>(blockIdx.x) / kBlocks,
            e = static_cast<int>(blockIdx.x) % kBlocks * Share::kElements + mine.element;
  T* const to = of(tile, e);
  wait_for_primary();
  const T sum = sum_of_shares<Shares>(partial + static_cast<Index>(tile) * parts * kTile + e, parts, kTile,
                                      to != nullptr);
  if (mine.share == 0 && to != nullptr) *to = sum;
}

/// Launches it, beside the end of the launch that leaves the parts.
template <int kTile, class Of, class T>
void run_add_left_parts(const Of& of, const T* partial, Index tiles, Index parts, Context& context) {
  const bool shared = shares_pay(tiles * kTile, parts);
  launch_dependent(shared ? add_left_parts<kTile, kManyShares, Of, T> : add_left_parts<kTile, 1, Of, T>,
                   tiles * kTile / kAddThreads * (shared ? kManyShares : 1), kAddThreads, 0, context.stream,
                   of, partial, static_cast<int>(parts));
}

}  // namespace plumb
