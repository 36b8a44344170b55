// Memory that a graph's nodes give and take: made node by node, and captured; run twice; and used wrongly, one mistake at a time.
#include <cstdio>
#include <cstring>

#define EXPECT(what)                                        \
  if (!(what)) {                                            \
    std::printf("line %d: %s is false\n", __LINE__, #what); \
    return 1;                                               \
  }

constexpr int kCount = 64;
constexpr size_t kBytes = kCount * sizeof(int);

__global__ void fill(int* a, int value) { a[threadIdx.x] = value; }
__global__ void add(const int* a, int* out) { out[threadIdx.x] += a[threadIdx.x]; }

int main(int argc, char** argv) {
  const char* wrong = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* what) { return std::strcmp(wrong, what) == 0; };
  int *out, got[kCount];
  cudaMalloc(&out, kBytes);
  cudaMemset(out, 0, kBytes);

  // Node by node.
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaMemAllocNodeParams memory{};
  memory.bytesize = kBytes;
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location.type = cudaMemLocationTypeDevice;
  cudaGraphNode_t given, filled, added, taken;
  EXPECT(cudaGraphAddMemAllocNode(&given, graph, nullptr, 0, &memory) == cudaSuccess);
  int value = 5;
  void* of_fill[] = {&memory.dptr, &value};
  void* of_add[] = {&memory.dptr, &out};
  cudaKernelNodeParams kernel{};
  kernel.gridDim = dim3(1), kernel.blockDim = dim3(kCount);
  kernel.func = reinterpret_cast<void*>(fill), kernel.kernelParams = of_fill;
  cudaGraphAddKernelNode(&filled, graph, &given, 1, &kernel);
  kernel.func = reinterpret_cast<void*>(add), kernel.kernelParams = of_add;
  cudaGraphAddKernelNode(&added, graph, is("unfilled") ? &given : &filled, 1, &kernel);
  // taken while the kernel may still read it
  EXPECT(cudaGraphAddMemFreeNode(&taken, graph, is("early") ? &filled : &added, 1, memory.dptr) ==
         cudaSuccess);
  cudaGraphExec_t exec;
  EXPECT(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
  for (int i = 0; i < 2; ++i) EXPECT(cudaGraphLaunch(exec, 0) == cudaSuccess);
  if (is("late")) add<<<1, kCount>>>(static_cast<int*>(memory.dptr), out);
  cudaMemcpy(got, out, kBytes, cudaMemcpyDeviceToHost);
  EXPECT(got[kCount - 1] == 10);
  unsigned long long bytes = 0;
  cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &bytes);
  EXPECT(bytes == kBytes);
  cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &bytes);
  EXPECT(bytes == 0);

  // Captured.
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int* captured;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  EXPECT(cudaMallocAsync(&captured, kBytes, stream) == cudaSuccess);
  fill<<<1, kCount, 0, stream>>>(captured, 7);
  add<<<1, kCount, 0, stream>>>(captured, out);
  EXPECT(cudaFreeAsync(captured, stream) == cudaSuccess);
  cudaGraph_t second;
  cudaStreamEndCapture(stream, &second);
  cudaGraphExec_t again;
  EXPECT(cudaGraphInstantiate(&again, second, 0) == cudaSuccess);
  for (int i = 0; i < 2; ++i) cudaGraphLaunch(again, stream);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
  cudaMemcpy(got, out, kBytes, cudaMemcpyDeviceToHost);
  EXPECT(got[0] == 24);
  std::puts("given and taken");
  return 0;
}
