// What the executor does not have ends a program with exit code 3 and no finding: a kernel that waits for what the host writes after
// its launch ("host") or for what a kernel writes that it has launched ("nested"), cudaDeviceSynchronize in a kernel ("synchronise"),
// nodes of graphs that run by a condition ("conditional"), memory of other processes ("shared"), and other calls that are declared and no more ("graphics", "complex").
#include <cublas_v2.h>
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
  } else if (std::strcmp(argv[1], "graphics") == 0) {
    cudaGraphicsResource_t buffer = nullptr;
    cudaGraphicsMapResources(1, &buffer, 0);
  } else if (std::strcmp(argv[1], "complex") == 0) {
    cublasHandle_t h;
    cublasCreate(&h);
    const float2 one{1, 0};
    const cublasStatus_t status = cublasCscal_64(h, 1, &one, out, 1);
    return status == CUBLAS_STATUS_SUCCESS ? 5 : 6;
  } else {
    synchronise<<<1, 1>>>();
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 4;
}
