// The other half of as_nvcc_reads.cu: its names are the same, and are others.
#include <cuda_runtime.h>

__device__ int table[2];
__constant__ int factors = 3;
__device__ int helper(float) { return 2; }

__global__ void fill(int* to) { *to = table[1] + factors + helper(0); }

int other_half() {
  int *to, got = 0;
  cudaMalloc(&to, sizeof got);
  fill<<<1, 1>>>(to);
  cudaMemcpy(&got, to, sizeof got, cudaMemcpyDeviceToHost);
  cudaFree(to);
  return got;
}
