// What the executor does not have ends a program with exit code 3 and no finding: a kernel that launches a kernel, and with "host" one
// that waits for what the host writes after its launch.
#include <cuda_runtime.h>

#include <cstring>

__global__ void inner(int* out) { *out = 1; }
__global__ void outer(int* out) { inner<<<1, 1>>>(out); }
__global__ void wait_for_host(volatile int* flag) {
  while (*flag == 0) {}
}

int main(int argc, char** argv) {
  int* out;
  if (argc > 1 && std::strcmp(argv[1], "host") == 0) {
    cudaMallocHost(&out, sizeof(int));
    *out = 0;
    wait_for_host<<<1, 32>>>(out);
    *static_cast<volatile int*>(out) = 1;
  } else {
    cudaMalloc(&out, sizeof(int));
    outer<<<1, 1>>>(out);
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 4;
}
