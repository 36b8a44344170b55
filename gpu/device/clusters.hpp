// What the blocks of a cluster (launch_clusters) do together, compute capability 9.0. Source: CUDA C++ Programming Guide, "Thread Block
// Clusters"; PTX ISA, "barrier.cluster", "mapa".
#pragma once
#include "gpu/device/kernel.hpp"
#include "reference/core/abi.hpp"

namespace plumb {

/// Waits for all threads of the cluster. What they wrote to shared memory before it, all of them see after it.
PLUMB_DEVICE void cluster_barrier() {
#if PLUMB_SM_AT_LEAST(90)
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
#endif
}

/// What lies at `p`, in the calling block's shared memory, in that of the block of rank `rank`.
template <class T>
PLUMB_DEVICE const T* shared_of_block(const T* p, int rank) {
#if PLUMB_SM_AT_LEAST(90)
  return static_cast<const T*>(__cluster_map_shared_rank(p, static_cast<unsigned>(rank)));
#else
  return rank == 0 ? p : nullptr;
#endif
}

}  // namespace plumb
