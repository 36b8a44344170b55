// The part of the CUDA runtime that a program's host code uses, over host memory: so that a user's own .cu,
// with its own main(), runs on the CPU executor unchanged. Device memory is an array the executor watches;
// streams, events and graphs order launches as CUDA says they do, and nothing else does. A program that never
// calls begin_run() gets one at its first launch or allocation, with the seed in PLUMB_SIMT_SEED, and its
// findings on stderr when it exits, with exit code 1 if there are any.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

// What other headers ask for to know that the CUDA runtime is there.
#if !defined(__DRIVER_TYPES_H__)
#define __DRIVER_TYPES_H__
#endif
#define __CUDA_RUNTIME_H__
#define CUDART_VERSION 12000
#define CUDART_CB
#define CUDA_CB

// In a host compiler's own files the qualifiers say nothing, as with CUDA's headers.
#if !defined(__CUDACC__) && !defined(PLUMB_SIMT)
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#endif

#include "gpu/simt/language/device_api.hpp"

#define PLUMB_CUDA_ERRORS(X)                                                                            \
  X(cudaSuccess, 0, "no error")                                                                         \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                                       \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                                      \
  X(cudaErrorInitializationError, 3, "initialization error")                                            \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                 \
  X(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                           \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                                \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                           \
  X(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")    \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                      \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                       \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                              \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                     \
  X(cudaErrorNotReady, 600, "device not ready")                                                         \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                           \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                      \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                             \
  X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                           \
  X(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                             \
  X(cudaErrorAssert, 710, "device-side assert triggered")                                               \
  X(cudaErrorHostMemoryAlreadyRegistered, 712,                                                          \
    "part or all of the requested memory range is already mapped")                                      \
  X(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region") \
  X(cudaErrorMisalignedAddress, 716, "misaligned address")                                              \
  X(cudaErrorLaunchFailure, 719, "stopped by a finding of the CPU executor")                            \
  X(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                   \
  X(cudaErrorNotPermitted, 800, "operation not permitted")                                              \
  X(cudaErrorNotSupported, 801, "operation not supported")                                              \
  X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")         \
  X(cudaErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture")  \
  X(cudaErrorStreamCaptureUnmatched, 903, "capture was not ended in the same stream as it began")       \
  X(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                          \
  X(cudaErrorStreamCaptureImplicit, 906,                                                                \
    "operation would make the legacy stream depend on a capturing blocking stream")                     \
  X(cudaErrorGraphExecUpdateFailure, 910,                                                               \
    "the graph update was not performed because it included changes which violated constraints")        \
  X(cudaErrorUnknown, 999, "unknown error")
enum cudaError {
#define PLUMB_CUDA_ERROR(name, value, text) name = value,
  PLUMB_CUDA_ERRORS(PLUMB_CUDA_ERROR)
#undef PLUMB_CUDA_ERROR
};
using cudaError_t = cudaError;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxPitch = 11,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrTextureAlignment = 14,
  cudaDevAttrGpuOverlap = 15,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrKernelExecTimeout = 17,
  cudaDevAttrIntegrated = 18,
  cudaDevAttrCanMapHostMemory = 19,
  cudaDevAttrComputeMode = 20,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrEccEnabled = 32,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrAsyncEngineCount = 40,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrStreamPrioritiesSupported = 78,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrIsMultiGpuBoard = 84,
  cudaDevAttrHostNativeAtomicSupported = 86,
  cudaDevAttrPageableMemoryAccess = 88,
  cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrComputePreemptionSupported = 90,
  cudaDevAttrCanUseHostPointerForRegisteredMem = 91,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrHostRegisterSupported = 99,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrMemoryPoolsSupported = 115
};
enum cudaComputeMode {
  cudaComputeModeDefault,
  cudaComputeModeExclusive,
  cudaComputeModeProhibited,
  cudaComputeModeExclusiveProcess
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout
};
enum cudaFuncCache {
  cudaFuncCachePreferNone,
  cudaFuncCachePreferShared,
  cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault,
  cudaSharedMemBankSizeFourByte,
  cudaSharedMemBankSizeEightByte
};
enum cudaLimit {
  cudaLimitStackSize,
  cudaLimitPrintfFifoSize,
  cudaLimitMallocHeapSize,
  cudaLimitDevRuntimeSyncDepth,
  cudaLimitDevRuntimePendingLaunchCount,
  cudaLimitMaxL2FetchGranularity,
  cudaLimitPersistingL2CacheSize
};
enum cudaMemoryType {
  cudaMemoryTypeUnregistered,
  cudaMemoryTypeHost,
  cudaMemoryTypeDevice,
  cudaMemoryTypeManaged
};
enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly,
  cudaMemAdviseSetPreferredLocation,
  cudaMemAdviseUnsetPreferredLocation,
  cudaMemAdviseSetAccessedBy,
  cudaMemAdviseUnsetAccessedBy
};
enum cudaMemLocationType { cudaMemLocationTypeInvalid, cudaMemLocationTypeDevice, cudaMemLocationTypeHost };
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
};
struct cudaFuncAttributes {
  std::size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes,
      preferredShmemCarveout;
};
struct cudaUUID_t {
  char bytes[16];
};
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  std::size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor,
      reservedSharedMemPerBlock, totalConstMem, memPitch, textureAlignment, texturePitchAlignment;
  int major, minor, multiProcessorCount, warpSize, maxThreadsPerBlock, maxThreadsPerMultiProcessor,
      maxBlocksPerMultiProcessor, cooperativeLaunch;
  int computeMode, clockRate, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize,
      maxThreadsDim[3], maxGridSize[3];
  int regsPerBlock, regsPerMultiprocessor, concurrentKernels, canMapHostMemory, unifiedAddressing,
      managedMemory;
  int asyncEngineCount, deviceOverlap, integrated, kernelExecTimeoutEnabled, ECCEnabled, tccDriver, pciBusID,
      pciDeviceID, pciDomainID, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported,
      isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported, pageableMemoryAccess,
      pageableMemoryAccessUsesHostPageTables, concurrentManagedAccess, directManagedMemAccessFromHost,
      computePreemptionSupported, canUseHostPointerForRegisteredMem, hostRegisterSupported,
      memoryPoolsSupported, singleToDoublePrecisionPerfRatio, cooperativeMultiDeviceLaunch,
      accessPolicyMaxWindowSize;
};
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;
struct CUmemPoolHandle_st;
using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;
using cudaGraph_t = CUgraph_st*;
using cudaGraphNode_t = CUgraphNode_st*;
using cudaGraphExec_t = CUgraphExec_st*;
using cudaMemPool_t = CUmemPoolHandle_st*;
using cudaHostFn_t = void (*)(void*);
using cudaStreamCallback_t = void (*)(cudaStream_t, cudaError_t, void*);
#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(0x1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(0x2))
constexpr int cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2;
constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
constexpr unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2,
                   cudaEventInterprocess = 4, cudaEventRecordDefault = 0, cudaEventWaitDefault = 0;
