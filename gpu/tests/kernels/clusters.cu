// Test kernels of clusters: shared memory of other blocks, the cluster's barrier, copies and arrivals across blocks.
#include "gpu/tests/kernels/clusters.hpp"

#include <cooperative_groups.h>
#include <cuda.h>

#include "gpu/device/kernel.hpp"

namespace cg = cooperative_groups;

namespace {

using plumb::Mbarrier;
using plumb::shared_address;
using plumb::simt_test::ClusterFault;

constexpr int kThreads = 64;

__device__ __forceinline__ void arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ __forceinline__ void arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");  // <- cluster arrive
}
__device__ __forceinline__ void wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");  // <- cluster wait
}
__device__ __forceinline__ void fence_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ unsigned in_block(unsigned address, unsigned rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));  // <- cluster rank
  return there;
}
__device__ __forceinline__ void arrive_at(unsigned barrier) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__global__ void __cluster_dims__(2, 2, 1) places_kernel(int* out) {
  const cg::cluster_group cluster = cg::this_cluster();
  unsigned id, of, rank, ranks, cx, ncx;
  asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(id));
  asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(of));
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(ranks));
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(cx));
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(ncx));
  __shared__ int here;
  int* const other = cluster.map_shared_rank(&here, static_cast<int>((rank + 1) % 4));
  const unsigned numbers[16] = {id,
                                of,
                                rank,
                                ranks,
                                cx,
                                ncx,
                                cluster.block_rank(),
                                cluster.num_blocks(),
                                cluster.dim_blocks().x,
                                cluster.block_index().x,
                                cluster.thread_rank(),
                                cluster.num_threads(),
                                cluster.query_shared_rank(&here),
                                cluster.query_shared_rank(other),
                                static_cast<unsigned>(__isShared(other)),
                                static_cast<unsigned>(cluster.map_shared_rank(other, rank) == &here)};
  if (threadIdx.x != 1) return;
  for (int i = 0; i < 16; ++i)
    out[(blockIdx.x + gridDim.x * blockIdx.y) * 16 + i] = static_cast<int>(numbers[i]);
}

__global__ void __cluster_dims__(4, 1, 1)
    histogram_kernel(ClusterFault f, const int* in, int n, int* bins, int count) {
  extern __shared__ int part[];
  const cg::cluster_group cluster = cg::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank()), each = count / 4;
  for (int i = threadIdx.x; i < each; i += blockDim.x) part[i] = 0;  // <- cluster zero
  if (f == ClusterFault::no_first_sync) {
    __syncthreads();
  } else {
    cluster.sync();
  }
  const int first = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = first; i < n; i += static_cast<int>(gridDim.x * blockDim.x)) {
    const int bin = in[i] % count;
    atomicAdd(cluster.map_shared_rank(part, bin / each) + bin % each, 1);  // <- cluster count
  }
  if (f == ClusterFault::no_last_sync) {
    __syncthreads();
  } else {
    cluster.sync();
  }
  for (int i = threadIdx.x; i < each; i += blockDim.x)
    atomicAdd(&bins[rank * each + i], part[i]);  // <- cluster take
}

__global__ void __cluster_dims__(4) __launch_bounds__(64)
    sum_kernel(ClusterFault f, const int* in, int* out) {
  __shared__ int partial;
  if (threadIdx.x == 0) partial = 0;  // <- cluster partial
  __syncthreads();
  atomicAdd(&partial, in[blockIdx.x * blockDim.x + threadIdx.x]);
  if (f == ClusterFault::no_first_sync) {
    __syncthreads();
  } else {
    arrive();
    wait();
  }
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (rank == 0 && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned r = 0; r < 4; ++r) {
      int v;
      const unsigned of = f == ClusterFault::rank_outside ? r + 1 : r;
      const unsigned there =
          in_block(shared_address(&partial), of) + (f == ClusterFault::past_the_end ? sizeof(int) : 0);
      asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(v) : "r"(there) : "memory");  // <- cluster read
      sum += v;
    }
    out[blockIdx.x / 4] = sum;
  }
  if (f != ClusterFault::no_last_sync) {
    arrive();
    wait();
  }
}

