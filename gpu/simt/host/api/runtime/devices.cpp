// The one device: its properties are those of the chip that the executor stands in for.
#include "gpu/simt/host/api/runtime/devices.hpp"

#include <cstdio>
#include <utility>

#include "gpu/simt/host/api/runtime/operations.hpp"
#include "gpu/simt/host/report/ledger.hpp"
#include "gpu/simt/host/report/report_files.hpp"
#include "gpu/simt/state.hpp"

using plumb::simt::answer;
using plumb::simt::current;

namespace {

struct Settings {
  std::size_t limits[7] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};  // by cudaLimit
  unsigned flags = 0;
};
Settings settings;

int newest_arch = 800;

// Extents in texels, layers last: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", 8.0 and 9.0.
void set_texture_limits(cudaDeviceProp& p) {
  constexpr int k1D = 131072, kLayered = 32768, kLayers = 2048, kCubes = 2046, k3D = 16384;
  const auto set = [](auto& to, auto... extents) {
    int i = 0;
    ((to[i++] = extents), ...);
  };
  p.maxTexture1D = k1D;
  p.maxTexture1DMipmap = p.maxTextureCubemap = p.maxSurface1D = p.maxSurfaceCubemap = kLayered;
  p.maxTexture1DLinear = 1 << 28;
  set(p.maxTexture2D, k1D, 65536);
  set(p.maxTexture2DMipmap, kLayered, kLayered);
  set(p.maxTexture2DLinear, k1D, 65000, 2097120);
  set(p.maxTexture2DGather, kLayered, kLayered);
  set(p.maxTexture3D, k3D, k3D, k3D);
  set(p.maxTexture3DAlt, k3D / 2, k3D / 2, 2 * k3D);
  set(p.maxTexture1DLayered, kLayered, kLayers);
  set(p.maxTexture2DLayered, kLayered, kLayered, kLayers);
  set(p.maxTextureCubemapLayered, kLayered, kCubes);
  set(p.maxSurface2D, k1D, 65536);
  set(p.maxSurface3D, k3D, k3D, k3D);
  set(p.maxSurface1DLayered, kLayered, kLayers);
  set(p.maxSurface2DLayered, kLayered, kLayered, kLayers);
  set(p.maxSurfaceCubemapLayered, kLayered, kCubes);
  p.surfaceAlignment = 512;
}

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
  // that of the language which kernels are compiled as, where nobody chose a chip
  const int capability = current().run.options.chip_is_told ? chip.chip : newest_arch / 10;
  p.major = capability / 10;
  p.minor = capability % 10;
  p.clusterLaunch = chip.chip >= 90 ? 1 : 0;
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
  p.persistingL2CacheMaxSize = p.l2CacheSize / 4 * 3;
  p.accessPolicyMaxWindowSize = 128 << 20;
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
  set_texture_limits(p);
  return p;
}

}  // namespace

int plumb::simt::know_arch(int arch) {
  // before main(): a program may fork first, and leave all that is found to the processes that it forks
  if (files_are_asked_for()) open_ledger();
  return newest_arch = std::max(newest_arch, arch);
}

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
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  if (limit > cudaLimitPersistingL2CacheSize) return answer(cudaErrorInvalidValue);
  settings.limits[limit] = value;
  if (limit == cudaLimitMallocHeapSize) plumb::simt::set_heap_limit(value);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  if (limit > cudaLimitPersistingL2CacheSize) return answer(cudaErrorInvalidValue);
  *value = settings.limits[limit];
  return cudaSuccess;
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  settings.flags = flags;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  *flags = settings.flags;
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
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return answer(cudaErrorInvalidDevice); }
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return answer(peer == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceGetP2PAttribute(int*, cudaDeviceP2PAttr, int, int) {
  return answer(cudaErrorInvalidDevice);
}
