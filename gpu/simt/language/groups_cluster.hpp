// cooperative_groups::this_cluster(), for groups.hpp.
#pragma once
#include "gpu/simt/language/clusters.hpp"

namespace cooperative_groups {

/// All threads of the cluster.
class cluster_group {
 public:
  struct arrival_token {};
  static void sync(PLUMB_SIMT_HERE) { ::plumb::simt::cluster_sync(here); }
  static arrival_token barrier_arrive(PLUMB_SIMT_HERE) {
    ::plumb::simt::cluster_arrive(true, here);
    return {};
  }
  static void barrier_wait(PLUMB_SIMT_HERE) { ::plumb::simt::cluster_wait(here); }
  static void barrier_wait(arrival_token&&, PLUMB_SIMT_HERE) { ::plumb::simt::cluster_wait(here); }
  template <class T>
  static T* map_shared_rank(T* p, int rank, PLUMB_SIMT_HERE) {
    return static_cast<T*>(::plumb::simt::map_shared_rank(p, static_cast<unsigned>(rank), here));
  }
  static unsigned query_shared_rank(const void* p, PLUMB_SIMT_HERE) {
    return ::plumb::simt::query_shared_rank(p, here);
  }
  static dim3 block_index() { return __clusterRelativeBlockIdx(); }
  static unsigned block_rank() { return __clusterRelativeBlockRank(); }
  static dim3 dim_blocks() { return __clusterDim(); }
  static unsigned num_blocks() { return __clusterSizeInBlocks(); }
  static dim3 dim_threads() {
    const dim3 n = dim_blocks();
    return {n.x * blockDim.x, n.y * blockDim.y, n.z * blockDim.z};
  }
  static dim3 thread_index() {
    const dim3 b = block_index();
    return {b.x * blockDim.x + threadIdx.x, b.y * blockDim.y + threadIdx.y, b.z * blockDim.z + threadIdx.z};
  }
  static unsigned thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  static unsigned num_threads() { return num_blocks() * thread_block::size(); }
  static unsigned size() { return num_threads(); }
};
inline cluster_group this_cluster() { return {}; }

}  // namespace cooperative_groups
