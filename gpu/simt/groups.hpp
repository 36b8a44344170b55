// Cooperative groups for the CPU executor, the subset kernels use: thread_block, thread_block_tile<N> (to 32
// lanes), coalesced_group, grid_group, sync/rank/size, shuffles, votes, match, reduce, memcpy_async with
// wait. Everything ends in the operations of the shim, with a mask in place of the group. A tile of more than
// 32 threads is not offered.
#pragma once
#include "gpu/simt/shim.hpp"

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
  void barrier_arrive_and_wait(PLUMB_SIMT_HERE) const { __syncthreads(here); }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
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

/// Size consecutive lanes of a warp.
template <unsigned Size, class Parent = thread_block>
class thread_block_tile : public lane_group {
 public:
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "the executor offers tiles within one warp");
  thread_block_tile() : lane_group((Size == 32 ? ~0u : (1u << Size % 32) - 1u) << (lane() / Size * Size)) {}
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned thread_rank() { return lane() % Size; }
  static unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
  static unsigned meta_group_size() { return (thread_block::size() + Size - 1) / Size; }
};
template <unsigned Size>
thread_block_tile<Size> tiled_partition(const thread_block&) {
  return {};
}
template <unsigned Size, unsigned Outer, class P>
thread_block_tile<Size> tiled_partition(const thread_block_tile<Outer, P>&) {
  static_assert(Size <= Outer, "a tile is partitioned into smaller ones");
  return {};
}

/// The lanes that stand at the same call, once none of the warp can run on.
class coalesced_group : public lane_group {
 public:
  explicit coalesced_group(unsigned mask) : lane_group(mask) {}
};
inline coalesced_group coalesced_threads(PLUMB_SIMT_HERE) { return coalesced_group(__activemask(here)); }
template <unsigned Size, class P>
coalesced_group binary_partition(const thread_block_tile<Size, P>& tile, bool side, PLUMB_SIMT_HERE) {
  const unsigned votes = __ballot_sync(tile.mask(), side, here);
  return coalesced_group(side ? votes : tile.mask() & ~votes);
}
template <class Group, class Label>
coalesced_group labeled_partition(const Group& group, Label label, PLUMB_SIMT_HERE) {
  return coalesced_group(__match_any_sync(group.mask(), label, here));
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
template <class T, class Op>
PLUMB_SIMT_UNTRACKED void reduce_lanes(unsigned mask, void* const* in, void* const* out) {
  T total{};
  bool first = true;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    const auto& lane = *static_cast<const Lane<T, Op>*>(in[__builtin_ctz(rest)]);
    total = first ? lane.value : (*lane.op)(total, lane.value);
    first = false;
  }
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) *static_cast<T*>(out[__builtin_ctz(rest)]) = total;
}
template <class T, class Op>
PLUMB_SIMT_UNTRACKED T reduce(unsigned mask, T v, const Op& op, Here here) {
  Lane<T, Op> in{v, &op};
  T out{};
  ::plumb::simt::warp_exchange(mask, "cooperative_groups::reduce", &reduce_lanes<T, Op>, &in, &out, here);
  return out;
}
}  // namespace details

template <class Group, class T, class Op>
T reduce(const Group& group, T v, Op op, PLUMB_SIMT_HERE) {
  return details::reduce(group.mask(), v, op, here);
}

/// Copies `bytes` bytes to shared memory across the group, asynchronously; wait() makes them visible to the
/// group.
template <class Group, class T, class U>
void memcpy_async(const Group& group, T* to, const U* from, std::size_t bytes, PLUMB_SIMT_HERE) {
  auto* dst = reinterpret_cast<unsigned char*>(to);
  auto* src = reinterpret_cast<const unsigned char*>(from);
  const std::size_t both =
      reinterpret_cast<std::uintptr_t>(dst) | reinterpret_cast<std::uintptr_t>(src) | bytes;
  const std::size_t piece = both % 16 == 0 ? 16 : both % 8 == 0 ? 8 : both % 4 == 0 ? 4 : 1;
  for (std::size_t i = group.thread_rank() * piece; i < bytes; i += group.size() * piece) {
    if (piece == 1) {
      dst[i] = src[i];
    } else {
      ::plumb::simt::async_copy(dst + i, src + i, static_cast<int>(piece), static_cast<int>(piece), here);
    }
  }
  ::plumb::simt::async_commit();
}
template <unsigned Stages, class Group>
void wait_prior(const Group& group, PLUMB_SIMT_HERE) {
  ::plumb::simt::async_wait(static_cast<int>(Stages));
  group.sync(here);
}
template <class Group>
void wait(const Group& group, PLUMB_SIMT_HERE) {
  ::plumb::simt::async_wait_all();
  group.sync(here);
}

}  // namespace cooperative_groups
