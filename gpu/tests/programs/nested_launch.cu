// A kernel that launches a kernel, which the executor does not have.
#include <cuda_runtime.h>

__global__ void inner(int* out) { *out = 1; }
__global__ void outer(int* out) { inner<<<1, 1>>>(out); }

int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  outer<<<1, 1>>>(out);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 4;
}
