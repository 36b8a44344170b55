// Host side of a user's own program on the executor: errors, devices, memory, copies and kernels of
// host_api.hpp.
#include "gpu/simt/host/host_api.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <unordered_map>
#include <vector>

#include "gpu/runtime/launch.hpp"
#include "gpu/simt/host/host_side.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

constexpr std::size_t kDeviceMemory = std::size_t{8} << 30;
constexpr std::size_t kPoisonLimit = std::size_t{1} << 28;  // more would only cost memory
constexpr std::size_t kPitch = 512;

struct Allocation {
  std::size_t bytes;
  cudaMemoryType type;
  bool registered;  // the program's own memory
};

// What the API remembers between calls.
struct ApiState {
  bool reporting = false;  // the program began the run by itself
  std::size_t reported = 0;
  int allocations = 0;
  cudaError_t last = cudaSuccess;
  cudaError_t stopped_by = cudaErrorLaunchFailure;
  std::map<const unsigned char*, Allocation> memory;
  std::unordered_map<const void*, KernelShape> kernels;
  std::size_t limits[7] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};  // by cudaLimit
  unsigned device_flags = 0;
};
ApiState the_api;
ApiState& api() { return the_api; }

void report_at_exit() {
  report_now();
  if (current().run.skipped > 0) {
    std::fprintf(stderr,
                 "%lld later launch%s did nothing: the program was stopped, as after an error on a device\n",
                 static_cast<long long>(current().run.skipped), current().run.skipped == 1 ? "" : "es");
  }
  if (api().reported == 0 && !current().run.shortage.empty()) {
    std::fprintf(stderr, "stopped: the CPU executor is %s; this says nothing about the kernels\n",
                 current().run.shortage.c_str());
    std::fflush(nullptr);
    _exit(2);
  }
  if (api().reported == 0) return;
  std::fprintf(stderr, "%zu finding%s\n", api().reported, api().reported == 1 ? "" : "s");
  std::fflush(nullptr);
  _exit(1);
}

cudaError_t error_of(const Finding& f) {
  if (f.kind == FindingKind::trap && f.text.find("assertion failed") != std::string::npos)
    return cudaErrorAssert;
  if (f.kind == FindingKind::misaligned) return cudaErrorMisalignedAddress;
  return cudaErrorLaunchFailure;
}

const Allocation* allocation_of(const void* p) {
  auto it = api().memory.upper_bound(static_cast<const unsigned char*>(p));
  if (it == api().memory.begin()) return nullptr;
  --it;
  return static_cast<const unsigned char*>(p) < it->first + it->second.bytes ? &it->second : nullptr;
}

bool is_plain_device(const void* p) {
  const Allocation* a = allocation_of(p);
  return a != nullptr && a->type == cudaMemoryTypeDevice;
}

// A side that the copy calls a device's must not be memory of the host's alone, and the other way round.
cudaError_t check_direction(const void* to, const void* from, cudaMemcpyKind kind) {
  const bool to_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost;
  const bool from_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (kind == cudaMemcpyDefault) return cudaSuccess;
  if ((to_host && is_plain_device(to)) || (from_host && is_plain_device(from))) return cudaErrorInvalidValue;
  return cudaSuccess;
}

cudaError_t release(void* p, bool of_host, const char* what) {
  if (p == nullptr) return cudaSuccess;
  const auto it = api().memory.find(static_cast<const unsigned char*>(p));
  if (it == api().memory.end() || it->second.registered ||
      (it->second.type == cudaMemoryTypeHost) != of_host) {
    std::fprintf(stderr, "%s: no pointer that such a call returned, or freed before\n", what);
    return cudaErrorInvalidValue;
  }
  api().memory.erase(it);
  remove_array(p);
  std::free(p);
  return cudaSuccess;
}

void move(const char* what, const void* stream, Here here, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0 || current().run.is_stopped) return;
  host_operation(what, const_cast<void*>(stream), here, to, from, bytes);
  if (!current().run.is_stopped) std::memmove(to, from, bytes);
}

cudaMemcpy3DParms plane(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                        std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(const_cast<void*>(from), from_pitch, width, height);
  p.dstPtr = make_cudaPitchedPtr(to, to_pitch, width, height);
  p.extent = make_cudaExtent(width, height, 1);
  p.kind = kind;
  return p;
}

