// What the executor does not have ends a program with exit code 3 and no finding: a kernel that waits for what the host writes after
// its launch ("host") or for what a kernel writes that it has launched ("nested"), cudaDeviceSynchronize in a kernel ("synchronise"),
// nodes of graphs that run by a condition ("conditional"), and memory of other processes ("shared").
#include <cuda_runtime.h>

#include <cstring>

__global__ void inner(volatile int* out) { *out = 1; }
__global__ void wait_for_inner(volatile int* flag) {
  inner<<<1, 1>>>(flag);
  while (*flag == 0) {}
}
__global__ void synchronise() { cudaDeviceSynchronize(); }
__global__ void wait_for_host(volatile int* flag) {
  while (*flag == 0) {}
}

int main(int, char** argv) {
  int* out;
  cudaMallocHost(&out, sizeof(int));
  *out = 0;
  if (std::strcmp(argv[1], "host") == 0) {
    wait_for_host<<<1, 32>>>(out);
    *static_cast<volatile int*>(out) = 1;
  } else if (std::strcmp(argv[1], "nested") == 0) {
    int* flag;
    cudaMalloc(&flag, sizeof(int));
    cudaMemset(flag, 0, sizeof(int));
    wait_for_inner<<<1, 1>>>(flag);
  } else if (std::strcmp(argv[1], "conditional") == 0) {
    cudaGraphConditionalHandle handle;
    cudaGraphConditionalHandleCreate(&handle, nullptr);
  } else if (std::strcmp(argv[1], "shared") == 0) {
    cudaIpcMemHandle_t handle;
    cudaIpcGetMemHandle(&handle, out);
  } else {
    synchronise<<<1, 1>>>();
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 4;
}
