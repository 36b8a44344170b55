// Cooperative groups for the CPU executor, the subset kernels use: thread_block, thread_block_tile<N>,
// coalesced_group, grid_group, sync/rank/size, shuffles, votes, match, invoke_one; reduce, scans and memcpy_async
// in headers of their own, as CUDA has them. Everything ends in the operations of the shim, with a mask in place of the group; a tile of more than 32
// threads meets at a barrier of its own, and reads there what each of them brought.
#pragma once
#include "gpu/simt/language/shim.hpp"

namespace cooperative_groups {

using plumb::simt::Here;

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

/// All threads of the block.
class thread_block {
 public:
  static void sync(PLUMB_SIMT_HERE) { __syncthreads(here); }
  using arrival_token = unsigned;
  static arrival_token barrier_arrive(PLUMB_SIMT_HERE) {
    return ::plumb::simt::object_barrier_arrive(key(), 1, static_cast<int>(size()), false, here);
  }
  static void barrier_wait(arrival_token&& token, PLUMB_SIMT_HERE) {
    ::plumb::simt::object_barrier_wait(key(), token, here);
  }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }

 private:
  static const void* key() {
    static const char one = 0;
    return &one;
  }
};
inline thread_block this_thread_block() { return {}; }

/// All threads of a cooperative launch.
class grid_group {
 public:
  static void sync(PLUMB_SIMT_HERE) { ::plumb::simt::grid_barrier(here); }
  static bool is_valid() { return true; }
  static unsigned long long size() {
    return static_cast<unsigned long long>(num_blocks()) * thread_block::size();
  }
  static unsigned long long num_threads() { return size(); }
  static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  static unsigned long long block_rank() {
    return blockIdx.x + static_cast<unsigned long long>(gridDim.x) * (blockIdx.y + gridDim.y * blockIdx.z);
  }
  static unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  static dim3 group_dim() { return gridDim; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 block_index() { return blockIdx; }
};
inline grid_group this_grid() { return {}; }

/// Lanes of one warp, by mask. Ranks count the mask's lanes upwards.
class lane_group {
 public:
  void sync(PLUMB_SIMT_HERE) const { __syncwarp(mask_, here); }
  unsigned size() const { return static_cast<unsigned>(__popc(mask_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return static_cast<unsigned>(__popc(mask_ & ((1u << lane()) - 1u))); }
  template <class T>
  T shfl(T v, int rank, PLUMB_SIMT_HERE) const {
    return __shfl_sync(mask_, v, lane_of(static_cast<unsigned>(rank) % size()), 32, here);
  }
  template <class T>
  T shfl_up(T v, unsigned delta, PLUMB_SIMT_HERE) const {
    const unsigned rank = thread_rank();
    return __shfl_sync(mask_, v, lane_of(rank >= delta ? rank - delta : rank), 32, here);
  }
  template <class T>
  T shfl_down(T v, unsigned delta, PLUMB_SIMT_HERE) const {
    const unsigned rank = thread_rank();
    return __shfl_sync(mask_, v, lane_of(rank + delta < size() ? rank + delta : rank), 32, here);
  }
  template <class T>
  T shfl_xor(T v, unsigned x, PLUMB_SIMT_HERE) const {
    const unsigned rank = thread_rank() ^ x;
    return __shfl_sync(mask_, v, lane_of(rank < size() ? rank : thread_rank()), 32, here);
  }
  int any(int p, PLUMB_SIMT_HERE) const { return __any_sync(mask_, p, here); }
  int all(int p, PLUMB_SIMT_HERE) const { return __all_sync(mask_, p, here); }
  unsigned ballot(int p, PLUMB_SIMT_HERE) const { return packed(__ballot_sync(mask_, p, here)); }
  template <class T>
  unsigned match_any(T v, PLUMB_SIMT_HERE) const {
    return packed(__match_any_sync(mask_, v, here));
  }
  template <class T>
  unsigned match_all(T v, int& all_equal, PLUMB_SIMT_HERE) const {
    return packed(__match_all_sync(mask_, v, &all_equal, here));
  }
  unsigned mask() const { return mask_; }

 protected:
  explicit lane_group(unsigned mask) : mask_(mask) {}
  static unsigned lane() { return thread_block::thread_rank() & 31u; }
  int lane_of(unsigned rank) const {
    unsigned rest = mask_;
    while (rank-- > 0) rest &= rest - 1;
    return __ffs(static_cast<int>(rest)) - 1;
  }
  // A warp's votes, counted by rank in the group.
  unsigned packed(unsigned votes) const {
    unsigned out = 0;
    unsigned rank = 0;
    for (unsigned rest = mask_; rest != 0; rest &= rest - 1, ++rank) {
      if ((votes >> (__ffs(static_cast<int>(rest)) - 1) & 1u) != 0) out |= 1u << rank;
    }
    return out;
  }

 private:
  unsigned mask_;
};

/// Scratch memory that CUDA asks for where a tile spans warps; the executor needs none.
template <unsigned MaxBlockSize = 1024>
struct block_tile_memory {
  char nothing[4];
};
template <unsigned Max>
thread_block this_thread_block(block_tile_memory<Max>&) {
  return {};
}

namespace details {
/// Where the threads of a tile above 32 bring their values to: one pointer for each, by rank.
template <class T, class Op>
PLUMB_SIMT_UNTRACKED T fold(void* const* slots, unsigned first, unsigned last, const Op& op) {
  T total = *static_cast<const T*>(slots[first]);
  for (unsigned i = first + 1; i < last; ++i) total = op(total, *static_cast<const T*>(slots[i]));
  return total;
}
}  // namespace details

/// Size consecutive lanes of a warp; or, above 32, of a block: those shuffle by index only, as on a device.
template <unsigned Size, class Parent = thread_block, bool Wide = (Size > 32)>
class thread_block_tile;

template <unsigned Size, class Parent>
class thread_block_tile<Size, Parent, true> {
 public:
  static_assert(Size <= 1024 && (Size & (Size - 1)) == 0, "a tile is a power of two up to the block");
  static void sync(PLUMB_SIMT_HERE) {
    const unsigned phase =
        ::plumb::simt::object_barrier_arrive(key(), 1, static_cast<int>(Size), false, here);
    ::plumb::simt::object_barrier_wait(key(), phase, here);
  }
  template <class T>
  static T shfl(T v, int rank, PLUMB_SIMT_HERE) {
    return meet(
        v, [rank](void* const* all) { return value_of<T>(all, static_cast<unsigned>(rank) % Size); }, here);
  }
  static int any(int p, PLUMB_SIMT_HERE) {
    return folded(
        p != 0, [](int a, int b) { return a | b; }, here);
  }
  static int all(int p, PLUMB_SIMT_HERE) {
    return folded(
        p != 0, [](int a, int b) { return a & b; }, here);
  }
  /// All values in one, and those of the ranks up to the caller's.
  template <class T, class Op>
  static T folded(T v, Op op, Here here) {
    return meet(
        v, [&op](void* const* all) { return details::fold<T>(all, 0, Size, op); }, here);
  }
  template <class T, class Op>
  static T scanned(T v, Op op, bool inclusive, Here here) {
    const unsigned last = thread_rank() + (inclusive ? 1 : 0);
    return meet(
        v, [&](void* const* all) { return last == 0 ? T{} : details::fold<T>(all, 0, last, op); }, here);
  }
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned thread_rank() { return thread_block::thread_rank() % Size; }
  static unsigned meta_group_rank() { return Parent::thread_rank() / Size; }
  static unsigned meta_group_size() { return (Parent::size() + Size - 1) / Size; }

 private:
  static const void* key() {
    static const char keys[1024 / Size] = {};
    return keys + thread_block::thread_rank() / Size;
  }
  template <class T>
  PLUMB_SIMT_UNTRACKED static T value_of(void* const* all, unsigned rank) {
    return *static_cast<const T*>(all[rank]);
  }
  // What `read` makes of all threads' values, between two barriers of the tile.
  template <class T, class Read>
  PLUMB_SIMT_UNTRACKED static T meet(T v, Read read, Here here) {
    void** const all = ::plumb::simt::meeting_place(key());
    all[thread_rank()] = &v;
    sync(here);
    const T out = read(all);
    sync(here);
    return out;
  }
};

template <unsigned Size, class Parent>
class thread_block_tile<Size, Parent, false> : public lane_group {
 public:
  static_assert(Size >= 1 && (Size & (Size - 1)) == 0, "a tile is a power of two");
  thread_block_tile() : lane_group((Size == 32 ? ~0u : (1u << Size % 32) - 1u) << (lane() / Size * Size)) {}
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned thread_rank() { return lane() % Size; }
  static unsigned meta_group_rank() { return Parent::thread_rank() / Size; }
  static unsigned meta_group_size() { return (Parent::size() + Size - 1) / Size; }
};
template <unsigned Size>
thread_block_tile<Size> tiled_partition(const thread_block&) {
  return {};
}
template <unsigned Size, unsigned Outer, class P, bool W>
thread_block_tile<Size, thread_block_tile<Outer, P, W>> tiled_partition(
    const thread_block_tile<Outer, P, W>&) {
  static_assert(Size <= Outer, "a tile is partitioned into smaller ones");
  return {};
}

/// The lanes that stand at the same call, once none of the warp can run on; or a part of a group of lanes.
class coalesced_group : public lane_group {
 public:
  explicit coalesced_group(unsigned mask, unsigned meta_rank = 0, unsigned meta_size = 1)
      : lane_group(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }

 private:
  unsigned meta_rank_, meta_size_;
};
inline coalesced_group coalesced_threads(PLUMB_SIMT_HERE) { return coalesced_group(__activemask(here)); }

namespace details {
/// So many lanes of the group whose ranks follow each other; of the last part there may be fewer.
inline coalesced_group tile_of(const lane_group& group, unsigned size, Here here) {
  if (size == 0 || size > 32 || (size & (size - 1)) != 0)
    ::plumb::simt::trap("a tile is a power of two up to 32", here);
  const unsigned mine = group.thread_rank() / size;
  unsigned lanes = 0;
  unsigned rank = 0;
  for (unsigned rest = group.mask(); rest != 0; rest &= rest - 1, ++rank)
    if (rank / size == mine) lanes |= rest & (0 - rest);
  return coalesced_group(lanes, mine, (group.size() + size - 1) / size);
}
}  // namespace details
inline coalesced_group tiled_partition(const coalesced_group& group, unsigned size, PLUMB_SIMT_HERE) {
  return details::tile_of(group, size, here);
}
/// `Group` is a tile of a warp or a coalesced group, here and below.
template <class Group>
coalesced_group binary_partition(const Group& group, bool side, PLUMB_SIMT_HERE) {
  const unsigned votes = __ballot_sync(group.mask(), side, here);
  if (votes == 0 || votes == group.mask()) return coalesced_group(group.mask());
  return coalesced_group(side ? votes : group.mask() & ~votes, side ? 1 : 0, 2);
}
template <class Group, class Label>
coalesced_group labeled_partition(const Group& group, Label label, PLUMB_SIMT_HERE) {
  if constexpr (std::is_same_v<Label, bool>) {
    return binary_partition(group, label, here);
  } else {
    const unsigned mine = __match_any_sync(group.mask(), label, here);
    const unsigned first = mine & (0 - mine);
    const bool leads = first == 1u << (thread_block::thread_rank() & 31u);
    const unsigned leaders = __ballot_sync(group.mask(), leads, here);
    return coalesced_group(mine, static_cast<unsigned>(__popc(static_cast<int>(leaders & (first - 1)))),
                           static_cast<unsigned>(__popc(static_cast<int>(leaders))));
  }
}

/// Any group of a block's threads, known at run time only: the whole block, or lanes of a warp.
class thread_group {
 public:
  thread_group(const thread_block&) : whole_(true), lanes_(1) {}
  thread_group(const lane_group& lanes) : whole_(false), lanes_(lanes.mask()) {}
  bool is_whole_block() const { return whole_; }
  unsigned mask() const { return lanes_; }
  void sync(PLUMB_SIMT_HERE) const {
    if (whole_) {
      __syncthreads(here);
    } else {
      __syncwarp(lanes_, here);
    }
  }
  unsigned size() const {
    return whole_ ? thread_block::size() : static_cast<unsigned>(__popc(static_cast<int>(lanes_)));
  }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const {
    const unsigned rank = thread_block::thread_rank();
    return whole_ ? rank : static_cast<unsigned>(__popc(lanes_ & ((1u << (rank & 31u)) - 1u)));
  }

 private:
  bool whole_;
  unsigned lanes_;
};
inline thread_group tiled_partition(const thread_group& group, unsigned size, PLUMB_SIMT_HERE) {
  const unsigned last = thread_block::size() - 1;  // a block's last warp may be a part of one
  const bool is_last = thread_block::thread_rank() / 32 == last / 32;
  const unsigned of_block = is_last ? ~0u >> (31 - last % 32) : ~0u;
  return details::tile_of(coalesced_group(group.is_whole_block() ? of_block : group.mask()), size, here);
}

template <class Group>
void sync(const Group& group, PLUMB_SIMT_HERE) {
  group.sync(here);
}

namespace details {
template <class T, class Op>
struct Lane {
  T value;
  const Op* op;
};
}  // namespace details

namespace details {
/// The rank of the thread that is elected. Lanes meet for it, larger groups do not.
template <class Group>
unsigned elected(const Group& group, Here here) {
  if constexpr (std::is_base_of_v<lane_group, Group>) {
    return static_cast<unsigned>(
        __popc(group.mask() & ((1u << ::plumb::simt::elect(group.mask(), here)) - 1u)));
  } else {
    return ::plumb::simt::elected_rank(static_cast<unsigned>(group.size()), 0);
  }
}
}  // namespace details

/// Calls `f` in one thread of the group; which one is open, so count on none.
template <class Group, class F, class... A>
void invoke_one(const Group& group, F&& f, A&&... arguments) {
  if (group.thread_rank() == details::elected(group, Here::at()))
    static_cast<F&&>(f)(static_cast<A&&>(arguments)...);
}
template <class Group, class F, class... A>
auto invoke_one_broadcast(const Group& group, F&& f, A&&... arguments) {
  const unsigned one = details::elected(group, Here::at());
  decltype(f(static_cast<A&&>(arguments)...)) v{};
  if (group.thread_rank() == one) v = static_cast<F&&>(f)(static_cast<A&&>(arguments)...);
  return group.shfl(v, static_cast<int>(one));
}

}  // namespace cooperative_groups

#include "gpu/simt/language/groups_cluster.hpp"