cudaError_t copy(const cudaMemcpy3DParms& p, cudaStream_t stream, bool waits, Here here) {
  begin_by_itself();
  const auto lock = enter_engine();
  if (p.srcArray != nullptr || p.dstArray != nullptr) return answer(cudaErrorNotSupported);
  if (p.extent.width == 0 || p.extent.height == 0 || p.extent.depth == 0) return host_status();
  if (p.extent.height > 1 && (p.extent.width > p.srcPtr.pitch || p.extent.width > p.dstPtr.pitch))
    return answer(cudaErrorInvalidPitchValue);
  const cudaError_t bad = check_direction(p.dstPtr.ptr, p.srcPtr.ptr, p.kind);
  if (bad != cudaSuccess) return answer(bad);
  const cudaError_t e = queue(stream, cudaGraphNodeTypeMemcpy, copy_operation(p, here));
  // Between two places of a device the host does not wait.
  const bool in_device =
      p.kind == cudaMemcpyDeviceToDevice ||
      (p.kind == cudaMemcpyDefault && is_plain_device(p.dstPtr.ptr) && is_plain_device(p.srcPtr.ptr));
  return e == cudaSuccess && waits && !in_device ? wait_for(stream) : e;
}

cudaError_t fill(const cudaMemsetParams& p, cudaStream_t stream, Here here) {
  begin_by_itself();
  const auto lock = enter_engine();
  if (p.width == 0 || p.height == 0) return host_status();
  if (p.height > 1 && p.width > p.pitch) return answer(cudaErrorInvalidPitchValue);
  return queue(stream, cudaGraphNodeTypeMemset, fill_operation(p, here));
}

}  // namespace

void report_now() {
  if (!api().reporting) return;
  for (const Finding& f : take_findings()) {
    std::fputs(f.describe().c_str(), stderr);
    ++api().reported;
    if (current().run.is_stopped) api().stopped_by = error_of(f);
  }
  if (!current().run.shortage.empty()) api().stopped_by = cudaErrorMemoryAllocation;
  if (!current().run.refusal.text.empty()) answer(static_cast<cudaError_t>(current().run.refusal.error));
}

bool runs_by_itself() { return api().reporting; }

void begin_by_itself() {
  if (current().run.begun) return;
  const auto lock = enter_engine();
  if (current().run.begun) return;
  Options options;
  const char* seed = std::getenv("PLUMB_SIMT_SEED");
  if (seed != nullptr) options.seed = std::strtoull(seed, nullptr, 10);
  const char* chip = std::getenv("PLUMB_SIMT_CHIP");
  if (chip != nullptr) options.chip = std::atoi(chip);
  begin_run(options);
  if (!api().reporting) std::atexit(&report_at_exit);
  api().reporting = true;
}

std::unique_lock<std::recursive_mutex> enter_engine() {
  static std::recursive_mutex& mutex = *new std::recursive_mutex;  // outlives the program's own statics
  return std::unique_lock<std::recursive_mutex>(mutex);
}

cudaError_t answer(cudaError_t e) {
  if (e != cudaSuccess) api().last = e;
  return e;
}

cudaError_t host_status() { return current().run.is_stopped ? answer(api().stopped_by) : cudaSuccess; }

cudaError_t host_malloc(void** p, std::size_t bytes, Memory kind) {
  begin_by_itself();
  const auto lock = enter_engine();
  if (bytes > kDeviceMemory) return answer(cudaErrorMemoryAllocation);
  *p = std::aligned_alloc(256, (bytes + 511) / 256 * 256);
  if (*p == nullptr) return answer(cudaErrorMemoryAllocation);
  if (bytes <= kPoisonLimit) std::memset(*p, 0xa5, bytes);
  constexpr const char* kNames[] = {"cudaMalloc", "cudaMallocManaged", "cudaMallocHost"};
  constexpr cudaMemoryType kTypes[] = {cudaMemoryTypeDevice, cudaMemoryTypeManaged, cudaMemoryTypeHost};
  const auto k = static_cast<std::size_t>(kind);
  // What the host may write by itself counts as initialised.
  add_array(fmt::format("{} #{}", kNames[k], ++api().allocations), *p, bytes, kind != Memory::device, true);
  api().memory[static_cast<unsigned char*>(*p)] = {bytes, kTypes[k], false};
  return cudaSuccess;
}

cudaError_t host_malloc_pitch(void** p, std::size_t* pitch, std::size_t width, std::size_t height) {
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return host_malloc(p, *pitch * height, Memory::device);
}

