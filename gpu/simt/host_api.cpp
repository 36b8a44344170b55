// Host side of a user's own program on the executor: memory, streams and events of host_api.hpp.
// Every copy that the host waits for orders everything before it, as the host's own program order does on a device.
#include "gpu/simt/host_api.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "gpu/simt/engine.hpp"

namespace plumb::simt {

namespace {

constexpr std::size_t kDeviceMemory = std::size_t{8} << 30;
constexpr std::size_t kPoisonLimit = std::size_t{1} << 28;  // more would only cost memory

struct Event {
  std::vector<int> knows;
  std::chrono::steady_clock::time_point when;
};

bool g_reporting = false;

std::size_t g_reported = 0;
int g_allocations = 0;

void report_at_exit() {
  report_now();
  if (g_reported == 0) return;
  std::fprintf(stderr, "%zu finding%s\n", g_reported, g_reported == 1 ? "" : "s");
  std::fflush(nullptr);
  _exit(1);
}

}  // namespace

void report_now() {
  if (!g_reporting) return;
  for (const Finding& f : take_findings()) {
    std::fputs(f.describe().c_str(), stderr);
    ++g_reported;
  }
}

void begin_by_itself() {
  if (engine.begun) return;
  Options options;
  const char* seed = std::getenv("PLUMB_SIMT_SEED");
  if (seed != nullptr) options.seed = std::strtoull(seed, nullptr, 10);
  begin_run(options);
  if (!g_reporting) std::atexit(&report_at_exit);
  g_reporting = true;
}

cudaError_t host_status() { return engine.is_stopped ? cudaErrorLaunchFailure : cudaSuccess; }

cudaError_t host_malloc(void** p, std::size_t bytes, bool watched) {
  begin_by_itself();
  if (bytes > kDeviceMemory) return cudaErrorMemoryAllocation;
  *p = std::aligned_alloc(256, (bytes + 511) / 256 * 256);
  if (*p == nullptr) return cudaErrorMemoryAllocation;
  // Pinned host memory is the program's to read and write: known, and initialised.
  if (bytes <= kPoisonLimit) std::memset(*p, 0xa5, bytes);
  add_array(
      fmt::format("{} #{} of {} bytes", watched ? "cudaMalloc" : "cudaMallocHost", ++g_allocations, bytes),
      *p, bytes, !watched, true);
  return cudaSuccess;
}

cudaError_t host_free(void* p) {
  remove_array(p);
  std::free(p);
  return cudaSuccess;
}

cudaError_t host_copy(void* to, const void* from, std::size_t bytes, void* stream, bool waits) {
  begin_by_itself();
  if (engine.is_stopped) return cudaErrorLaunchFailure;
  if (waits) order_all();
  host_operation("cudaMemcpy", stream, {"", 0}, to, from, bytes);
  if (engine.is_stopped) return cudaErrorInvalidValue;
  std::memmove(to, from, bytes);
  if (waits) order_all();
  return cudaSuccess;
}

cudaError_t host_fill(void* p, int byte, std::size_t bytes, void* stream, bool waits) {
  begin_by_itself();
  if (engine.is_stopped) return cudaErrorLaunchFailure;
  if (waits) order_all();
  host_operation("cudaMemset", stream, {"", 0}, p, nullptr, bytes);
  if (engine.is_stopped) return cudaErrorInvalidValue;
  std::memset(p, byte, bytes);
  if (waits) order_all();
  return cudaSuccess;
}

}  // namespace plumb::simt

using plumb::simt::engine;
using plumb::simt::Event;

cudaError_t cudaDeviceSynchronize() {
  plumb::simt::order_all();
  return plumb::simt::host_status();
}
cudaError_t cudaDeviceReset() { return plumb::simt::host_status(); }
cudaError_t cudaGetLastError() { return plumb::simt::host_status(); }
cudaError_t cudaPeekAtLastError() { return plumb::simt::host_status(); }
const char* cudaGetErrorString(cudaError_t e) {
  switch (e) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorNotReady:
      return "device not ready";
    case cudaErrorLaunchFailure:
      return "stopped by a finding of the CPU executor";
  }
  return "unknown error";
}
const char* cudaGetErrorName(cudaError_t e) {
  switch (e) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorNotReady:
      return "cudaErrorNotReady";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
  }
  return "cudaErrorUnknown";
}
cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidValue; }
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int) {
  *p = cudaDeviceProp{};
  std::snprintf(p->name, sizeof p->name, "Plumbline CPU executor");
  p->totalGlobalMem = plumb::simt::kDeviceMemory;
  p->sharedMemPerBlock = 48 * 1024;
  p->sharedMemPerBlockOptin = 227 * 1024;
  p->major = 8;
  p->multiProcessorCount = engine.options.multiprocessors;
  p->warpSize = 32;
  p->maxThreadsPerBlock = 1024;
  p->maxThreadsPerMultiProcessor = 2048;
  p->cooperativeLaunch = 1;
  p->clockRate = 1000000;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
  p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 0x7fffffff;
  p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->regsPerBlock = 65536;
  p->concurrentKernels = p->canMapHostMemory = p->unifiedAddressing = p->managedMemory = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = 1024;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = 48 * 1024;
      return cudaSuccess;
    case cudaDevAttrWarpSize:
      *value = 32;
      return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
      *value = engine.options.multiprocessors;
      return cudaSuccess;
    case cudaDevAttrClockRate:
      *value = 1000000;
      return cudaSuccess;
    case cudaDevAttrComputeMode:
    case cudaDevAttrIntegrated:
      *value = 0;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 8;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      *value = 0;
      return cudaSuccess;
    case cudaDevAttrCooperativeLaunch:
      *value = 1;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = 227 * 1024;
      return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = plumb::simt::kDeviceMemory;
  return cudaSuccess;
}
cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  plumb::simt::begin_by_itself();
  *stream = static_cast<cudaStream_t>(std::malloc(1));
  plumb::simt::order_streams(*stream, nullptr);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return cudaStreamCreate(stream); }
cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}  // its address stays taken: a later stream is another one
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  // The host waits for it, and queues everything else afterwards.
  const std::vector<const void*> all = engine.streams;
  for (const void* other : all) plumb::simt::order_streams(other, stream);
  return plumb::simt::host_status();
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = reinterpret_cast<cudaEvent_t>(new Event);
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<Event*>(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  plumb::simt::begin_by_itself();
  auto* e = reinterpret_cast<Event*>(event);
  e->knows = plumb::simt::knowledge_of(stream);
  e->when = std::chrono::steady_clock::now();
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  plumb::simt::add_knowledge(stream, reinterpret_cast<Event*>(event)->knows);
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const std::vector<const void*> all = engine.streams;
  for (const void* stream : all) plumb::simt::add_knowledge(stream, reinterpret_cast<Event*>(event)->knows);
  return plumb::simt::host_status();
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  *milliseconds = std::chrono::duration<float, std::milli>(reinterpret_cast<Event*>(end)->when -
                                                           reinterpret_cast<Event*>(start)->when)
                      .count();
  return cudaSuccess;
}
