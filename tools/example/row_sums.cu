// Sums the rows of a matrix, a block of 128 threads for each row.
#include <cstdio>
#include <vector>

__global__ void row_sums(const float* a, float* sums, int cols) {
  __shared__ float part[128];
  float mine = 0;
  for (int j = threadIdx.x; j < cols; j += 128) mine += a[blockIdx.x * cols + j];
  part[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

int main() {
  const int rows = 3, cols = 1000;
  std::vector<float> a(rows * cols, 0.5f), sums(rows);
  float *d_a, *d_sums;
  cudaMalloc(&d_a, a.size() * sizeof(float));
  cudaMalloc(&d_sums, rows * sizeof(float));
  cudaMemcpy(d_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
  row_sums<<<rows, 128>>>(d_a, d_sums, cols);
  cudaMemcpy(sums.data(), d_sums, rows * sizeof(float), cudaMemcpyDeviceToHost);
  for (const float sum : sums) std::printf("%g ", sum);
  std::printf("\n");
}
