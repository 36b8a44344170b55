// Kernels and launches as a user writes them, without the seam: what rewrite.py must read.
#include "gpu/device/kernel.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

#define BLOCKS(n, b) (((n) + (b)-1) / (b))
#define LAUNCH(kernel, n, ...) kernel<<<BLOCKS(n, 32), 32>>>(__VA_ARGS__)

template <class T>
struct Pair {
  T first, second;
};

extern __shared__ float g_dynamic[];  // outside of every function, as many samples have it

__shared__ int g_count, g_table[4];  // and static ones, as racecheck's samples do

template <class T, int Step>
__global__ void shift(const T* in, T* out, int n) {
  extern __shared__ __align__(16) unsigned char raw[];
  T* s = reinterpret_cast<T*>(raw);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? in[i] : T(0);
  __syncthreads();
  if (i < n) out[i] = s[(threadIdx.x + Step) % blockDim.x];
}

namespace user {
__global__ void through_file_scope(float* data) {
  g_dynamic[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = g_dynamic[blockDim.x - 1 - threadIdx.x] + *(g_dynamic + 1);
}
template <class T>
__global__ void pairs(T* out) {
  // a comment with <<< and __shared__ in it, and 'quotes"
  __shared__ Pair<T> pair, many[2][3];
  alignas(64) __shared__ char aligned[3];
  static __shared__ int plain;
  const char* text = "<<<not a launch>>> __shared__ int x;";
  if (threadIdx.x == 0) {
    pair.first = T(1);
    pair.second = T(text[0] == '<' ? 2 : 0);
    many[1][2].first = T(4);
    aligned[2] = 8;
    g_table[3] = 5;
    g_count = sizeof(g_table) == 16 ? g_table[3] : 0;
    plain = reinterpret_cast<unsigned long long>(aligned) % 64 == 0 ? 16 : 0;
  }
  __syncthreads();
  out[threadIdx.x] += pair.first + pair.second + many[1][2].first + T(aligned[2]) + T(plain) + T(g_count - 5);
}
}  // namespace user

__noinline__ __device__ float twice(float x) { return 2 * x; }
__global__ void doubled(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = twice(data[i]);
}

namespace plumb::simt_test {

void written_launches(const float* in, float* out, int n) {
  shift<float, 1><<<BLOCKS(n, 32), dim3(32), 32 * sizeof(float), nullptr>>>(in, out, n);
  if (n > 0) ::user::through_file_scope<<<1, 32, 32 * sizeof(float)>>>(out);
  void (*chosen)(float*) = user::pairs<float>;
  (*chosen)<<<1, 32>>>(out);
  user::pairs<<<dim3(1, (1 > 2) ? 3 : 1), 32>>>(out);
  dim3 gridDim(BLOCKS(n, 64)), blockDim(2 * warpSize);  // names of its own
  LAUNCH(doubled, n, out, n / 2);
  doubled<<<gridDim, blockDim>>>(out + n / 2, n - n / 2);
}

}  // namespace plumb::simt_test
