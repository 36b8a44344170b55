// Launches by a kernel: a grid counts as done when those it has launched have ended, a block's own run one after the other, and tail
// launches last. With "apart" two that nothing orders write one element.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

constexpr int kBlocks = 5, kThreads = 8, kDepth = 3;

__global__ void set(int* x, int value) { x[threadIdx.x] = value; }
__global__ void twice(int* x) { x[threadIdx.x] *= 2; }
__global__ void sum_all(const int* x, int n, int* out) {
  for (int i = 0; i < n; ++i) *out += x[i];
}
// Each block's launches are in order; the last comes after those of all blocks, wherever it is written.
__global__ void by_block(int* x, int* out) {
  if (threadIdx.x != 0) return;
  int* const mine = x + blockIdx.x * kThreads;
  if (blockIdx.x == 0) sum_all<<<1, 1, 0, cudaStreamTailLaunch>>>(x, kBlocks * kThreads, out);
  set<<<1, kThreads>>>(mine, static_cast<int>(blockIdx.x) + 1);
  twice<<<1, kThreads>>>(mine);
}
// Halves of halves, in streams of their own.
__global__ void halve(int* x, int n, int depth) {
  if (depth == kDepth) {
    for (int i = 0; i < n; ++i) ++x[i];
    return;
  }
  cudaStream_t left, right;
  cudaStreamCreateWithFlags(&left, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&right, cudaStreamNonBlocking);
  halve<<<1, 1, 0, left>>>(x, n / 2, depth + 1);
  halve<<<1, 1, 0, right>>>(x + n / 2, n / 2, depth + 1);
  cudaStreamDestroy(left);
  cudaStreamDestroy(right);
}
// A fill, a copy and a launch by a function of the runtime, in one stream; `x` has what they leave.
__global__ void by_calls(int* x, int* spare) {
  int n = kThreads;
  void* arguments[] = {&x, &n};
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMemsetAsync(spare, 0, kThreads * sizeof(int), stream);
  cudaMemcpyAsync(x, spare, kThreads * sizeof(int), cudaMemcpyDeviceToDevice, stream);
  cudaLaunchKernel(set, dim3(1), dim3(kThreads), arguments, 0, stream);
}
__global__ void apart(int* x) {
  set<<<1, 1, 0, cudaStreamFireAndForget>>>(x, 1);
  set<<<1, 1, 0, cudaStreamFireAndForget>>>(x, 2);
}

int main(int argc, char** argv) {
  constexpr int kMany = kBlocks * kThreads;
  int *x, *out, answer = 0, host[kMany];
  cudaMalloc(&x, kMany * sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(out, 0, sizeof(int));
  if (argc > 1 && std::strcmp(argv[1], "apart") == 0) {
    apart<<<1, 1>>>(x);
    return cudaDeviceSynchronize() != cudaSuccess;
  }
  by_block<<<kBlocks, 32>>>(x, out);
  halve<<<1, 1>>>(x, kMany, 0);
  twice<<<1, kMany>>>(x);
  cudaMemcpy(&answer, out, sizeof answer, cudaMemcpyDeviceToHost);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  bool right = answer == 2 * kThreads * kBlocks * (kBlocks + 1) / 2;
  for (int i = 0; i < kMany; ++i) right = right && host[i] == 2 * (2 * (i / kThreads + 1) + 1);
  by_calls<<<1, 1>>>(x, x + kThreads);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < kThreads; ++i) right = right && host[i] == kThreads && host[kThreads + i] == 0;
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 4;
}
