// What C files of a program see of the runtime, and C++ ones too: error codes, enumerators, and structures of numbers. The values are CUDA's.
#pragma once
#include <stddef.h>  // NOLINT(modernize-deprecated-headers): C reads this

// CUDA's version is that of the toolkit whose headers are read beside these: tools/simt-nvcc says it, or lays it down as a header.
#if !defined(PLUMB_SIMT_CUDA_VERSION) && defined(__has_include)
#if __has_include(<plumb_simt_cuda_version.h>)
#include <plumb_simt_cuda_version.h>
#endif
#endif
#if !defined(PLUMB_SIMT_CUDA_VERSION)
#define PLUMB_SIMT_CUDA_VERSION 12000
#endif
#define CUDART_VERSION PLUMB_SIMT_CUDA_VERSION

// NOLINTBEGIN(modernize-use-using)
#define PLUMB_CUDA_ERRORS(X)                                                                            \
  X(cudaSuccess, 0, "no error")                                                                         \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                                       \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                                      \
  X(cudaErrorInitializationError, 3, "initialization error")                                            \
  X(cudaErrorCudartUnloading, 4, "cudart unloading")                                                    \
  X(cudaErrorProfilerDisabled, 5, "profiler disabled")                                                  \
  X(cudaErrorProfilerNotInitialized, 6, "profiler not initialized")                                     \
  X(cudaErrorProfilerAlreadyStarted, 7, "profiler already started")                                     \
  X(cudaErrorProfilerAlreadyStopped, 8, "profiler already stopped")                                     \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                 \
  X(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                           \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                                \
  X(cudaErrorInvalidHostPointer, 16, "invalid host pointer")                                            \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                        \
  X(cudaErrorInvalidTexture, 18, "invalid texture")                                                     \
  X(cudaErrorInvalidTextureBinding, 19, "invalid texture binding")                                      \
  X(cudaErrorInvalidChannelDescriptor, 20, "invalid channel descriptor")                                \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                           \
  X(cudaErrorAddressOfConstant, 22, "address of constant")                                              \
  X(cudaErrorTextureFetchFailed, 23, "texture fetch failed")                                            \
  X(cudaErrorTextureNotBound, 24, "texture not bound")                                                  \
  X(cudaErrorSynchronizationError, 25, "synchronization error")                                         \
  X(cudaErrorInvalidFilterSetting, 26, "linear filtering not supported for non-float type")             \
  X(cudaErrorInvalidNormSetting, 27, "invalid norm setting")                                            \
  X(cudaErrorMixedDeviceExecution, 28, "mixed device execution")                                        \
  X(cudaErrorNotYetImplemented, 31, "not yet implemented")                                              \
  X(cudaErrorMemoryValueTooLarge, 32, "memory value too large")                                         \
  X(cudaErrorStubLibrary, 34, "stub library")                                                           \
  X(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")    \
  X(cudaErrorCallRequiresNewerDriver, 36, "call requires newer driver")                                 \
  X(cudaErrorInvalidSurface, 37, "invalid surface")                                                     \
  X(cudaErrorDuplicateVariableName, 43, "duplicate variable name")                                      \
  X(cudaErrorDuplicateTextureName, 44, "duplicate texture name")                                        \
  X(cudaErrorDuplicateSurfaceName, 45, "duplicate surface name")                                        \
  X(cudaErrorDevicesUnavailable, 46, "devices unavailable")                                             \
  X(cudaErrorIncompatibleDriverContext, 49, "incompatible driver context")                              \
  X(cudaErrorMissingConfiguration, 52, "missing configuration")                                         \
  X(cudaErrorPriorLaunchFailure, 53, "prior launch failure")                                            \
  X(cudaErrorLaunchMaxDepthExceeded, 65, "launch max depth exceeded")                                   \
  X(cudaErrorLaunchFileScopedTex, 66, "launch file scoped tex")                                         \
  X(cudaErrorLaunchFileScopedSurf, 67, "launch file scoped surf")                                       \
  X(cudaErrorSyncDepthExceeded, 68, "sync depth exceeded")                                              \
  X(cudaErrorLaunchPendingCountExceeded, 69, "launch pending count exceeded")                           \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                      \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                       \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                              \
  X(cudaErrorDeviceNotLicensed, 102, "device not licensed")                                             \
  X(cudaErrorSoftwareValidityNotEstablished, 103, "software validity not established")                  \
  X(cudaErrorStartupFailure, 127, "startup failure")                                                    \
  X(cudaErrorInvalidKernelImage, 200, "invalid kernel image")                                           \
  X(cudaErrorDeviceUninitialized, 201, "device uninitialized")                                          \
  X(cudaErrorMapBufferObjectFailed, 205, "map buffer object failed")                                    \
  X(cudaErrorUnmapBufferObjectFailed, 206, "unmap buffer object failed")                                \
  X(cudaErrorArrayIsMapped, 207, "array is mapped")                                                     \
  X(cudaErrorAlreadyMapped, 208, "already mapped")                                                      \
  X(cudaErrorNoKernelImageForDevice, 209, "no kernel image for device")                                 \
  X(cudaErrorAlreadyAcquired, 210, "already acquired")                                                  \
  X(cudaErrorNotMapped, 211, "not mapped")                                                              \
  X(cudaErrorNotMappedAsArray, 212, "not mapped as array")                                              \
  X(cudaErrorNotMappedAsPointer, 213, "not mapped as pointer")                                          \
  X(cudaErrorECCUncorrectable, 214, "ECC uncorrectable")                                                \
  X(cudaErrorUnsupportedLimit, 215, "unsupported limit")                                                \
  X(cudaErrorDeviceAlreadyInUse, 216, "device already in use")                                          \
  X(cudaErrorPeerAccessUnsupported, 217, "peer access unsupported")                                     \
  X(cudaErrorInvalidPtx, 218, "invalid ptx")                                                            \
  X(cudaErrorInvalidGraphicsContext, 219, "invalid graphics context")                                   \
  X(cudaErrorNvlinkUncorrectable, 220, "nvlink uncorrectable")                                          \
  X(cudaErrorJitCompilerNotFound, 221, "jit compiler not found")                                        \
  X(cudaErrorUnsupportedPtxVersion, 222, "unsupported ptx version")                                     \
  X(cudaErrorJitCompilationDisabled, 223, "jit compilation disabled")                                   \
  X(cudaErrorUnsupportedExecAffinity, 224, "unsupported exec affinity")                                 \
  X(cudaErrorUnsupportedDevSideSync, 225, "unsupported dev side sync")                                  \
  X(cudaErrorContained, 226, "contained")                                                               \
  X(cudaErrorInvalidSource, 300, "invalid source")                                                      \
  X(cudaErrorFileNotFound, 301, "file not found")                                                       \
  X(cudaErrorSharedObjectSymbolNotFound, 302, "shared object symbol not found")                         \
  X(cudaErrorSharedObjectInitFailed, 303, "shared object init failed")                                  \
  X(cudaErrorOperatingSystem, 304, "operating system")                                                  \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                     \
  X(cudaErrorIllegalState, 401, "illegal state")                                                        \
  X(cudaErrorLossyQuery, 402, "lossy query")                                                            \
  X(cudaErrorSymbolNotFound, 500, "symbol not found")                                                   \
  X(cudaErrorNotReady, 600, "device not ready")                                                         \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                           \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                      \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                             \
  X(cudaErrorLaunchIncompatibleTexturing, 703, "launch incompatible texturing")                         \
  X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                           \
  X(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                             \
  X(cudaErrorSetOnActiveProcess, 708, "set on active process")                                          \
  X(cudaErrorContextIsDestroyed, 709, "context is destroyed")                                           \
  X(cudaErrorAssert, 710, "device-side assert triggered")                                               \
  X(cudaErrorTooManyPeers, 711, "too many peers")                                                       \
  X(cudaErrorHostMemoryAlreadyRegistered, 712,                                                          \
    "part or all of the requested memory range is already mapped")                                      \
  X(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region") \
  X(cudaErrorHardwareStackError, 714, "hardware stack error")                                           \
  X(cudaErrorIllegalInstruction, 715, "illegal instruction")                                            \
  X(cudaErrorMisalignedAddress, 716, "misaligned address")                                              \
  X(cudaErrorInvalidAddressSpace, 717, "invalid address space")                                         \
  X(cudaErrorInvalidPc, 718, "invalid pc")                                                              \
  X(cudaErrorLaunchFailure, 719, "stopped by a finding of the CPU executor")                            \
  X(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                   \
  X(cudaErrorTensorMemoryLeak, 721, "tensor memory leak")                                               \
  X(cudaErrorNotPermitted, 800, "operation not permitted")                                              \
  X(cudaErrorNotSupported, 801, "operation not supported")                                              \
  X(cudaErrorSystemNotReady, 802, "system not ready")                                                   \
  X(cudaErrorSystemDriverMismatch, 803, "system driver mismatch")                                       \
  X(cudaErrorCompatNotSupportedOnDevice, 804, "compat not supported on device")                         \
  X(cudaErrorMpsConnectionFailed, 805, "mps connection failed")                                         \
  X(cudaErrorMpsRpcFailure, 806, "mps rpc failure")                                                     \
  X(cudaErrorMpsServerNotReady, 807, "mps server not ready")                                            \
  X(cudaErrorMpsMaxClientsReached, 808, "mps max clients reached")                                      \
  X(cudaErrorMpsMaxConnectionsReached, 809, "mps max connections reached")                              \
  X(cudaErrorMpsClientTerminated, 810, "mps client terminated")                                         \
  X(cudaErrorCdpNotSupported, 811, "cdp not supported")                                                 \
  X(cudaErrorCdpVersionMismatch, 812, "cdp version mismatch")                                           \
  X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")         \
  X(cudaErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture")  \
  X(cudaErrorStreamCaptureMerge, 902, "stream capture merge")                                           \
  X(cudaErrorStreamCaptureUnmatched, 903, "capture was not ended in the same stream as it began")       \
  X(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                          \
  X(cudaErrorStreamCaptureIsolation, 905, "stream capture isolation")                                   \
  X(cudaErrorStreamCaptureImplicit, 906,                                                                \
    "operation would make the legacy stream depend on a capturing blocking stream")                     \
  X(cudaErrorCapturedEvent, 907, "captured event")                                                      \
  X(cudaErrorStreamCaptureWrongThread, 908, "stream capture wrong thread")                              \
  X(cudaErrorTimeout, 909, "timeout")                                                                   \
  X(cudaErrorGraphExecUpdateFailure, 910,                                                               \
    "the graph update was not performed because it included changes which violated constraints")        \
  X(cudaErrorExternalDevice, 911, "external device")                                                    \
  X(cudaErrorInvalidClusterSize, 912, "invalid cluster size")                                           \
  X(cudaErrorFunctionNotLoaded, 913, "function not loaded")                                             \
  X(cudaErrorInvalidResourceType, 914, "invalid resource type")                                         \
  X(cudaErrorInvalidResourceConfiguration, 915, "invalid resource configuration")                       \
  X(cudaErrorUnknown, 999, "unknown error")
enum cudaError {
#define PLUMB_CUDA_ERROR(name, value, text) name = value,
  PLUMB_CUDA_ERRORS(PLUMB_CUDA_ERROR)
#undef PLUMB_CUDA_ERROR
};
typedef enum cudaError cudaError_t;

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
  cudaDevAttrMaxTexture1DWidth = 21,
  cudaDevAttrMaxTexture2DWidth = 22,
  cudaDevAttrMaxTexture2DHeight = 23,
  cudaDevAttrMaxTexture3DWidth = 24,
  cudaDevAttrMaxTexture3DHeight = 25,
  cudaDevAttrMaxTexture3DDepth = 26,
  cudaDevAttrMaxTexture2DLayeredWidth = 27,
  cudaDevAttrMaxTexture2DLayeredHeight = 28,
  cudaDevAttrMaxTexture2DLayeredLayers = 29,
  cudaDevAttrSurfaceAlignment = 30,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrEccEnabled = 32,
  cudaDevAttrPciBusId = 33,
  cudaDevAttrPciDeviceId = 34,
  cudaDevAttrTccDriver = 35,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrAsyncEngineCount = 40,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrMaxTexture1DLayeredWidth = 42,
  cudaDevAttrMaxTexture1DLayeredLayers = 43,
  cudaDevAttrMaxTexture2DGatherWidth = 45,
  cudaDevAttrMaxTexture2DGatherHeight = 46,
  cudaDevAttrMaxTexture3DWidthAlt = 47,
  cudaDevAttrMaxTexture3DHeightAlt = 48,
  cudaDevAttrMaxTexture3DDepthAlt = 49,
  cudaDevAttrPciDomainId = 50,
  cudaDevAttrTexturePitchAlignment = 51,
  cudaDevAttrMaxTextureCubemapWidth = 52,
  cudaDevAttrMaxTextureCubemapLayeredWidth = 53,
  cudaDevAttrMaxTextureCubemapLayeredLayers = 54,
  cudaDevAttrMaxSurface1DWidth = 55,
  cudaDevAttrMaxSurface2DWidth = 56,
  cudaDevAttrMaxSurface2DHeight = 57,
  cudaDevAttrMaxSurface3DWidth = 58,
  cudaDevAttrMaxSurface3DHeight = 59,
  cudaDevAttrMaxSurface3DDepth = 60,
  cudaDevAttrMaxSurface1DLayeredWidth = 61,
  cudaDevAttrMaxSurface1DLayeredLayers = 62,
  cudaDevAttrMaxSurface2DLayeredWidth = 63,
  cudaDevAttrMaxSurface2DLayeredHeight = 64,
  cudaDevAttrMaxSurface2DLayeredLayers = 65,
  cudaDevAttrMaxSurfaceCubemapWidth = 66,
  cudaDevAttrMaxSurfaceCubemapLayeredWidth = 67,
  cudaDevAttrMaxSurfaceCubemapLayeredLayers = 68,
  cudaDevAttrMaxTexture1DLinearWidth = 69,
  cudaDevAttrMaxTexture2DLinearWidth = 70,
  cudaDevAttrMaxTexture2DLinearHeight = 71,
  cudaDevAttrMaxTexture2DLinearPitch = 72,
  cudaDevAttrMaxTexture2DMipmappedWidth = 73,
  cudaDevAttrMaxTexture2DMipmappedHeight = 74,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxTexture1DMipmappedWidth = 77,
  cudaDevAttrStreamPrioritiesSupported = 78,
  cudaDevAttrGlobalL1CacheSupported = 79,
  cudaDevAttrLocalL1CacheSupported = 80,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrIsMultiGpuBoard = 84,
  cudaDevAttrMultiGpuBoardGroupID = 85,
  cudaDevAttrHostNativeAtomicSupported = 86,
  cudaDevAttrSingleToDoublePrecisionPerfRatio = 87,
  cudaDevAttrPageableMemoryAccess = 88,
  cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrComputePreemptionSupported = 90,
  cudaDevAttrCanUseHostPointerForRegisteredMem = 91,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrCanFlushRemoteWrites = 98,
  cudaDevAttrHostRegisterSupported = 99,
  cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100,
  cudaDevAttrDirectManagedMemAccessFromHost = 101,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrMaxPersistingL2CacheSize = 108,
  cudaDevAttrMaxAccessPolicyWindowSize = 109,
  cudaDevAttrReservedSharedMemoryPerBlock = 111,
  cudaDevAttrSparseCudaArraySupported = 112,
  cudaDevAttrHostRegisterReadOnlySupported = 113,
  cudaDevAttrTimelineSemaphoreInteropSupported = 114,
  cudaDevAttrMemoryPoolsSupported = 115,
  cudaDevAttrGPUDirectRDMASupported = 116,
  cudaDevAttrGPUDirectRDMAFlushWritesOptions = 117,
  cudaDevAttrGPUDirectRDMAWritesOrdering = 118,
  cudaDevAttrMemoryPoolSupportedHandleTypes = 119,
  cudaDevAttrClusterLaunch = 120,
  cudaDevAttrDeferredMappingCudaArraySupported = 121,
  cudaDevAttrIpcEventSupport = 125,
  cudaDevAttrMemSyncDomainCount = 126,
  cudaDevAttrNumaConfig = 130,
  cudaDevAttrNumaId = 131,
  cudaDevAttrMpsEnabled = 133,
  cudaDevAttrHostNumaId = 134,
  cudaDevAttrD3D12CigSupported = 135,
  cudaDevAttrVulkanCigSupported = 138,
  cudaDevAttrGpuPciDeviceId = 139,
  cudaDevAttrGpuPciSubsystemId = 140,
  cudaDevAttrHostNumaMemoryPoolsSupported = 142,
  cudaDevAttrHostNumaMultinodeIpcSupported = 143,
  cudaDevAttrHostMemoryPoolsSupported = 144,
  cudaDevAttrOnlyPartialHostNativeAtomicSupported = 147
};
enum cudaComputeMode {
  cudaComputeModeDefault,
  cudaComputeModeExclusive,
  cudaComputeModeProhibited,
  cudaComputeModeExclusiveProcess
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeClusterDimMustBeSet = 10,
  cudaFuncAttributeRequiredClusterWidth = 11,
  cudaFuncAttributeRequiredClusterHeight = 12,
  cudaFuncAttributeRequiredClusterDepth = 13,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
  cudaFuncAttributeClusterSchedulingPolicyPreference = 15
};
enum cudaSharedCarveout {
  cudaSharedmemCarveoutDefault = -1,
  cudaSharedmemCarveoutMaxL1 = 0,
  cudaSharedmemCarveoutMaxShared = 100
};
enum cudaDeviceP2PAttr {
  cudaDevP2PAttrPerformanceRank = 1,
  cudaDevP2PAttrAccessSupported,
  cudaDevP2PAttrNativeAtomicSupported,
  cudaDevP2PAttrCudaArrayAccessSupported
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
enum cudaMemAllocationType { cudaMemAllocationTypeInvalid, cudaMemAllocationTypePinned };
enum cudaMemAllocationHandleType {
  cudaMemHandleTypeNone = 0,
  cudaMemHandleTypePosixFileDescriptor = 1,
  cudaMemHandleTypeWin32 = 2
};
struct cudaMemLocation {
  enum cudaMemLocationType type;
  int id;
};
struct cudaMemPoolProps {
  enum cudaMemAllocationType allocType;
  enum cudaMemAllocationHandleType handleTypes;
  struct cudaMemLocation location;
  void* win32SecurityAttributes;
  size_t maxSize;
};
struct cudaPointerAttributes {
  enum cudaMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
};
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes,
      preferredShmemCarveout;
};
typedef struct CUuuid_st {
  char bytes[16];
} cudaUUID_t;
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor,
      reservedSharedMemPerBlock, totalConstMem, memPitch, textureAlignment, texturePitchAlignment;
  int major, minor, clusterLaunch, multiProcessorCount, warpSize, maxThreadsPerBlock,
      maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor, cooperativeLaunch;
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
  int maxTexture1D, maxTexture1DMipmap, maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3],
      maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2],
      maxTexture2DLayered[3], maxTextureCubemapLayered[2], maxTexture1DLinear;
  int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3],
      maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
  size_t surfaceAlignment;
  unsigned luidDeviceNodeMask, gpuDirectRDMAFlushWritesOptions, memoryPoolSupportedHandleTypes,
      gpuPciDeviceID, gpuPciSubsystemID;
  int sparseCudaArraySupported, hostRegisterReadOnlySupported, timelineSemaphoreInteropSupported,
      gpuDirectRDMASupported, gpuDirectRDMAWritesOrdering, deferredMappingCudaArraySupported,
      ipcEventSupported, unifiedFunctionPointers, deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId,
      hostNumaMultinodeIpcSupported;
};
struct CUstream_st;
struct CUevent_st;
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
#define CUDA_IPC_HANDLE_SIZE 64
typedef struct cudaIpcMemHandle_st {
  char reserved[CUDA_IPC_HANDLE_SIZE];
} cudaIpcMemHandle_t;
typedef struct cudaIpcEventHandle_st {
  char reserved[CUDA_IPC_HANDLE_SIZE];
} cudaIpcEventHandle_t;
#define cudaIpcMemLazyEnablePeerAccess 0x01
// NOLINTEND(modernize-use-using)
#define cudaCpuDeviceId (-1)
#define cudaInvalidDeviceId (-2)
#define cudaStreamDefault 0
#define cudaStreamNonBlocking 1
#define cudaEventDefault 0
#define cudaEventBlockingSync 1
#define cudaEventDisableTiming 2
#define cudaEventInterprocess 4
#define cudaEventRecordDefault 0
#define cudaEventWaitDefault 0
#define cudaHostAllocDefault 0
#define cudaHostAllocPortable 1
#define cudaHostAllocMapped 2
#define cudaHostAllocWriteCombined 4
#define cudaHostRegisterDefault 0
#define cudaHostRegisterPortable 1
#define cudaHostRegisterMapped 2
#define cudaHostRegisterIoMemory 4
#define cudaHostRegisterReadOnly 8
#define cudaMemAttachGlobal 1
#define cudaMemAttachHost 2
#define cudaMemAttachSingle 4
#define cudaDeviceScheduleAuto 0
#define cudaDeviceScheduleSpin 1
#define cudaDeviceScheduleYield 2
#define cudaDeviceScheduleBlockingSync 4
#define cudaDeviceBlockingSync 4
#define cudaDeviceMapHost 8
#define cudaDeviceLmemResizeToMax 16
#define cudaOccupancyDefault 0
#define cudaOccupancyDisableCachingOverride 1