constexpr unsigned cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
                   cudaHostAllocWriteCombined = 4;
constexpr unsigned cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2,
                   cudaHostRegisterIoMemory = 4, cudaHostRegisterReadOnly = 8;
constexpr unsigned cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaMemAttachSingle = 4;
constexpr unsigned cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2,
                   cudaDeviceScheduleBlockingSync = 4, cudaDeviceBlockingSync = 4, cudaDeviceMapHost = 8,
                   cudaDeviceLmemResizeToMax = 16;
constexpr unsigned cudaOccupancyDefault = 0, cudaOccupancyDisableCachingOverride = 1;

// ---- what the templates below call ----
namespace plumb::simt {
enum class Memory : unsigned char { device, managed, pinned };
cudaError_t host_malloc(void** p, std::size_t bytes, Memory kind);
cudaError_t host_malloc_pitch(void** p, std::size_t* pitch, std::size_t width, std::size_t height);
cudaError_t host_device_pointer(void** device, void* host);
template <class T>
char* symbol_address(T& symbol) {
  return const_cast<char*>(reinterpret_cast<const char*>(&symbol));
}
cudaError_t host_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream,
                      bool waits, Here here);

/// Sets cudaFuncAttributeMaxDynamicSharedMemorySize of a kernel. Errors: cudaErrorInvalidValue above the chip's limit.
cudaError_t allow_dynamic_shared(const void* kernel, int bytes);
int dynamic_shared_of(const void* kernel);
/// Blocks of `threads` threads and `shared` bytes of shared memory that one multiprocessor holds at once.
cudaError_t resident_blocks_of(int* blocks, int threads, std::size_t shared);
template <class K>
const void* kernel_address(K* kernel) {
  return reinterpret_cast<const void*>(kernel);
}

