// Sums of which several blocks make a part each: the last block to leave its part adds what the others left, always in the same order, so
// that results are the same from run to run. Header only.
#pragma once
#include "gpu/common/rung.hpp"

namespace plumb {

/// Parts that one block adds. Of more, the last block of each group of so many adds the group's, and the last of these the groups'.
constexpr int kJoinedTogether = 8;

/// Counts that the parts of a tile need: one of each group.
PLUMB_HOST_DEVICE int counts_of_parts(int parts) {
  int counts = 0;
  for (int groups = parts; groups > 1; counts += groups)
    groups = (groups + kJoinedTogether - 1) / kJoinedTogether;
  return counts;
}
/// The counts of `tiles` tiles, 0 each; null where nothing is in parts. For prepare(): they are 0 again after each run.
inline unsigned* prepare_counts(Index tiles, Index parts, Context& context) {
  const Index bytes = tiles * counts_of_parts(static_cast<int>(parts)) * static_cast<Index>(sizeof(unsigned));
  if (bytes == 0) return nullptr;
  auto* const counts = static_cast<unsigned*>(context.workspace(bytes));
  device_fill(counts, 0, static_cast<std::size_t>(bytes), context.stream);
  return counts;
}
/// Parts, and sums of groups, that are added one after the other.
inline Index added_in_turn(Index parts) {
  Index added = 0;
  for (Index count = parts; count > 1; count = ceil_div(count, kJoinedTogether))
    added += count < kJoinedTogether ? count : kJoinedTogether;
  return added;
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

/// own = the sum of `parts` parts, `apart` elements one from the next, in their order.
template <int Threads, class V, class T, int Own>
PLUMB_DEVICE void add_parts(T (&own)[Own], const T* first, int parts, Index apart) {
#pragma unroll
  for (int e = 0; e < Own; ++e) own[e] = T(0);
  constexpr int kAhead = Own <= 8 ? 4 : 1;  // parts whose elements registers have room for
#pragma unroll kAhead
  for (int part = 0; part < parts; ++part) {
#pragma unroll
    for (int e = 0; e < Own; e += V::kLanes) {
      const auto v = *reinterpret_cast<const V*>(first + part * apart + e * Threads +
                                                 static_cast<int>(threadIdx.x) * V::kLanes);
#pragma unroll
      for (int l = 0; l < V::kLanes; ++l) own[e + l] += v.lane[l];
    }
  }
}

/// Leaves the block's part; true in the last block of the tile to do so, where `own` then holds the sums of all parts. `finished` is 0
/// before the first run, and after each. parts > 1.
template <int Threads, class V, class T, int Own>
PLUMB_DEVICE bool join_parts(T (&own)[Own], int parts, int part, T* of_tile /* (parts, Threads, Own) */,
                             unsigned* finished /* (counts_of_parts(parts)) */) {
  Index apart =
      static_cast<Index>(Threads) * Own;  // of the level's parts; a group's sum takes the place of its first
  while (parts > 1) {
    leave_part<Threads, V>(own, of_tile + part * apart);
    const int group = part / kJoinedTogether, first = group * kJoinedTogether,
              together = parts - first < kJoinedTogether ? parts - first : kJoinedTogether;
    if (!last_to_leave(together, finished + group)) return false;
    add_parts<Threads, V>(own, of_tile + first * apart, together, apart);
    parts = (parts + kJoinedTogether - 1) / kJoinedTogether, part = group;
    finished += parts, apart *= kJoinedTogether;
  }
  return true;
}

}  // namespace plumb