__global__ void __cluster_dims__(2) split_kernel(ClusterFault f, const int* in, int* out) {
  __shared__ int mine[kThreads];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x) * kThreads + t;
  mine[t] = in[i];  // <- split write
  if (f == ClusterFault::fenced_arrival) asm volatile("fence.acq_rel.cluster;" ::: "memory");
  if (f == ClusterFault::init_fence) fence_init();
  if (f == ClusterFault::relaxed_arrival || f == ClusterFault::fenced_arrival ||
      f == ClusterFault::init_fence) {
    arrive_relaxed();
  } else if (f != ClusterFault::no_arrival) {
    arrive();
  }
  if (f == ClusterFault::second_arrival) arrive();
  const int own = 3 * in[i];
  wait();
  const int other = cluster.map_shared_rank(mine, cluster.block_rank() == 0 ? 1 : 0)[t];  // <- split read
  out[i] = own + other;
  cg::cluster_group::arrival_token token = cluster.barrier_arrive();
  cluster.barrier_wait(std::move(token));
}

__global__ void __cluster_dims__(2) multicast_kernel(ClusterFault f, const int* in, int* out) {
  __shared__ __align__(128) int tile[kThreads];
  __shared__ Mbarrier full;
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    plumb::mbarrier_init(&full, 1);  // <- multicast init
    fence_init();
    plumb::mbarrier_arrive_expect(
        &full, static_cast<int>(sizeof tile) + (f == ClusterFault::too_many_bytes ? 16 : 0));
  }
  if (f != ClusterFault::no_first_sync) arrive_relaxed(), wait();  // the fence orders the barrier
  if (cluster.block_rank() == 0 && t == 0) {
    asm volatile(  // <- multicast copy
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], "
        "%2, [%3], "
        "%4;" ::"r"(shared_address(tile)),
        "l"(in), "r"(static_cast<int>(sizeof tile)), "r"(shared_address(&full)),
        "h"(static_cast<unsigned short>(3))
        : "memory");
  }
  __syncthreads();
  plumb::mbarrier_wait(&full, 0);  // <- multicast wait
  out[blockIdx.x * kThreads + threadIdx.x] = 2 * tile[t];
}

__global__ void __cluster_dims__(2)
    tensor_kernel(ClusterFault f, const __grid_constant__ CUtensorMap map, float* out) {
  __shared__ __align__(1024) float tile[kThreads];
  __shared__ Mbarrier full;
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    plumb::mbarrier_init(&full, 1);
    fence_init();
    plumb::mbarrier_arrive_expect(
        &full, static_cast<int>(sizeof tile) + (f == ClusterFault::too_many_bytes ? 128 : 0));
  }
  cluster.sync();
  const int half = static_cast<int>(cluster.block_rank());  // each block brings 4 of 8 rows to both
  if (t == 0) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, "
        "{%2, %3}], [%4], %5;" ::"r"(shared_address(tile + 32 * half)),
        "l"(&map), "r"(0), "r"(4 * half), "r"(shared_address(&full)), "h"(static_cast<unsigned short>(3))
        : "memory");
  }
  plumb::mbarrier_wait(&full, 0);  // <- tensor wait
  out[blockIdx.x * kThreads + threadIdx.x] = 2.0f * tile[t];
  if (f != ClusterFault::no_last_sync) cluster.sync();
}