/// How a kernel that a program passes on as a void* is called: sizes of its parameters, and a call with
/// pointers to them.
struct KernelShape {
  void (*invoke)(const void* kernel, void** arguments);
  const std::size_t* sizes;
  std::size_t count;
};
void* know_kernel(const void* kernel, const KernelShape& shape);

template <class... P>
struct KernelCall {
  template <std::size_t... I>
  PLUMB_SIMT_UNTRACKED static void with(const void* kernel, void** arguments, std::index_sequence<I...>) {
    (void)arguments;
    reinterpret_cast<void (*)(P...)>(const_cast<void*>(kernel))(*static_cast<P*>(arguments[I])...);
  }
  PLUMB_SIMT_UNTRACKED static void invoke(const void* kernel, void** arguments) {
    with(kernel, arguments, std::index_sequence_for<P...>{});
  }
};
/// A kernel as a void*, its parameters remembered. rewrite.py puts it into every cast of a kernel to void*.
template <class... P>
void* known_kernel(void (*kernel)(P...)) {
  static const std::size_t sizes[] = {sizeof(P)..., 0};
  return know_kernel(reinterpret_cast<const void*>(kernel), {&KernelCall<P...>::invoke, sizes, sizeof...(P)});
}
inline void* known_kernel(const void* kernel) { return const_cast<void*>(kernel); }

cudaError_t launch_kernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                          std::size_t shared_bytes, cudaStream_t stream, bool cooperative, Here here);
}  // namespace plumb::simt

// ---- errors and devices ----
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorString(cudaError_t e);
const char* cudaGetErrorName(cudaError_t e);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value);
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceFlags(unsigned* flags);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);

// ---- memory ----
template <class T>
cudaError_t cudaMalloc(T** p, std::size_t bytes) {
  return plumb::simt::host_malloc(reinterpret_cast<void**>(p), bytes, plumb::simt::Memory::device);
}
template <class T>
cudaError_t cudaMallocManaged(T** p, std::size_t bytes, unsigned = cudaMemAttachGlobal) {
  return plumb::simt::host_malloc(reinterpret_cast<void**>(p), bytes, plumb::simt::Memory::managed);
}
template <class T>
cudaError_t cudaMallocAsync(T** p, std::size_t bytes, cudaStream_t) {
  return plumb::simt::host_malloc(reinterpret_cast<void**>(p), bytes, plumb::simt::Memory::device);
}
template <class T>
cudaError_t cudaMallocFromPoolAsync(T** p, std::size_t bytes, cudaMemPool_t, cudaStream_t s) {
  return cudaMallocAsync(p, bytes, s);
}
template <class T>
cudaError_t cudaMallocHost(T** p, std::size_t bytes, unsigned = 0) {
  return plumb::simt::host_malloc(reinterpret_cast<void**>(p), bytes, plumb::simt::Memory::pinned);
}
template <class T>
cudaError_t cudaHostAlloc(T** p, std::size_t bytes, unsigned = 0) {
  return plumb::simt::host_malloc(reinterpret_cast<void**>(p), bytes, plumb::simt::Memory::pinned);
}

template <class T>
cudaError_t cudaMallocPitch(T** p, std::size_t* pitch, std::size_t width, std::size_t height) {
  return plumb::simt::host_malloc_pitch(reinterpret_cast<void**>(p), pitch, width, height);
}
cudaError_t cudaFree(void* p);
cudaError_t cudaFreeAsync(void* p, cudaStream_t stream, PLUMB_SIMT_HERE);
cudaError_t cudaFreeHost(void* p);
cudaError_t cudaHostRegister(void* p, std::size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* p);

template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
  return plumb::simt::host_device_pointer(reinterpret_cast<void**>(device), host);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* p);
inline cudaError_t cudaMemPrefetchAsync(const void*, std::size_t, int, cudaStream_t = nullptr) {
  return cudaSuccess;
}
inline cudaError_t cudaMemPrefetchAsync(const void*, std::size_t, cudaMemLocation, unsigned,
                                        cudaStream_t = nullptr) {
  return cudaSuccess;
}
inline cudaError_t cudaMemAdvise(const void*, std::size_t, cudaMemoryAdvise, int) { return cudaSuccess; }
inline cudaError_t cudaMemAdvise(const void*, std::size_t, cudaMemoryAdvise, cudaMemLocation) {
  return cudaSuccess;
}
template <class T>
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, T*, std::size_t = 0, unsigned = cudaMemAttachSingle) {
  return cudaSuccess;
}
enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic,
  cudaMemPoolReuseAllowInternalDependencies,
  cudaMemPoolAttrReleaseThreshold,
  cudaMemPoolAttrReservedMemCurrent,
  cudaMemPoolAttrReservedMemHigh,
  cudaMemPoolAttrUsedMemCurrent,
  cudaMemPoolAttrUsedMemHigh
};
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) { return cudaSuccess; }

