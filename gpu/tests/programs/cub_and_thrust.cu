// CUB's and Thrust's own headers: blocks of threads that reduce and scan together, and algorithms of the whole device. With an argument
// the temporary storage of a block is used a second time with no barrier between.
#include <thrust/device_vector.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <cstdio>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_reduce.cuh>
#include <vector>

constexpr int kThreads = 128, kCount = 3000;

__global__ void sum_twice(const int* in, int* sums, int* before, bool with_barrier) {
  using Reduce = cub::BlockReduce<int, kThreads>;
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  __shared__ typename Scan::TempStorage for_scan;
  const int t = threadIdx.x, mine = in[t];
  const int once = Reduce(storage).Sum(mine);
  if (with_barrier) __syncthreads();
  const int twice = Reduce(storage).Sum(2 * mine);
  if (t == 0) {
    sums[0] = once;
    sums[1] = twice;
  }
  Scan(for_scan).ExclusiveSum(mine, before[t]);
}

struct Square {
  __host__ __device__ int operator()(int x) const { return x * x % 1009; }
};

namespace {

int failures = 0;
void expect(bool good, const char* what) {
  if (good) return;
  std::printf("not %s\n", what);
  ++failures;
}

void blocks(bool with_barrier) {
  std::vector<int> x(kThreads);
  for (int i = 0; i < kThreads; ++i) x[i] = i % 5;
  const thrust::device_vector<int> in = x;
  thrust::device_vector<int> sums(2), before(kThreads);
  sum_twice<<<1, kThreads>>>(thrust::raw_pointer_cast(in.data()), thrust::raw_pointer_cast(sums.data()),
                             thrust::raw_pointer_cast(before.data()), with_barrier);
  int sum = 0;
  std::vector<int> got(kThreads);
  thrust::copy(before.begin(), before.end(), got.begin());
  for (int i = 0; i < kThreads; ++i) {
    expect(got[i] == sum, "the sum of what stands before");
    sum += x[i];
  }
  expect(sums[0] == sum && sums[1] == 2 * sum, "the sum, and twice of it");
}

void device() {
  std::vector<int> x(kCount);
  for (int i = 0; i < kCount; ++i) x[i] = i * 1103 % 3001;
  thrust::device_vector<int> d = x;
  thrust::sort(d.begin(), d.end());
  expect(
      std::vector<int>(d.begin(), d.end()) ==
          [&] {
            std::sort(x.begin(), x.end());
            return x;
          }(),
      "sorted");
  thrust::transform(d.begin(), d.end(), d.begin(), Square());
  int sum = 0;
  for (int& value : x) {
    value = value * value % 1009;
    sum += value;
  }
  int* total;
  cudaMalloc(&total, sizeof(int));
  void* scratch = nullptr;
  size_t bytes = 0;
  cub::DeviceReduce::Sum(scratch, bytes, thrust::raw_pointer_cast(d.data()), total, kCount);
  cudaMalloc(&scratch, bytes);
  expect(cub::DeviceReduce::Sum(scratch, bytes, thrust::raw_pointer_cast(d.data()), total, kCount) ==
             cudaSuccess,
         "a reduction without error");
  int got = 0;
  cudaMemcpy(&got, total, sizeof got, cudaMemcpyDeviceToHost);
  expect(got == sum, "the sum");
  thrust::inclusive_scan(d.begin(), d.end(), d.begin());
  expect(d[kCount - 1] == sum && d[0] == x[0] && d[1] == x[0] + x[1], "scanned");
}

}  // namespace

int main(int argc, char**) {
  blocks(argc == 1);
  if (argc == 1) device();
  return failures > 0 ? 3 : 0;
}