cudaError_t host_device_pointer(void** device, void* host) {
  const auto lock = enter_engine();
  const Allocation* a = allocation_of(host);
  if (a == nullptr || a->type == cudaMemoryTypeDevice) return answer(cudaErrorInvalidValue);
  *device = host;
  return cudaSuccess;
}

Operation copy_operation(const cudaMemcpy3DParms& p, Here here) {
  return [p, here](const void* stream) {
    const auto at = [](const cudaPitchedPtr& side, const cudaPos& pos, std::size_t y, std::size_t z) {
      const std::size_t rows = (pos.z + z) * side.ysize + pos.y + y;
      return static_cast<unsigned char*>(side.ptr) + rows * side.pitch + pos.x;
    };
    const cudaExtent& e = p.extent;
    // Rows that follow each other without a gap on both sides are one copy.
    const bool whole = e.depth == 1 && p.srcPtr.pitch == e.width && p.dstPtr.pitch == e.width;
    for (std::size_t z = 0; z < e.depth; ++z) {
      for (std::size_t y = 0; y < (whole ? 1 : e.height); ++y) {
        move("cudaMemcpy", stream, here, at(p.dstPtr, p.dstPos, y, z), at(p.srcPtr, p.srcPos, y, z),
             whole ? e.width * e.height : e.width);
      }
    }
  };
}

Operation fill_operation(const cudaMemsetParams& p, Here here) {
  return [p, here](const void* stream) {
    for (std::size_t y = 0; y < p.height && !current().run.is_stopped; ++y) {
      auto* row = static_cast<unsigned char*>(p.dst) + y * p.pitch;
      host_operation("cudaMemset", const_cast<void*>(stream), here, row, nullptr, p.width * p.elementSize);
      if (current().run.is_stopped) return;
      for (std::size_t x = 0; x < p.width * p.elementSize; ++x)
        row[x] = static_cast<unsigned char>(p.value >> 8 * (x % p.elementSize));
    }
  };
}

cudaError_t host_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream,
                      bool waits, Here here) {
  return copy(plane(to, bytes, from, bytes, bytes, 1, kind), stream, waits, here);
}

void* know_kernel(const void* kernel, const KernelShape& shape) {
  const auto lock = enter_engine();
  api().kernels[kernel] = shape;
  return const_cast<void*>(kernel);
}

cudaError_t check_kernel(const void* kernel) {
  if (api().kernels.count(kernel) != 0) return cudaSuccess;
  std::fputs(
      "a kernel is launched by an address of which the executor never saw the parameters: cast the kernel's "
      "name to void* where a "
      ".cu file can see it, or pass the kernel itself\n",
      stderr);
  return cudaErrorInvalidDeviceFunction;
}

Operation kernel_operation(const void* kernel, dim3 grid, dim3 block, void** arguments,
                           std::size_t shared_bytes, bool cooperative, Here here) {
  using Value = std::vector<std::max_align_t>;
  const KernelShape shape = api().kernels.at(kernel);
  auto values = std::make_shared<std::vector<Value>>();
  for (std::size_t i = 0; i < shape.count; ++i) {
    values->emplace_back(shape.sizes[i] / sizeof(std::max_align_t) + 1);
    std::memcpy(values->back().data(), arguments[i], shape.sizes[i]);
  }
  return [=](const void* stream) {
    std::vector<void*> pointers;
    for (Value& v : *values) pointers.push_back(v.data());
    launch_packed(kernel, shape.invoke, pointers.data(),
                  {{},
                   kernel,
                   grid,
                   block,
                   shared_bytes,
                   const_cast<void*>(stream),
                   cooperative,
                   false,
                   here,
                   nullptr,
                   nullptr});
  };
}

cudaError_t launch_kernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                          std::size_t shared_bytes, cudaStream_t stream, bool cooperative, Here here) {
  begin_by_itself();
  const auto lock = enter_engine();
  const cudaError_t bad = check_kernel(kernel);
  if (bad != cudaSuccess) return answer(bad);
  current().run.refusal = Refusal{};
  const cudaError_t e =
      queue(stream, cudaGraphNodeTypeKernel,
            kernel_operation(kernel, grid, block, arguments, shared_bytes, cooperative, here));
  return current().run.refusal.text.empty() ? e : static_cast<cudaError_t>(current().run.refusal.error);
}

