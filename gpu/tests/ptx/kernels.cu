// Kernels of which kernels.ptx is made: nvcc -ptx -arch=sm_80 -lineinfo kernels.cu -o kernels.ptx (from this folder), then the file's own path
// in .file is made kernels.cu.
#include <cstdio>

__constant__ float kWeights[4] = {1, 2, 3, 4};
__device__ int counter = 5;
__device__ int* pointer_to_counter = &counter;

__device__ __noinline__ float weighted(const float* values, int n, float scale) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += values[i] * kWeights[i & 3] * scale;
  return sum;
}

extern "C" __global__ void total(const float* x, float* out, int n) {
  __shared__ float part[128];
  float mine = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) mine += x[i];
  part[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = part[0];
}

extern "C" __global__ void reversed(const int* x, int* out) {
  extern __shared__ int held[];
  held[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = held[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void not_ordered(const int* x, int* out) {
  extern __shared__ int held[];
  held[threadIdx.x] = x[threadIdx.x];
  out[threadIdx.x] = held[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void calls(const float* x, float* out, int n) {
  out[threadIdx.x] = weighted(x + threadIdx.x * n, n, 0.5f);
}

extern "C" __global__ void chooses(const int* what, int* out) {
  int v = threadIdx.x, r = 0;
  switch (what[v]) {
    case 0:
      r = v * 3;
      break;
    case 1:
      r = v / 3;
      break;
    case 2:
      r = v % 3;
      break;
    case 3:
      r = __popc(v);
      break;
    case 4:
      r = __clz(v);
      break;
    case 5:
      r = v << 2;
      break;
    case 6:
      r = -v;
      break;
    default:
      r = 99;
  }
  out[v] = r;
}

extern "C" __global__ void counts(int* out) {
  if (threadIdx.x == 0) atomicAdd(pointer_to_counter, 2);
  __syncthreads();
  out[threadIdx.x] = counter;
}

struct Pair {
  double a;
  int b[3];
};
extern "C" __global__ void by_value(Pair p, double* out) {
  int local[8];
  for (int i = 0; i < 8; ++i) local[i] = p.b[i % 3] + i;
  out[threadIdx.x] = p.a + local[(threadIdx.x * 3) & 7];
}

extern "C" __global__ void says(int n) {
  printf("thread %d of %d: %.2f %s\n", threadIdx.x, n, 1.5 * n, "said");
}

extern "C" __global__ void __launch_bounds__(64) bounded(int* out) { out[threadIdx.x] = 1; }