// ---- copies and fills ----
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                              PLUMB_SIMT_HERE) {
  return plumb::simt::host_copy(to, from, bytes, kind, nullptr, true, here);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t s = nullptr, PLUMB_SIMT_HERE) {
  return plumb::simt::host_copy(to, from, bytes, kind, s, false, here);
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind, PLUMB_SIMT_HERE);
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream = nullptr, PLUMB_SIMT_HERE);
cudaError_t cudaMemset(void* p, int byte, std::size_t bytes, PLUMB_SIMT_HERE);
cudaError_t cudaMemsetAsync(void* p, int byte, std::size_t bytes, cudaStream_t s = nullptr, PLUMB_SIMT_HERE);
cudaError_t cudaMemset2D(void* p, std::size_t pitch, int byte, std::size_t width, std::size_t height,
                         PLUMB_SIMT_HERE);
cudaError_t cudaMemset2DAsync(void* p, std::size_t pitch, int byte, std::size_t width, std::size_t height,
                              cudaStream_t stream = nullptr, PLUMB_SIMT_HERE);

template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice, PLUMB_SIMT_HERE) {
  if (offset + bytes > sizeof(T)) return cudaErrorInvalidValue;
  return plumb::simt::host_copy(plumb::simt::symbol_address(symbol) + offset, from, bytes, kind, nullptr,
                                true, here);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, std::size_t bytes, std::size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t s = nullptr, PLUMB_SIMT_HERE) {
  if (offset + bytes > sizeof(T)) return cudaErrorInvalidValue;
  return plumb::simt::host_copy(plumb::simt::symbol_address(symbol) + offset, from, bytes, kind, s, false,
                                here);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost, PLUMB_SIMT_HERE) {
  if (offset + bytes > sizeof(T)) return cudaErrorInvalidValue;
  return plumb::simt::host_copy(to, plumb::simt::symbol_address(symbol) + offset, bytes, kind, nullptr, true,
                                here);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, std::size_t bytes, std::size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t s = nullptr, PLUMB_SIMT_HERE) {
  if (offset + bytes > sizeof(T)) return cudaErrorInvalidValue;
  return plumb::simt::host_copy(to, plumb::simt::symbol_address(symbol) + offset, bytes, kind, s, false,
                                here);
}
template <class P, class T>
cudaError_t cudaGetSymbolAddress(P** p, T& symbol) {
  *p = reinterpret_cast<P*>(plumb::simt::symbol_address(symbol));
  return cudaSuccess;
}
template <class T>
cudaError_t cudaGetSymbolSize(std::size_t* bytes, T&) {
  *bytes = sizeof(T);
  return cudaSuccess;
}

struct cudaPitchedPtr {
  void* ptr;
  std::size_t pitch, xsize, ysize;
};
struct cudaExtent {
  std::size_t width, height, depth;
};
struct cudaPos {
  std::size_t x, y, z;
};
struct cudaArray;
using cudaArray_t = cudaArray*;
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};
inline cudaPitchedPtr make_cudaPitchedPtr(void* p, std::size_t pitch, std::size_t x, std::size_t y) {
  return {p, pitch, x, y};
}
inline cudaExtent make_cudaExtent(std::size_t w, std::size_t h, std::size_t d) { return {w, h, d}; }
inline cudaPos make_cudaPos(std::size_t x, std::size_t y, std::size_t z) { return {x, y, z}; }
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p, PLUMB_SIMT_HERE);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream = nullptr, PLUMB_SIMT_HERE);

