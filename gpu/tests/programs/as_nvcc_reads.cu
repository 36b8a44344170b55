// What nvcc reads and a host compiler does not; its other half, as_nvcc_reads_too.cu, has functions and variables of the same names.
// With an argument a kernel does what it must not: "past" leaves an array, "constant" writes constant memory.
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int other_half();
int min(int a, int b);  // functions of CUDA's, declared again
unsigned max(unsigned a, unsigned b);

struct Pair {
  int a, b;
};

__device__ int table[10];
__device__ int neighbour[10];
__constant__ float factors[4] = {1, 2, 3, 4};
__constant__ float set_by_host[2];
__device__ float helper(float x) { return isnan(x) || isinf(x) || !isfinite(x) ? 0.0f : 2 * x; }

template <class T>
__global__ void copy(T* to, const T* from, int n) {
  __shared__ T *a, b[4], *c;
  if (threadIdx.x == 0) a = b, c = b + 2;
  __syncthreads();
  if (from != nullptr && threadIdx.x < 2) a[threadIdx.x] = c[threadIdx.x] = from[threadIdx.x];
  if (threadIdx.x < n) to[threadIdx.x] = threadIdx.x < 2 && from != nullptr ? a[threadIdx.x] : T(7);
}

__global__ void sum(int* to, const int* none, Pair p, float x, int past, bool constant) {
  const clock_t start = clock();
  if (none == nullptr) *to = p.a + p.b + static_cast<int>(helper(x) + factors[3] + set_by_host[1]);
  if (past > 0) table[past] = 1;
  if (constant) const_cast<float*>(factors)[1] = 5;
  if (clock() < start) *to = 0;
}

__global__ void count_set_bytes(cudaPitchedPtr p, int wanted, int* found) {
  for (size_t row = 0; row < 6; ++row) {  // two planes of three rows
    for (int i = 0; i < 5; ++i)
      *found += static_cast<const unsigned char*>(p.ptr)[row * p.pitch + i] == wanted;
  }
}

// Volumes, and names that the runtime has had since its first versions.
bool old_and_deep() {
  cudaPitchedPtr volume;
  int *found, got = 0, value = 0;
  const cudaExtent extent = make_cudaExtent(5, 3, 2);
  if (cudaMalloc3D(&volume, extent) != cudaSuccess || volume.pitch < 5 || volume.ysize != 3) return false;
  cudaMalloc(&found, sizeof got);
  cudaMemset(found, 0, sizeof got);
  cudaMemset3D(volume, 9, extent);
  count_set_bytes<<<1, 1>>>(volume, 9, found);
  cudaThreadSynchronize();
  cudaMemcpy(&got, found, sizeof got, cudaMemcpyDeviceToHost);
  const bool no_peer =
      cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice &&
      cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0) == cudaErrorInvalidDevice;
  cudaGetLastError();
  cudaFree(found);
  cudaFree(volume.ptr);
  return got == 30 && no_peer;
}

int main(int argc, char** argv) {
  if (!old_and_deep()) return 4;
  const bool past = argc > 1 && strcmp(argv[1], "past") == 0, constant = argc > 1 && !past;
  int *to, got[4];
  const float* never_written;
  if (cudaMalloc(&never_written, sizeof(float)) != cudaSuccess) return 3;
  const float host[2] = {10, 20};
  cudaMalloc(&to, sizeof got);
  cudaMemcpyToSymbol(set_by_host, host, sizeof host);
  copy<int><<<1, 4>>>(to, NULL, 4);
  sum<<<1, 1>>>(to, 0, {30, 40}, 1, past ? 10 : 0, constant);
  if (cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess) return 3;
  printf("%d %d, of the other half %d\n", got[0], got[3], other_half());
  return got[0] == 96 && got[3] == 7 && other_half() == 5 ? 0 : 2;
}
