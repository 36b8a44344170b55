// A user's program that says what comes after what in every way the runtime offers: streams, events, the legacy default stream, host
// functions, a cooperative launch, a graph by capture and one by nodes, several host threads. Right as it is; with an argument, one
// thing in it is wrong.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

namespace cg = cooperative_groups;

#define CHECK(call)                                                                 \
  do {                                                                              \
    const cudaError_t status = (call);                                              \
    if (status != cudaSuccess) {                                                    \
      std::printf("%s:%d: %s (%s)\n", __FILE__, __LINE__, cudaGetErrorName(status), \
                  cudaGetErrorString(status));                                      \
      std::exit(2);                                                                 \
    }                                                                               \
  } while (0)
#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      std::printf("%s:%d: not %s\n", __FILE__, __LINE__, #condition); \
      std::exit(3);                                                   \
    }                                                                 \
  } while (0)

constexpr int kCount = 256;
constexpr size_t kBytes = kCount * sizeof(int);

__global__ void add(int* a, int n, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += by;  // the line that races
}

template <class T>
__global__ void rotate(const T* from, T* to, int n) {  // twice, across the grid
  extern __shared__ T rows[][2];
  const cg::grid_group grid = cg::this_grid();
  const int i = grid.thread_rank();
  rows[threadIdx.x][1] = from[(i + 1) % n];
  to[i] = rows[threadIdx.x][1];
  grid.sync();
  rows[threadIdx.x][0] = to[(i + 1) % n];
  grid.sync();
  to[i] = rows[threadIdx.x][0];
}

__global__ void wait_a_while(long long cycles, int* done) {
  const long long start = clock64();
  while (clock64() - start < cycles) {}
  if (blockIdx.x == 0 && threadIdx.x == 0) *done = 1;
}

void CUDART_CB count(void* calls) { ++*static_cast<int*>(calls); }

int value_of(const int* device, int i) {
  int v = 0;
  CHECK(cudaMemcpy(&v, device + i, sizeof v, cudaMemcpyDeviceToHost));
  return v;
}

