// A user's program whose host code touches memory that kernels and copies use. Right as it is; with an argument, one thing in it is wrong.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      std::printf("%s:%d: not %s\n", __FILE__, __LINE__, #condition); \
      return 3;                                                       \
    }                                                                 \
  } while (0)

constexpr int kCount = 64;
constexpr size_t kBytes = kCount * sizeof(int);

// Freed when the program ends.
struct Kept {
  int* p = nullptr;
  ~Kept() {
    if (cudaFree(p) != cudaSuccess) std::abort();
  }
} kept;

__global__ void add(int* a, int n, int by) {
  const int i = threadIdx.x;
  if (i < n) a[i] += by;
}

__global__ void hand_over(int* data, volatile int* ready) {
  if (threadIdx.x != 0) return;
  data[0] = 41;
  __threadfence_system();
  *ready = 1;
}

void CUDART_CB take(void* data) { ++static_cast<int*>(data)[0]; }

// A thread of the host's that a stream's function begins comes after the stream's work, and after nothing else of the device's.
std::thread& begun() {
  static std::thread thread;
  return thread;
}
int seen = 0;
void CUDART_CB begin_thread(cudaStream_t, cudaError_t, void* data) {
  begun() = std::thread([data] { seen = *static_cast<int*>(data); });
}

// Memory of no bytes has no address, which may be copied from, filled and freed.
int takes_nothing() {
  int *none = &seen, *pinned = &seen, *managed = &seen, *later = &seen, value = 5;
  size_t pitch = 1;
  EXPECT(cudaMalloc(&none, 0) == cudaSuccess && none == nullptr);
  EXPECT(cudaMallocHost(&pinned, 0) == cudaSuccess && pinned == nullptr);
  EXPECT(cudaMemcpy(none, &value, 0, cudaMemcpyHostToDevice) == cudaSuccess);
  EXPECT(cudaMemcpy(&value, none, 0, cudaMemcpyDeviceToHost) == cudaSuccess);
  EXPECT(cudaMemset(none, 0, 0) == cudaSuccess && cudaFree(none) == cudaSuccess && value == 5);
  EXPECT(cudaMallocPitch(&none, &pitch, 0, 3) == cudaSuccess && none == nullptr);
  EXPECT(cudaMallocManaged(&managed, 0) == cudaErrorInvalidValue);
  EXPECT(cudaMallocAsync(&later, 0, nullptr) != cudaSuccess || later == nullptr);
  // Of some bytes, from nowhere or to it: refused, as by a device's driver.
  int* some;
  cudaMalloc(&some, sizeof value);
  EXPECT(cudaMemcpy(some, nullptr, sizeof value, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpyAsync(nullptr, some, sizeof value, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  EXPECT(cudaMemset(nullptr, 0, sizeof value) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpy2D(some, 4, nullptr, 4, 4, 1, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaGraphCreate(&graph, 0);
  EXPECT(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, some, nullptr, 4, cudaMemcpyHostToDevice) ==
         cudaErrorInvalidValue);
  cudaFree(some);
  cudaGetLastError();
  return 0;
}

int main(int argc, char** argv) {
  if (takes_nothing() != 0) return 3;
  const char* wrong = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* what) { return std::strcmp(wrong, what) == 0; };
  cudaStream_t stream, other;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  int *device, *managed, *pinned;
  cudaMalloc(&device, kBytes);
  cudaMalloc(&kept.p, kBytes);
  cudaMallocManaged(&managed, 2 * kBytes);
  cudaMallocHost(&pinned, kBytes);
  for (int i = 0; i < 2 * kCount; ++i) managed[i] = i;

  // Managed memory: written before the launch, read after the wait; elements that the kernel leaves alone at any time.
  add<<<1, kCount, 0, stream>>>(managed, kCount, 1);
  managed[kCount + 3] = 7;
  if (is("managed")) std::printf("%d\n", managed[5]);
  if (is("managed_write")) managed[5] = 1;
  cudaStreamSynchronize(is("other_stream") ? other : stream);
  EXPECT(managed[5] == 6 && managed[kCount + 3] == 7);

  // Pinned memory, source and target of copies under way.
  cudaMemsetAsync(device, 0, kBytes, stream);
  for (int i = 0; i < kCount; ++i) pinned[i] = i;
  cudaMemcpyAsync(device, pinned, kBytes, cudaMemcpyHostToDevice, stream);
  EXPECT(pinned[2] == 2);  // two reads are no race
  if (is("source")) pinned[2] = 9;
  cudaStreamSynchronize(stream);
  pinned[2] = 9;
  add<<<1, kCount, 0, stream>>>(device, kCount, 10);
  cudaMemcpyAsync(pinned, device, kBytes, cudaMemcpyDeviceToHost, stream);
  cudaEvent_t copied;
  cudaEventCreate(&copied);
  cudaEventRecord(copied, stream);
  if (!is("event")) cudaEventSynchronize(copied);
  EXPECT(pinned[3] == 13);

  // A host function comes after the work before it in its stream.
  cudaMemcpyAsync(pinned, device, kBytes, cudaMemcpyDeviceToHost, stream);
  cudaLaunchHostFunc(stream, take, pinned);
  cudaStreamSynchronize(stream);
  EXPECT(pinned[0] == 11);

  cudaMemcpyAsync(pinned, device, kBytes, cudaMemcpyDeviceToHost, stream);
  cudaStreamAddCallback(stream, begin_thread, pinned, 0);
  begun().join();
  EXPECT(seen == 10);
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t add_node, host_node;
  int count = kCount, by = 1;
  void* arguments[] = {&managed, &count, &by};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(add), kernel.gridDim = dim3(1), kernel.blockDim = dim3(kCount);
  kernel.kernelParams = arguments;
  cudaGraphAddKernelNode(&add_node, graph, nullptr, 0, &kernel);
  cudaHostNodeParams host{take, managed};
  cudaGraphAddHostNode(&host_node, graph, &add_node, 1, &host);
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  EXPECT(managed[0] == 3);

  // Mapped memory that a kernel hands over by a flag while the host polls.
  volatile int* ready = pinned + 1;
  *ready = 0;
  hand_over<<<1, 32, 0, stream>>>(pinned, ready);
  while (!is("no_poll") && *ready == 0) {}
  EXPECT(pinned[0] == 41);
  cudaDeviceSynchronize();

  if (is("device")) std::printf("%d\n", device[0]);
  if (is("device_copy")) std::memcpy(pinned, device, kBytes);
  cudaFree(device), cudaFree(managed), cudaFreeHost(pinned);
  std::puts("every access was in order");
  return 0;
}
