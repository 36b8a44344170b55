// Kernels whose code the processor itself refuses.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

using Function = float (*)(float);
__global__ void calls(Function f, float* out) { out[threadIdx.x] = f(2.0f); }

__global__ void divides(const int* in, int* out) { out[threadIdx.x] = 7 / in[threadIdx.x]; }

__device__ int sum_from(const int* in, int n) {
  int held[64];
  for (int i = 0; i < 64; ++i) held[i] = in[(n + i) % 32];
  if (n < 0) return held[0];
  return sum_from(in, n + 1) + held[n % 64];
}
__global__ void recurses(const int* in, int* out) { out[threadIdx.x] = sum_from(in, 1); }

__global__ void holds_much(const int* in, int* out) {
  int held[50000];
  for (int i = 0; i < 50000; ++i) held[i] = in[i % 32] + i;
  int sum = 0;
  for (unsigned i = threadIdx.x; i < 50000; i += 37) sum += held[i * 7 % 50000];
  out[threadIdx.x] = sum;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  int *in = nullptr, *out = nullptr;
  cudaMalloc(&in, 32 * sizeof(int));
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMemset(in, 0, 32 * sizeof(int));
  if (std::strcmp(how, "call") == 0) calls<<<1, 32>>>(nullptr, reinterpret_cast<float*>(out));
  if (std::strcmp(how, "divide") == 0) divides<<<1, 32>>>(in, out);
  if (std::strcmp(how, "recurse") == 0) recurses<<<1, 32>>>(in, out);
  if (std::strcmp(how, "hold") == 0) holds_much<<<1, 32>>>(in, out);
  std::puts(cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
