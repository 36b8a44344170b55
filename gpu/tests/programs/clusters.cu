// A program that launches clusters in each of CUDA's ways, and is told of those that a device refuses. With "early", a block ends while
// the others read its shared memory.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

namespace cg = cooperative_groups;

__global__ void ranks(int* out, bool stays) {
  __shared__ int mine;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) mine = blockIdx.x + 1;
  cluster.sync();
  const int last = static_cast<int>(cluster.num_blocks()) - 1;
  if (threadIdx.x == 0) out[blockIdx.x] = *cluster.map_shared_rank(&mine, last - cluster.block_rank());
  if (stays) cluster.sync();
}

template <int N>
__global__ void __cluster_dims__(N, 1, 1) pairs(int* out) {
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) out[blockIdx.x] = 10 * cluster.num_blocks() + cluster.block_rank();
}

static cudaError_t launch(int grid, int cluster, int* out, bool stays) {
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim.x = cluster;
  attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = 32;
  config.attrs = attribute;
  config.numAttrs = 1;
  if (stays) return cudaLaunchKernelEx(&config, ranks, out, stays);
  auto* const kernel = &ranks;
  void* arguments[] = {&out, &stays};
  return cudaLaunchKernelExC(&config, (const void*)kernel, arguments);
}

static int wrong = 0;
static void check(const char* what, bool right) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  ++wrong;
}
static void expect(const char* what, cudaError_t error, cudaError_t wanted) {
  if (error != wanted)
    std::printf("%s: %s, not %s\n", what, cudaGetErrorName(error), cudaGetErrorName(wanted));
  check(what, error == wanted);
  cudaGetLastError();
}

int main(int argc, char** argv) {
  int *out, seen[16];
  cudaMalloc(&out, sizeof seen);
  if (argc > 1 && std::strcmp(argv[1], "early") == 0) return launch(4, 4, out, false) != cudaSuccess;

  expect("4 clusters of 4", launch(16, 4, out, true), cudaSuccess);
  cudaMemcpy(seen, out, sizeof seen, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 16; ++i) check("numbers of 4 blocks", seen[i] == i / 4 * 4 + (3 - i % 4) + 1);

  pairs<2><<<6, 32>>>(out);
  cudaMemcpy(seen, out, sizeof seen, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 6; ++i) check("clusters of a kernel's own", seen[i] == 20 + i % 2);

  if (argc > 1 && std::strcmp(argv[1], "refused") == 0) {
    expect("a grid that is no multiple", launch(6, 4, out, true), cudaErrorInvalidClusterSize);
    expect("16 blocks, not allowed", launch(16, 16, out, true), cudaErrorInvalidClusterSize);
  }
  expect("16 blocks allowed", cudaFuncSetAttribute(ranks, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
         cudaSuccess);
  expect("16 blocks", launch(16, 16, out, true), cudaSuccess);
  cudaMemcpy(seen, out, sizeof seen, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 16; ++i) check("numbers of 16 blocks", seen[i] == 16 - i);
  std::printf(wrong == 0 ? "right\n" : "%d wrong\n", wrong);
  return wrong != 0;
}
