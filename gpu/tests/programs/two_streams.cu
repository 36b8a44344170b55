// One of the host's threads launches a kernel in two streams, which nothing orders: the launches overlap. Right as it is, where each has a
// counter of its own. `common`: both count in one; `ordered`: likewise, but an event orders the two. A second word: the host asks after each
// launch whether it was one. `refused`: one of them is not.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

constexpr int kBlocks = 8, kSum = kBlocks * (kBlocks - 1) / 2;

__device__ unsigned counters[2];

// Each block leaves its number, and the last adds all of them; the count wraps to 0.
__global__ void add_numbers(int* parts, int counter, int* sum) {
  parts[blockIdx.x] = blockIdx.x;
  __threadfence();
  if (atomicInc(&counters[counter], gridDim.x - 1) != gridDim.x - 1) return;
  __threadfence();
  int all = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) all += parts[b];
  *sum = all;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const int second = *what == 0 ? 1 : 0;
  cudaStream_t streams[2];
  cudaEvent_t first_is_over;
  int *parts, *sums, right = 0;
  cudaMalloc(&parts, 2 * kBlocks * sizeof(int));
  cudaMalloc(&sums, 2 * sizeof(int));
  cudaMemset(sums, 0, 2 * sizeof(int));
  for (cudaStream_t& s : streams) cudaStreamCreate(&s);
  cudaEventCreate(&first_is_over);
  if (std::strcmp(what, "refused") == 0) {
    add_numbers<<<kBlocks, 1, 1 << 20, streams[0]>>>(parts, 0, sums);
    const bool told =
        cudaPeekAtLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaErrorInvalidValue;
    std::printf("refused %s\n", told ? "at once" : "unseen");
    return 0;
  }
  const bool asks = argc > 2;
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    add_numbers<<<kBlocks, 1, 0, streams[0]>>>(parts, 0, sums);
    if (asks && (cudaGetLastError() != cudaSuccess || cudaPeekAtLastError() != cudaSuccess)) return 3;
    if (std::strcmp(what, "ordered") == 0) {
      cudaEventRecord(first_is_over, streams[0]);
      cudaStreamWaitEvent(streams[1], first_is_over, 0);
    }
    add_numbers<<<kBlocks, 1, 0, streams[1]>>>(parts + kBlocks, second, sums + 1);
    cudaDeviceSynchronize();
    int got[2];
    cudaMemcpy(got, sums, sizeof got, cudaMemcpyDeviceToHost);
    right += got[0] == kSum && got[1] == kSum;
  }
  std::printf("%d of %d right\n", right, kRounds);
  return right == kRounds ? 0 : 2;
}