cudaError_t allow_dynamic_shared(const void* kernel, int bytes) {
  begin_by_itself();
  const auto lock = enter_engine();
  if (bytes < 0 || static_cast<std::size_t>(bytes) > current().run.chip->shared_opt_in)
    return answer(cudaErrorInvalidValue);
  const auto allowed = static_cast<std::size_t>(bytes);
  current().schedule.dynamic_allowed[kernel] = allowed;
  current().schedule.most_dynamic_allowed = std::max(current().schedule.most_dynamic_allowed, allowed);
  return cudaSuccess;
}

cudaError_t resident_blocks_of(int* blocks, int threads, std::size_t shared) {
  begin_by_itself();
  if (threads <= 0) return answer(cudaErrorInvalidValue);
  const bool fits =
      threads <= current().run.chip->threads_per_block && shared <= current().run.chip->shared_opt_in;
  *blocks = fits ? resident_blocks(static_cast<std::size_t>(threads), shared, *current().run.chip) : 0;
  return cudaSuccess;
}

int dynamic_shared_of(const void* kernel) {
  const auto it = current().schedule.dynamic_allowed.find(kernel);
  return static_cast<int>(it != current().schedule.dynamic_allowed.end() ? it->second : 48 * 1024);
}

}  // namespace plumb::simt

using plumb::simt::answer;
using plumb::simt::current;
using plumb::simt::enter_engine;
using plumb::simt::Here;

// ---- errors ----

cudaError_t cudaPeekAtLastError() {
  const cudaError_t sticky = plumb::simt::host_status();
  return sticky != cudaSuccess ? sticky : plumb::simt::api().last;
}
cudaError_t cudaGetLastError() {
  const cudaError_t e = cudaPeekAtLastError();
  plumb::simt::api().last = cudaSuccess;
  return e;
}
const char* cudaGetErrorString(cudaError_t e) {
  switch (e) {
#define PLUMB_CUDA_ERROR(name, value, text) \
  case name:                                \
    return text;
    PLUMB_CUDA_ERRORS(PLUMB_CUDA_ERROR)
#undef PLUMB_CUDA_ERROR
  }
  return "unrecognized error code";
}
const char* cudaGetErrorName(cudaError_t e) {
  switch (e) {
#define PLUMB_CUDA_ERROR(name, value, text) \
  case name:                                \
    return #name;
    PLUMB_CUDA_ERRORS(PLUMB_CUDA_ERROR)
#undef PLUMB_CUDA_ERROR
  }
  return "unrecognized error code";
}

// ---- devices ----

namespace {

cudaDeviceProp device_properties() {
  cudaDeviceProp p{};
  std::snprintf(p.name, sizeof p.name, "Plumbline CPU executor");
  p.totalGlobalMem = plumb::simt::kDeviceMemory;
  plumb::simt::begin_by_itself();
  const plumb::simt::ChipLimits& chip = *current().run.chip;
  p.sharedMemPerBlock = chip.shared_default;
  p.sharedMemPerBlockOptin = chip.shared_opt_in;
  p.sharedMemPerMultiprocessor = chip.shared_per_multiprocessor;
  p.reservedSharedMemPerBlock = chip.shared_reserved_per_block;
  p.totalConstMem = 64 * 1024;
  p.memPitch = 0x7fffffff;
  p.textureAlignment = plumb::simt::kPitch;
  p.texturePitchAlignment = 32;
  p.major = 8;  // of the language that kernels are compiled as: no wgmma, tensor maps or clusters
  p.multiProcessorCount = current().run.options.multiprocessors;
  p.warpSize = 32;
  p.maxThreadsPerBlock = chip.threads_per_block;
  p.maxThreadsPerMultiProcessor = chip.threads_per_multiprocessor;
  p.maxBlocksPerMultiProcessor = chip.blocks_per_multiprocessor;
  p.cooperativeLaunch = 1;
  p.clockRate = 1000000;
  p.memoryClockRate = 1000000;
  p.memoryBusWidth = 64;
  p.l2CacheSize = 1 << 20;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 0x7fffffff;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.concurrentKernels = p.canMapHostMemory = p.unifiedAddressing = p.managedMemory =
      p.concurrentManagedAccess = 1;
  p.asyncEngineCount = 2;
  p.deviceOverlap = p.streamPrioritiesSupported = p.hostRegisterSupported = p.memoryPoolsSupported = 1;
  p.canUseHostPointerForRegisteredMem = p.hostNativeAtomicSupported = p.computePreemptionSupported = 1;
  p.singleToDoublePrecisionPerfRatio = 2;
  return p;
}

}  // namespace

