// What comes after what in several streams where memory itself is at stake: memory of streams, pageable and pinned memory of copies, and what
// functions of streams write. Without an argument everything is in order; with one, that case leaves its order out.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

constexpr int kCount = 64;
constexpr size_t kBytes = kCount * sizeof(int);

__device__ int table[kCount];

__global__ void fill(int* a, int value) { a[threadIdx.x] = value; }                  // <- fill
__global__ void add(const int* a, int* out) { out[threadIdx.x] += a[threadIdx.x]; }  // <- add
__global__ void add_table(int* out, int n) {
  for (int i = 0; i < n; ++i) out[i] += table[i];
}  // <- add_table

cudaStream_t first, second;  // which do not wait for the default stream
int* device;                 // cleared
int* pinned;

void wait_for(cudaStream_t stream, bool right) {
  if (right) cudaStreamSynchronize(stream);
}
void join(cudaStream_t later, cudaStream_t earlier, bool right) {
  static cudaEvent_t event = [] {
    cudaEvent_t made;
    cudaEventCreate(&made);
    return made;
  }();
  if (!right) return;
  cudaEventRecord(event, earlier);
  cudaStreamWaitEvent(later, event, 0);
}

// ---- memory of streams ----
void pool_used(bool right) {
  int* p;
  cudaMallocAsync(&p, kBytes, 0);
  wait_for(0, right);
  fill<<<1, kCount, 0, first>>>(p, 1);
  cudaFreeAsync(p, first);
}
void pool_freed(bool right) {
  int* p;
  cudaMallocAsync(&p, kBytes, first);
  join(second, first, right);
  cudaFreeAsync(p, second);
}
void pool_of_program(bool right) {
  cudaMemPool_t pool;
  cudaMemPoolProps properties = {};
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPoolCreate(&pool, &properties);
  int* p;
  cudaMallocFromPoolAsync(&p, kBytes, pool, first);
  join(second, first, right);
  cudaMemsetAsync(p, 0, kBytes, second);
  cudaFreeAsync(p, second);
}
void pool_copied(bool right) {
  int *p, got[kCount];
  cudaMallocAsync(&p, kBytes, first);
  wait_for(first, right);
  cudaMemcpy(p, device, kBytes, cudaMemcpyDeviceToDevice);
  cudaMemcpy(got, p, kBytes, cudaMemcpyDeviceToHost);
  cudaFree(p);
}
void pool_freed_at_once(bool right) {
  int* p;
  cudaMallocAsync(&p, kBytes, first);
  wait_for(first, true);
  fill<<<1, kCount, 0, first>>>(p, 2);
  wait_for(first, right);
  cudaFree(p);
}
void pool_freed_while_used(bool right) {
  int* p;
  cudaMallocAsync(&p, kBytes, first);
  join(second, first, true);
  fill<<<1, kCount, 0, second>>>(p, 3);
  join(first, second, right);
  cudaFreeAsync(p, first);
}
void graph_memory(bool right) {
  int* p;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
  cudaMallocAsync(&p, kBytes, first);
  cudaStreamEndCapture(first, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, first);
  join(second, first, right);
  fill<<<1, kCount, 0, second>>>(p, 4);
  cudaFreeAsync(p, second);
}

// ---- copies out of pageable memory, and what does not wait ----
void pageable(bool right) {
  const std::vector<int> host(kCount, 1);
  cudaMemcpy(device, host.data(), kBytes, cudaMemcpyHostToDevice);
  wait_for(0, right);
  fill<<<1, kCount, 0, first>>>(device, 5);
}
void pageable_rows(bool right) {
  const std::vector<int> host(kCount, 1);
  cudaMemcpy2D(device, 32, host.data(), 32, 32, 8, cudaMemcpyHostToDevice);
  join(first, 0, right);
  fill<<<1, kCount, 0, first>>>(device, 6);
}
void pageable_symbol(bool right) {
  const std::vector<int> host(kCount, 1);
  cudaMemcpyToSymbol(table, host.data(), kBytes);
  wait_for(0, right);
  add_table<<<1, 1, 0, first>>>(device, kCount);
}
void filled(bool right) {
  cudaMemset(device, 0, kBytes);
  wait_for(0, right);
  fill<<<1, kCount, 0, first>>>(device, 7);
}
void within_device(bool right) {
  int* other;
  cudaMalloc(&other, kBytes);
  cudaMemcpy(other, device, kBytes, cudaMemcpyDeviceToDevice);
  wait_for(0, right);
  fill<<<1, kCount, 0, first>>>(other, 8);
}

