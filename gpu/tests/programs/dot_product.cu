// A program as a user writes it, with nothing of Plumbline in it: the executor runs it unchanged, main() and all.
// With an argument it leaves out the barrier of its reduction.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#define CHECK(call)                                                               \
  do {                                                                            \
    const cudaError_t status = (call);                                            \
    if (status != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
      return 2;                                                                   \
    }                                                                             \
  } while (0)

__global__ void dot(const float* a, const float* b, float* sum, int n, bool racy) {
  __shared__ float part[128];
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += a[i] * b[i];
  for (int half = (part[threadIdx.x] = mine, __syncthreads(), 64); half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    if (!racy) __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}

int main(int argc, char**) {
  const int n = 1000;
  std::vector<float> a(n, 2.0f), b(n, 0.5f);
  float *da, *db, *sum;
  CHECK(cudaMalloc(&da, n * sizeof(float)));
  CHECK(cudaMalloc(&db, n * sizeof(float)));
  CHECK(cudaMalloc(&sum, sizeof(float)));
  CHECK(cudaMemcpy(da, a.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(sum, 0, sizeof(float)));
  dot<<<4, 128>>>(da, db, sum, n, argc > 1);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  float result = 0;
  CHECK(cudaMemcpy(&result, sum, sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(sum));
  std::printf("%g\n", result);
  return result == 1000.0f || argc > 1 ? 0 : 1;
}