cudaError_t cudaDeviceReset() { return plumb::simt::host_status(); }
cudaError_t cudaSetDevice(int device) { return answer(device == 0 ? cudaSuccess : cudaErrorInvalidDevice); }
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (device != 0) return answer(cudaErrorInvalidDevice);
  *p = device_properties();
  return cudaSuccess;
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return cudaGetDevice(device); }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device != 0) return answer(cudaErrorInvalidDevice);
  const cudaDeviceProp p = device_properties();
  const std::pair<cudaDeviceAttr, std::size_t> known[] = {
      {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
      {cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0]},
      {cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1]},
      {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
      {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
      {cudaDevAttrMaxGridDimY, p.maxGridSize[1]},
      {cudaDevAttrMaxGridDimZ, p.maxGridSize[2]},
      {cudaDevAttrMaxSharedMemoryPerBlock, p.sharedMemPerBlock},
      {cudaDevAttrTotalConstantMemory, p.totalConstMem},
      {cudaDevAttrWarpSize, p.warpSize},
      {cudaDevAttrMaxPitch, p.memPitch},
      {cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock},
      {cudaDevAttrClockRate, p.clockRate},
      {cudaDevAttrTextureAlignment, p.textureAlignment},
      {cudaDevAttrGpuOverlap, p.deviceOverlap},
      {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
      {cudaDevAttrKernelExecTimeout, p.kernelExecTimeoutEnabled},
      {cudaDevAttrIntegrated, p.integrated},
      {cudaDevAttrCanMapHostMemory, p.canMapHostMemory},
      {cudaDevAttrComputeMode, p.computeMode},
      {cudaDevAttrConcurrentKernels, p.concurrentKernels},
      {cudaDevAttrEccEnabled, p.ECCEnabled},
      {cudaDevAttrMemoryClockRate, p.memoryClockRate},
      {cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth},
      {cudaDevAttrL2CacheSize, p.l2CacheSize},
      {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
      {cudaDevAttrAsyncEngineCount, p.asyncEngineCount},
      {cudaDevAttrUnifiedAddressing, p.unifiedAddressing},
      {cudaDevAttrComputeCapabilityMajor, p.major},
      {cudaDevAttrComputeCapabilityMinor, p.minor},
      {cudaDevAttrStreamPrioritiesSupported, p.streamPrioritiesSupported},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, p.sharedMemPerMultiprocessor},
      {cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor},
      {cudaDevAttrManagedMemory, p.managedMemory},
      {cudaDevAttrIsMultiGpuBoard, p.isMultiGpuBoard},
      {cudaDevAttrHostNativeAtomicSupported, p.hostNativeAtomicSupported},
      {cudaDevAttrPageableMemoryAccess, p.pageableMemoryAccess},
      {cudaDevAttrConcurrentManagedAccess, p.concurrentManagedAccess},
      {cudaDevAttrComputePreemptionSupported, p.computePreemptionSupported},
      {cudaDevAttrCanUseHostPointerForRegisteredMem, p.canUseHostPointerForRegisteredMem},
      {cudaDevAttrCooperativeLaunch, p.cooperativeLaunch},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, p.sharedMemPerBlockOptin},
      {cudaDevAttrHostRegisterSupported, p.hostRegisterSupported},
      {cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor},
      {cudaDevAttrMemoryPoolsSupported, p.memoryPoolsSupported},
  };
  for (const auto& [which, what] : known) {
    if (which != attribute) continue;
    *value = static_cast<int>(what);
    return cudaSuccess;
  }
  return answer(cudaErrorInvalidValue);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  if (limit > cudaLimitPersistingL2CacheSize) return answer(cudaErrorInvalidValue);
  plumb::simt::api().limits[limit] = value;
  if (limit == cudaLimitMallocHeapSize) plumb::simt::set_heap_limit(value);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  if (limit > cudaLimitPersistingL2CacheSize) return answer(cudaErrorInvalidValue);
  *value = plumb::simt::api().limits[limit];
  return cudaSuccess;
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  plumb::simt::api().device_flags = flags;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  *flags = plumb::simt::api().device_flags;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = plumb::simt::kDeviceMemory;
  return cudaSuccess;
}
cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return cudaSuccess;
}

// ---- memory ----

