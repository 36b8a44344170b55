// Clusters of blocks as a kernel sees them: where its block lies, the other blocks' shared memory, the cluster's barrier.
// scheduler/clusters.cpp does it; CUDA C++ Programming Guide, "Thread Block Clusters"; PTX ISA, "barrier.cluster", "mapa".
#pragma once
#include "gpu/simt/language/device_api.hpp"

namespace plumb::simt {

/// Where the running block lies. A launch without clusters has clusters of one block.
struct ClusterPlace {
  uint3 block;     // in its cluster
  uint3 blocks;    // extent of a cluster, in blocks
  uint3 cluster;   // in the grid
  uint3 clusters;  // extent of the grid, in clusters
  unsigned rank;   // of the block
};
ClusterPlace cluster_place();
inline unsigned cluster_size() {
  const uint3 n = cluster_place().blocks;
  return n.x * n.y * n.z;
}
/// rewrite.py puts a call of it at the start of a kernel that has __cluster_dims__.
void cluster_dims(unsigned x, unsigned y = 1, unsigned z = 1);

/// barrier.cluster: all threads of the cluster that have not exited. Without `release`, the arrival orders nothing.
void cluster_arrive(bool release, Here here);
void cluster_wait(Here here);
void cluster_sync(Here here);

/// What lies at `p`, in shared memory of the cluster, in the shared memory of its block of that rank.
void* map_shared_rank(const void* p, unsigned rank, Here here);
/// The rank of the block whose shared memory `p` lies in.
unsigned query_shared_rank(const void* p, Here here);
/// The scope of PTX's .cluster: the block where it is alone.
Scope cluster_scope();

}  // namespace plumb::simt

// ---- what CUDA's headers declare for them ----
inline dim3 __clusterDim() { return ::plumb::simt::cluster_place().blocks; }
inline dim3 __clusterIdx() { return ::plumb::simt::cluster_place().cluster; }
inline dim3 __clusterRelativeBlockIdx() { return ::plumb::simt::cluster_place().block; }
inline dim3 __clusterGridDimInClusters() { return ::plumb::simt::cluster_place().clusters; }
inline unsigned __clusterRelativeBlockRank() { return ::plumb::simt::cluster_place().rank; }
inline unsigned __clusterSizeInBlocks() { return ::plumb::simt::cluster_size(); }
inline bool __clusterDimIsSpecified() { return ::plumb::simt::cluster_size() > 1; }
inline void __cluster_barrier_arrive(PLUMB_SIMT_HERE) { ::plumb::simt::cluster_arrive(true, here); }
inline void __cluster_barrier_arrive_relaxed(PLUMB_SIMT_HERE) { ::plumb::simt::cluster_arrive(false, here); }
inline void __cluster_barrier_wait(PLUMB_SIMT_HERE) { ::plumb::simt::cluster_wait(here); }
inline void* __cluster_map_shared_rank(const void* p, unsigned rank, PLUMB_SIMT_HERE) {
  return ::plumb::simt::map_shared_rank(p, rank, here);
}
inline unsigned __cluster_query_shared_rank(const void* p, PLUMB_SIMT_HERE) {
  return ::plumb::simt::query_shared_rank(p, here);
}
inline bool __isClusterShared(const void* p) { return ::plumb::simt::is_cluster_shared(p); }