int main(int argc, char** argv) {
  const char* wrong = argc > 1 ? argv[1] : "";
  int* a;
  CHECK(cudaMalloc(&a, kBytes));
  cudaStream_t blocking, other, apart;
  CHECK(cudaStreamCreate(&blocking));
  CHECK(cudaStreamCreateWithPriority(&other, cudaStreamDefault, -1));
  CHECK(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
  cudaEvent_t event, joined;
  CHECK(cudaEventCreate(&event));
  CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));

  // The null stream waits for blocking streams, and they for it.
  CHECK(cudaMemset(a, 0, kBytes));
  add<<<2, 128, 0, blocking>>>(a, kCount, 1);
  add<<<2, 128>>>(a, kCount, 2);
  add<<<2, 128, 0, other>>>(a, kCount, 3);
  if (!std::strcmp(wrong, "streams")) add<<<2, 128, 0, blocking>>>(a, kCount, 3);
  CHECK(cudaMemcpy2DAsync(a, 8, a + 128, 8, 4, 8, cudaMemcpyDeviceToDevice, 0));
  // A non-blocking stream knows what it is told.
  if (std::strcmp(wrong, "apart")) {
    CHECK(cudaEventRecord(event, other));
    CHECK(cudaEventRecord(joined, 0));
    CHECK(cudaStreamWaitEvent(apart, event, 0));
    CHECK(cudaStreamWaitEvent(apart, joined, 0));
  }
  add<<<2, 128, 0, apart>>>(a, kCount, 4);
  if (std::strcmp(wrong, "query")) {
    while (cudaStreamQuery(apart) == cudaErrorNotReady) {}
  }
  add<<<2, 128, 0, blocking>>>(a, kCount, 5);
  EXPECT(value_of(a, 7) == 15);

  // Kernels by address, and all blocks of one at once.
  int* b;
  size_t pitch = 0;
  CHECK(cudaMallocPitch(&b, &pitch, kBytes, 2));
  EXPECT(pitch >= kBytes);
  std::vector<int> values(kCount);
  for (int i = 0; i < kCount; ++i) values[i] = i;
  CHECK(cudaMemcpy(a, values.data(), kBytes, cudaMemcpyHostToDevice));
  int n = kCount, by = 10;
  void* of_rotate[] = {&a, &b, &n};
  if (!std::strcmp(wrong, "grid")) {
    CHECK(
        cudaLaunchKernel((void*)rotate<int>, dim3(2), dim3(128), of_rotate, 128 * 2 * sizeof(int), blocking));
  } else {
    CHECK(
        cudaLaunchCooperativeKernel((void*)rotate<int>, 2, 128, of_rotate, 128 * 2 * sizeof(int), blocking));
  }
  EXPECT(value_of(b, 0) == 2 && value_of(b, kCount - 1) == 1);
  void* of_add[] = {&b, &n, &by};
  CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(&add), dim3(2), dim3(128), of_add, 0, 0));
  EXPECT(value_of(b, 0) == 12);

  // A graph by capture: two branches, on halves of an array, and a host function after both.
  int calls = 0;
  CHECK(cudaMemset(b, 0, kBytes));
  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeGlobal));
  add<<<1, 128, 0, blocking>>>(b, 128, 1);
  CHECK(cudaEventRecord(event, blocking));
  CHECK(cudaStreamWaitEvent(other, event, 0));
  EXPECT(cudaStreamSynchronize(blocking) == cudaErrorStreamCaptureUnsupported);
  add<<<1, 128, 0, blocking>>>(b, 128, 2);
  add<<<1, 128, 0, other>>>(b + (std::strcmp(wrong, "graph") ? 128 : 0), 128, 4);
  CHECK(cudaEventRecord(joined, other));
  CHECK(cudaStreamWaitEvent(blocking, joined, 0));
  CHECK(cudaLaunchHostFunc(blocking, &count, &calls));
  CHECK(cudaStreamEndCapture(blocking, &graph));
  EXPECT(calls == 0);
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphLaunch(exec, blocking));
  CHECK(cudaGraphLaunch(exec, other));  // after its own last launch
  CHECK(cudaStreamSynchronize(other));
  EXPECT(calls == 2);
  EXPECT(value_of(b, 0) == 6 && value_of(b, 128) == 8);
  CHECK(cudaGraphExecDestroy(exec));

  // The same by nodes.
  CHECK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams fill = {};
  fill.dst = b;
  fill.value = 7;
  fill.elementSize = 4;
  fill.width = kCount;
  fill.height = 1;
  cudaKernelNodeParams kernel = {};
  kernel.func = (void*)add;
  kernel.gridDim = dim3(2);
  kernel.blockDim = dim3(128);
  kernel.kernelParams = of_add;
  std::vector<int> fetched(kCount);
  cudaGraphNode_t filled, added, copied;
  CHECK(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill));
  CHECK(cudaGraphAddKernelNode(&added, graph, &filled, std::strcmp(wrong, "nodes") ? 1 : 0, &kernel));
  CHECK(
      cudaGraphAddMemcpyNode1D(&copied, graph, &added, 1, fetched.data(), b, kBytes, cudaMemcpyDeviceToHost));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, apart));
  CHECK(cudaStreamSynchronize(apart));
  EXPECT(fetched[0] == 17 && fetched[kCount - 1] == 17);
  by = 20;
  CHECK(cudaGraphExecKernelNodeSetParams(exec, added, &kernel));
  CHECK(cudaGraphLaunch(exec, apart));
  CHECK(cudaDeviceSynchronize());
  EXPECT(fetched[0] == 27);

  // Memory that the host writes by itself, and the host's own.
  int* managed;
  CHECK(cudaMallocManaged(&managed, kBytes));
  for (int i = 0; i < kCount; ++i) managed[i] = i;
  CHECK(cudaHostRegister(values.data(), kBytes, cudaHostRegisterMapped));
  int* mapped;
  CHECK(cudaHostGetDevicePointer(&mapped, values.data(), 0));
  add<<<2, 128>>>(managed, kCount, 1);
  add<<<2, 128>>>(mapped, kCount, 1);
  CHECK(cudaDeviceSynchronize());
  EXPECT(managed[5] == 6 && values[5] == 6);
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, managed + 3));
  EXPECT(attributes.type == cudaMemoryTypeManaged);
  CHECK(cudaHostUnregister(values.data()));
  EXPECT(cudaHostUnregister(values.data()) == cudaErrorHostMemoryNotRegistered);
  EXPECT(cudaMemcpy(values.data(), a, kBytes, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
  EXPECT(cudaLaunchKernel((const void*)main, dim3(1), dim3(1), of_add) == cudaErrorInvalidDeviceFunction);
  EXPECT(cudaSetDevice(1) == cudaErrorInvalidDevice);

  // Memory in the order of a stream: who still uses it elsewhere races with its release.
  int* pooled;
  CHECK(cudaMallocAsync(&pooled, kBytes, apart));
  CHECK(cudaMemsetAsync(pooled, 0, kBytes, apart));
  add<<<2, 128, 0, apart>>>(pooled, kCount, 1);
  CHECK(cudaFreeAsync(pooled, std::strcmp(wrong, "free") ? apart : blocking));

  // Host threads, each with a stream of its own, while kernels wait for time to pass.
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i, b] {
      cudaStream_t mine;
      CHECK(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking));
      add<<<1, 32, 0, mine>>>(b + 32 * i, 32, i);
      int* done;
      CHECK(cudaMalloc(&done, sizeof(int)));
      wait_a_while<<<2, 64, 0, mine>>>(200000, done + 0 * i);
      CHECK(cudaStreamSynchronize(mine));
      CHECK(cudaFree(done));
      CHECK(cudaStreamDestroy(mine));
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT(value_of(b, 96) == 30);
  CHECK(cudaFree(a));
  EXPECT(cudaFree(a) == cudaErrorInvalidValue);
  std::puts("every order was kept");
}