// ---- kernels ----
template <class K>
cudaError_t cudaLaunchKernel(K kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes = 0,
                             cudaStream_t stream = nullptr, PLUMB_SIMT_HERE) {
  return plumb::simt::launch_kernel(plumb::simt::known_kernel(kernel), grid, block, arguments, shared_bytes,
                                    stream, false, here);
}
template <class K>
cudaError_t cudaLaunchCooperativeKernel(K kernel, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                        PLUMB_SIMT_HERE) {
  return plumb::simt::launch_kernel(plumb::simt::known_kernel(kernel), grid, block, arguments, shared_bytes,
                                    stream, true, here);
}
template <class K>
cudaError_t cudaFuncSetAttribute(K kernel, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  return plumb::simt::allow_dynamic_shared(plumb::simt::kernel_address(kernel), value);
}
template <class K>
cudaError_t cudaFuncSetCacheConfig(K, cudaFuncCache) {
  return cudaSuccess;
}
template <class K>
cudaError_t cudaFuncSetSharedMemConfig(K, cudaSharedMemConfig) {
  return cudaSuccess;
}
template <class K>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* a, K kernel) {
  *a = cudaFuncAttributes{};
  a->maxThreadsPerBlock = 1024;
  a->numRegs = 32;
  a->ptxVersion = a->binaryVersion = 80;
  a->maxDynamicSharedSizeBytes = plumb::simt::dynamic_shared_of(plumb::simt::kernel_address(kernel));
  return cudaSuccess;
}
template <class K>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, K, int threads, std::size_t shared) {
  return plumb::simt::resident_blocks_of(blocks, threads, shared);
}
template <class K>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, K k, int threads,
                                                                   std::size_t shared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, k, threads, shared);
}
template <class K>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, K, std::size_t = 0, int limit = 0) {
  *grid = 8;
  *block = limit > 0 && limit < 256 ? limit : 256;
  return cudaSuccess;
}
template <class K, class F>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, K k, F, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSize(grid, block, k, 0, limit);
}

// ---- streams and events ----
cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr, unsigned = 0) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

// Hints about caches, which change no meaning.
enum cudaAccessProperty {
  cudaAccessPropertyNormal,
  cudaAccessPropertyStreaming,
  cudaAccessPropertyPersisting
};
struct cudaAccessPolicyWindow {
  void* base_ptr;
  std::size_t num_bytes;
  float hitRatio;
  cudaAccessProperty hitProp, missProp;
};
enum cudaStreamAttrID { cudaStreamAttributeAccessPolicyWindow = 1 };
union cudaStreamAttrValue {
  cudaAccessPolicyWindow accessPolicyWindow;
};
inline cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID, const cudaStreamAttrValue*) {
  return cudaSuccess;
}
inline cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }

// ---- graphs ----
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive,
  cudaStreamCaptureStatusInvalidated
};
enum cudaGraphNodeType {
  cudaGraphNodeTypeKernel,
  cudaGraphNodeTypeMemcpy,
  cudaGraphNodeTypeMemset,
  cudaGraphNodeTypeHost,
  cudaGraphNodeTypeGraph,
  cudaGraphNodeTypeEmpty
};
enum cudaGraphExecUpdateResult {
  cudaGraphExecUpdateSuccess,
  cudaGraphExecUpdateError,
  cudaGraphExecUpdateErrorTopologyChanged
};
struct cudaGraphExecUpdateResultInfo {
  cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode, errorFromNode;
};
struct cudaKernelNodeParams {
  void* func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void **kernelParams, **extra;
};
struct cudaMemsetParams {
  void* dst;
  std::size_t pitch;
  unsigned value, elementSize;
  std::size_t width, height;
};
struct cudaHostNodeParams {
  cudaHostFn_t fn;
  void* userData;
};
cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
                                   cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count);
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type);
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, std::size_t count);
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   std::size_t count, const cudaKernelNodeParams* p, PLUMB_SIMT_HERE);
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   std::size_t count, const cudaMemcpy3DParms* p, PLUMB_SIMT_HERE);
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     std::size_t count, void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind, PLUMB_SIMT_HERE);
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   std::size_t count, const cudaMemsetParams* p, PLUMB_SIMT_HERE);
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                 std::size_t count, const cudaHostNodeParams* p);
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                  std::size_t count);
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       std::size_t count, cudaGraph_t child);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags = 0);
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                        unsigned long long flags = 0) {
  return cudaGraphInstantiateWithFlags(exec, graph, flags);
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t*, char*,
                                        std::size_t) {
  return cudaGraphInstantiateWithFlags(exec, graph, 0);
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* p, PLUMB_SIMT_HERE);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t* error,
                                cudaGraphExecUpdateResult* result);
inline cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
