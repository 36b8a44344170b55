// A kernel that traps, and a host that does not look at errors.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void nothing_but_trap() { __trap(); }

int main() {
  nothing_but_trap<<<1, 1>>>();
  const cudaError_t status = cudaDeviceSynchronize();
  std::fprintf(stderr, "the host went on: an error: %s\n", cudaGetErrorString(status));
  return 0;
}