__global__ void __cluster_dims__(2) hand_over_kernel(ClusterFault f, const int* in, int* out, int rounds) {
  __shared__ __align__(128) int tile[kThreads];
  __shared__ Mbarrier full, free;
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    plumb::mbarrier_init(&full, 1);
    plumb::mbarrier_init(&free, kThreads);
    fence_init();
  }
  cluster.sync();
  for (int r = 0; r < rounds; ++r) {
    if (cluster.block_rank() == 0) {
      if (r > 0 && f != ClusterFault::no_free_wait) plumb::mbarrier_wait(&free, (r - 1) % 2);  // <- hand free
      tile[t] = in[r * kThreads + t];  // <- hand write
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      __syncthreads();
      if (t == 0) {
        const unsigned there = in_block(shared_address(tile), 1), done = in_block(shared_address(&full), 1);
        asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(done),
                     "r"(static_cast<int>(sizeof tile) + (f == ClusterFault::too_many_bytes ? 16 : 0))
                     : "memory");
        asm volatile(  // <- hand copy
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
                "r"(there),
            "r"(shared_address(tile)), "r"(static_cast<int>(sizeof tile)), "r"(done)
            : "memory");
      }
    } else {
      plumb::mbarrier_wait(&full, r % 2);  // <- hand wait
      out[r * kThreads + t] = 2 * tile[t];
      arrive_at(in_block(shared_address(&free), 0));
    }
  }
  if (f != ClusterFault::no_last_sync) cluster.sync();
}

__global__ void __cluster_dims__(2) store_kernel(ClusterFault f, const int* in, int* out) {
  __shared__ __align__(16) int tile[kThreads];
  __shared__ Mbarrier full;
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    plumb::mbarrier_init(&full, 1);
    fence_init();
    plumb::mbarrier_arrive_expect(&full, static_cast<int>(sizeof tile));
  }
  cluster.sync();
  if (cluster.block_rank() == 0) {
    const unsigned done = in_block(shared_address(&full), 1);
    if (t % 2 == 0)
      asm volatile(
          "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.s32 [%0], {%1, %2}, [%3];" ::"r"(
              in_block(shared_address(tile + t), 1)),
          "r"(in[t]), "r"(in[t + 1]), "r"(done)
          : "memory");
  } else {
    if (f != ClusterFault::no_first_sync) plumb::mbarrier_wait(&full, 0);
    out[t] = 2 * tile[t];  // <- store use
  }
  cluster.sync();
}

__global__ void __cluster_dims__(3) unfit_kernel(int* out) { out[blockIdx.x] = 1; }

CUtensorMap rows_of_8(const float* data) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
  const cuuint64_t sizes[] = {8, 8}, strides[] = {32};
  const cuuint32_t box[] = {8, 4}, every[] = {1, 1};
  CUtensorMap map;
  reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, const_cast<float*>(data), sizes, strides, box, every,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

}  // namespace

namespace plumb::simt_test {

void cluster_places(int* out) { launch(places_kernel, Grid(4, 2), 2, 0, nullptr, out); }
void cluster_histogram(ClusterFault f, const int* in, int n, int* bins, int count) {
  launch(histogram_kernel, 8, kThreads, count, nullptr, f, in, n, bins, count);
}
void cluster_sum(ClusterFault f, const int* in, int* out, int clusters) {
  launch(sum_kernel, 4 * clusters, kThreads, 0, nullptr, f, in, out);
}
void cluster_split(ClusterFault f, const int* in, int* out) {
  launch(split_kernel, 2, kThreads, 0, nullptr, f, in, out);
}
void cluster_multicast(ClusterFault f, const int* in, int* out) {
  launch(multicast_kernel, 2, kThreads, 0, nullptr, f, in, out);
}
void cluster_tensor(ClusterFault f, const float* in, float* out) {
  launch(tensor_kernel, 2, kThreads, 0, nullptr, f, rows_of_8(in), out);
}
void cluster_hand_over(ClusterFault f, const int* in, int* out, int rounds) {
  launch(hand_over_kernel, 2, kThreads, 0, nullptr, f, in, out, rounds);
}
void cluster_store(ClusterFault f, const int* in, int* out) {
  launch(store_kernel, 2, kThreads, 0, nullptr, f, in, out);
}
void cluster_unfit(int* out) { launch(unfit_kernel, 4, 32, 0, nullptr, out); }

}  // namespace plumb::simt_test