cudaError_t cudaFree(void* p) {
  const auto lock = enter_engine();
  return answer(plumb::simt::release(p, false, "cudaFree"));
}
cudaError_t cudaFreeHost(void* p) {
  const auto lock = enter_engine();
  return answer(plumb::simt::release(p, true, "cudaFreeHost"));
}
cudaError_t cudaFreeAsync(void* p, cudaStream_t stream, Here here) {
  const auto lock = enter_engine();
  const plumb::simt::Allocation* a = plumb::simt::allocation_of(p);
  if (a == nullptr || !plumb::simt::is_stream(stream)) return answer(cudaErrorInvalidValue);
  // In the order of its stream: who still uses the memory from elsewhere races with it.
  const std::size_t bytes = a->bytes;
  const cudaError_t e = plumb::simt::queue(stream, cudaGraphNodeTypeMemset, [=](const void* key) {
    plumb::simt::host_operation("cudaFreeAsync", const_cast<void*>(key), here, p, nullptr, bytes);
  });
  return e != cudaSuccess ? e : answer(plumb::simt::release(p, false, "cudaFreeAsync"));
}
cudaError_t cudaHostRegister(void* p, std::size_t bytes, unsigned) {
  plumb::simt::begin_by_itself();
  const auto lock = enter_engine();
  if (p == nullptr || bytes == 0) return answer(cudaErrorInvalidValue);
  if (plumb::simt::allocation_of(p) != nullptr) return answer(cudaErrorHostMemoryAlreadyRegistered);
  plumb::simt::add_array(fmt::format("cudaHostRegister #{}", ++plumb::simt::api().allocations), p, bytes,
                         true, true);
  plumb::simt::api().memory[static_cast<unsigned char*>(p)] = {bytes, cudaMemoryTypeHost, true};
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* p) {
  const auto lock = enter_engine();
  const auto it = plumb::simt::api().memory.find(static_cast<const unsigned char*>(p));
  if (it == plumb::simt::api().memory.end() || !it->second.registered)
    return answer(cudaErrorHostMemoryNotRegistered);
  plumb::simt::api().memory.erase(it);
  plumb::simt::remove_array(p);
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* p) {
  const auto lock = enter_engine();
  *attributes = cudaPointerAttributes{};
  const plumb::simt::Allocation* a = plumb::simt::allocation_of(p);
  attributes->type = a != nullptr ? a->type : cudaMemoryTypeUnregistered;
  attributes->device = a != nullptr ? 0 : cudaInvalidDeviceId;
  void* const here = const_cast<void*>(p);
  if (a != nullptr) attributes->devicePointer = here;
  if (a == nullptr || a->type != cudaMemoryTypeDevice) attributes->hostPointer = here;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  static char one;
  if (device != 0) return answer(cudaErrorInvalidDevice);
  *pool = reinterpret_cast<cudaMemPool_t>(&one);
  return cudaSuccess;
}

// ---- copies and fills ----

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind, Here here) {
  return plumb::simt::copy(plumb::simt::plane(to, to_pitch, from, from_pitch, width, height, kind), nullptr,
                           true, here);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                              Here here) {
  return plumb::simt::copy(plumb::simt::plane(to, to_pitch, from, from_pitch, width, height, kind), stream,
                           false, here);
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p, Here here) {
  return plumb::simt::copy(*p, nullptr, true, here);
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream, Here here) {
  return plumb::simt::copy(*p, stream, false, here);
}
cudaError_t cudaMemset(void* p, int byte, std::size_t bytes, Here here) {
  return cudaMemset2D(p, bytes, byte, bytes, 1, here);
}
cudaError_t cudaMemsetAsync(void* p, int byte, std::size_t bytes, cudaStream_t stream, Here here) {
  return cudaMemset2DAsync(p, bytes, byte, bytes, 1, stream, here);
}
cudaError_t cudaMemset2D(void* p, std::size_t pitch, int byte, std::size_t width, std::size_t height,
                         Here here) {
  const cudaError_t e = cudaMemset2DAsync(p, pitch, byte, width, height, nullptr, here);
  // Of the device's memory it is queued, and the host goes on; for the host's own it waits.
  const auto lock = enter_engine();
  return e == cudaSuccess && !plumb::simt::is_plain_device(p) ? plumb::simt::wait_for(nullptr) : e;
}
cudaError_t cudaMemset2DAsync(void* p, std::size_t pitch, int byte, std::size_t width, std::size_t height,
                              cudaStream_t stream, Here here) {
  return plumb::simt::fill({p, pitch, static_cast<unsigned>(byte) & 0xffu, 1, width, height}, stream, here);
}
