// Host entry points of the test kernels of clusters (clusters.cu), right and with one planted fault.
#pragma once

namespace plumb::simt_test {

enum class ClusterFault {
  none,
  no_first_sync,    // others' shared memory is used before they have set it up
  no_last_sync,     // a block ends while others still use its shared memory
  rank_outside,     // shared memory of a block that the cluster does not have
  past_the_end,     // of another block's array
  relaxed_arrival,  // of barrier.cluster.arrive
  fenced_arrival,   // no fault: the same behind a fence
  init_fence,       // the same behind one that orders initialisations of barriers alone
  second_arrival,   // there, with no wait between
  no_arrival,       // before a barrier.cluster.wait
  too_many_bytes,   // announced to a barrier
  no_free_wait,     // a copy's source is written before the other block says that it has come
};

/// 8 blocks in clusters of 4: where each lies, 16 numbers a block.
void cluster_places(int* out);
/// Clusters of 4 blocks of 64 threads, each with a quarter of `bins`, which is a multiple of 4; as the CUDA programming guide's.
void cluster_histogram(ClusterFault f, const int* in, int n, int* bins, int count);
/// Clusters of 4 blocks of 64 threads add up 256 numbers each, by mapa and ld.shared::cluster.
void cluster_sum(ClusterFault f, const int* in, int* out, int clusters);
/// barrier.cluster.arrive, work of a thread's own, barrier.cluster.wait: each of 2 x 64 threads takes the other block's number.
void cluster_split(ClusterFault f, const int* in, int* out);
/// One block of 2 copies 64 numbers to both, which double them.
void cluster_multicast(ClusterFault f, const int* in, int* out);
/// The same of a tile of 8 x 8 by a tensor map.
void cluster_tensor(ClusterFault f, const float* in, float* out);
/// Block 0 hands `rounds` x 64 numbers to block 1, by copies between their shared memories; it is told when each has come.
void cluster_hand_over(ClusterFault f, const int* in, int* out, int rounds);
/// The same of one round, by st.async.
void cluster_store(ClusterFault f, const int* in, int* out);
/// Clusters of 3 blocks on a grid of 4.
void cluster_unfit(int* out);

}  // namespace plumb::simt_test
