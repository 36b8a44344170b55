// Headers of the CUDA toolkit that the executor reads as they are: random numbers in kernels, 8-bit floats.
#include <cuda_fp8.h>
#include <curand_kernel.h>

#include <cmath>
#include <cstdio>

constexpr int kThreads = 64;

// The first four numbers of Philox4x32-10 for counter 0 and key 0, of Random123's table of known answers.
__constant__ unsigned known[4] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};

__global__ void philox(int* wrong) {
  curandStatePhilox4_32_10_t state;
  curand_init(0, 0, 0, &state);
  const uint4 got = curand4(&state);
  if (got.x != known[0] || got.y != known[1] || got.z != known[2] || got.w != known[3]) *wrong = 1;
}
__global__ void normal(float* mean, float* square, curandState* states) {
  const int i = threadIdx.x;
  curand_init(7, i, 0, &states[i]);
  float sum = 0, squares = 0;
  for (int k = 0; k < 200; ++k) {
    const float x = curand_normal(&states[i]);
    sum += x;
    squares += x * x;
  }
  atomicAdd(mean, sum / (200 * kThreads));
  atomicAdd(square, squares / (200 * kThreads));
}
__global__ void round_to_fp8(const float* x, float* e4m3, float* e5m2, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  e4m3[i] = static_cast<float>(__nv_fp8_e4m3(x[i]));
  e5m2[i] = static_cast<float>(__nv_fp8_e5m2(x[i]));
}

namespace {

template <class T>
T* zeros(int n) {
  T* p;
  cudaMalloc(&p, n * sizeof(T));
  cudaMemset(p, 0, n * sizeof(T));
  return p;
}

bool random_numbers() {
  int* wrong = zeros<int>(1);
  philox<<<1, 1>>>(wrong);
  float *mean = zeros<float>(1), *square = zeros<float>(1);
  normal<<<1, kThreads>>>(mean, square, zeros<curandState>(kThreads));
  int w;
  float m, s;
  cudaMemcpy(&w, wrong, sizeof w, cudaMemcpyDeviceToHost);
  cudaMemcpy(&m, mean, sizeof m, cudaMemcpyDeviceToHost);
  cudaMemcpy(&s, square, sizeof s, cudaMemcpyDeviceToHost);
  std::printf("philox %s, mean %g, mean square %g\n", w == 0 ? "as known" : "wrong", m, s);
  return w == 0 && std::fabs(m) < 0.05f && std::fabs(s - 1) < 0.05f;
}

bool small_floats() {
  const float x[] = {2.4f, 4.8f, 1e6f, -0.001f, 17}, want4[] = {2.5f, 5, 448, -0.001953125f, 16},
              want5[] = {2.5f, 5, 57344, -0.0009765625f, 16};
  const int n = 5;
  float *in = zeros<float>(n), *four = zeros<float>(n), *five = zeros<float>(n), got4[n], got5[n];
  cudaMemcpy(in, x, sizeof x, cudaMemcpyHostToDevice);
  round_to_fp8<<<1, 32>>>(in, four, five, n);
  cudaMemcpy(got4, four, sizeof got4, cudaMemcpyDeviceToHost);
  cudaMemcpy(got5, five, sizeof got5, cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < n; ++i) {
    right = right && got4[i] == want4[i] && got5[i] == want5[i];
    std::printf("%g is %g in e4m3 and %g in e5m2\n", x[i], got4[i], got5[i]);
  }
  return right;
}

}  // namespace

int main() {
  const bool numbers = random_numbers(), floats = small_floats();
  return numbers && floats ? 0 : 3;
}