// ---- functions of streams ----
void CUDART_CB count_up(void* data) {
  for (int i = 0; i < kCount; ++i) static_cast<int*>(data)[i] = i;  // <- function
}
void staged(bool right) {
  static std::vector<int> host(kCount);
  cudaLaunchHostFunc(first, count_up, host.data());
  wait_for(first, right);
  cudaMemcpyAsync(device, host.data(), kBytes, cudaMemcpyHostToDevice, first);
}
void pinned_elsewhere(bool right) {
  cudaLaunchHostFunc(first, count_up, pinned);
  join(second, first, right);
  cudaMemcpyAsync(device, pinned, kBytes, cudaMemcpyHostToDevice, second);
}
void copied_meanwhile(bool right) {
  cudaMemcpyAsync(device, pinned, kBytes, cudaMemcpyHostToDevice, second);
  join(first, second, right);
  cudaLaunchHostFunc(first, count_up, pinned);
}

// What needs no more than it has.
void in_order() {
  std::vector<int> host(kCount, 1);
  cudaMemcpy(device, pinned, kBytes, cudaMemcpyHostToDevice);  // pinned memory: the host has waited
  fill<<<1, kCount, 0, first>>>(device, 9);
  cudaMemcpyAsync(host.data(), pinned, kBytes, cudaMemcpyHostToHost, first);  // and of host memory alone, too
  pinned[0] = 1;
  cudaMemcpyAsync(device, host.data(), kBytes, cudaMemcpyHostToDevice, first);  // staged: the source is free
  host[0] = 2;
  cudaLaunchHostFunc(first, count_up, host.data());  // behind the copy
  cudaLaunchHostFunc(first, count_up, pinned);
  cudaMemcpyAsync(device, pinned, kBytes, cudaMemcpyHostToDevice, first);  // read in the order of its stream
  cudaStreamSynchronize(first);
  int* p;
  cudaMallocAsync(&p, kBytes, 0);  // a blocking stream waits for the default one
  cudaStream_t blocking;
  cudaStreamCreate(&blocking);
  fill<<<1, kCount, 0, blocking>>>(p, 10);
  cudaFreeAsync(p, blocking);
  cudaMemcpy(device, host.data(), kBytes, cudaMemcpyHostToDevice);
  add<<<1, kCount, 0, blocking>>>(device, device);
  cudaDeviceSynchronize();
}

struct Case {
  const char* name;
  void (*run)(bool right);
};
constexpr Case kCases[] = {{"pool_used", pool_used},
                           {"pool_freed", pool_freed},
                           {"pool_of_program", pool_of_program},
                           {"pool_copied", pool_copied},
                           {"pool_freed_at_once", pool_freed_at_once},
                           {"pool_freed_while_used", pool_freed_while_used},
                           {"graph_memory", graph_memory},
                           {"pageable", pageable},
                           {"pageable_rows", pageable_rows},
                           {"pageable_symbol", pageable_symbol},
                           {"filled", filled},
                           {"within_device", within_device},
                           {"staged", staged},
                           {"pinned_elsewhere", pinned_elsewhere},
                           {"copied_meanwhile", copied_meanwhile}};

int main(int argc, char** argv) {
  const char* wrong = argc > 1 ? argv[1] : "";
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaMalloc(&device, kBytes);
  cudaMallocHost(&pinned, kBytes);
  cudaMemset(device, 0, kBytes);
  std::memset(pinned, 0, kBytes);
  for (const Case& c : kCases) {
    cudaDeviceSynchronize();
    c.run(std::strcmp(wrong, c.name) != 0);
  }
  cudaDeviceSynchronize();
  in_order();
  std::printf("ended: %s\n", cudaGetErrorName(cudaGetLastError()));
  return 0;
}
