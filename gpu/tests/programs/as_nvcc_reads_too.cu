// The other half of as_nvcc_reads.cu: its names are the same, and are others.
#include <cuda_runtime.h>

__device__ int table[2];
__constant__ int factors = 3;
__device__ int helper(float) { return 2; }

// Shared memory of the file, whose names functions use for what is their own.
extern __shared__ int dynamic[];
__shared__ int one;
__device__ void halve(volatile int* dynamic, int one) { dynamic[one] = dynamic[one] / 2; }

__device__ int with_own_names() {
  __shared__ int dynamic[2];
  dynamic[1] = 8;
  halve(dynamic, 1);
  return dynamic[1];
}

__global__ void fill(int* to) {
  dynamic[0] = with_own_names();
  one = dynamic[0] - 4;
  *to = table[1] + factors + helper(0) + one;
}

int other_half() {
  int *to, got = 0;
  cudaMalloc(&to, sizeof got);
  fill<<<1, 1, sizeof(int)>>>(to);
  cudaMemcpy(&got, to, sizeof got, cudaMemcpyDeviceToHost);
  cudaFree(to);
  return got;
}
