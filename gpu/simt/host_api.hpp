// The part of the CUDA runtime that a small program's host code uses, over host memory: so that a user's own .cu, with its own main(),
// runs on the CPU executor unchanged. Device memory is an array the executor watches; streams and events order launches, and
// nothing else does. A program that never calls begin_run() gets one at its first launch or allocation, with the seed in
// PLUMB_SIMT_SEED, and its findings on stderr when it exits, with exit code 1 if there are any.
#pragma once
#include <cstddef>

// What other headers ask for to know that the CUDA runtime is there.
#if !defined(__DRIVER_TYPES_H__)
#define __DRIVER_TYPES_H__
#endif
#define __CUDA_RUNTIME_H__
#define CUDART_VERSION 12000
#define CUDART_CB

#include "gpu/simt/vector_types.hpp"

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidDevice = 101,
  cudaErrorNotReady = 600,
  cudaErrorLaunchFailure = 719
};
using cudaError = cudaError_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrIntegrated = 18,
  cudaDevAttrClockRate = 13,
  cudaDevAttrComputeMode = 20,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
enum cudaComputeMode { cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited };
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout
};
struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin;
  int major, minor, multiProcessorCount, warpSize, maxThreadsPerBlock, maxThreadsPerMultiProcessor,
      cooperativeLaunch;
  int computeMode, clockRate, memoryClockRate, memoryBusWidth, l2CacheSize, maxThreadsDim[3], maxGridSize[3];
  int regsPerBlock, concurrentKernels, canMapHostMemory, unifiedAddressing, managedMemory;
};
struct CUstream_st;
struct CUevent_st;
using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;
constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
constexpr unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2;
constexpr unsigned cudaHostAllocDefault = 0, cudaMemAttachGlobal = 1;

namespace plumb::simt {
cudaError_t host_malloc(void** p, std::size_t bytes, bool watched);
cudaError_t host_free(void* p);
cudaError_t host_copy(void* to, const void* from, std::size_t bytes, void* stream, bool waits);
cudaError_t host_fill(void* p, int byte, std::size_t bytes, void* stream, bool waits);
cudaError_t host_status();
}  // namespace plumb::simt

template <class T>
cudaError_t cudaMalloc(T** p, std::size_t bytes) {
  return plumb::simt::host_malloc(reinterpret_cast<void**>(p), bytes, true);
}
template <class T>
cudaError_t cudaMallocManaged(T** p, std::size_t bytes, unsigned = cudaMemAttachGlobal) {
  return plumb::simt::host_malloc(reinterpret_cast<void**>(p), bytes, true);
}
template <class T>
cudaError_t cudaMallocAsync(T** p, std::size_t bytes, cudaStream_t) {
  return plumb::simt::host_malloc(reinterpret_cast<void**>(p), bytes, true);
}
template <class T>
cudaError_t cudaMallocHost(T** p, std::size_t bytes, unsigned = 0) {
  return plumb::simt::host_malloc(reinterpret_cast<void**>(p), bytes, false);
}
template <class T>
cudaError_t cudaHostAlloc(T** p, std::size_t bytes, unsigned = 0) {
  return plumb::simt::host_malloc(reinterpret_cast<void**>(p), bytes, false);
}
inline cudaError_t cudaFree(void* p) { return plumb::simt::host_free(p); }
inline cudaError_t cudaFreeAsync(void* p, cudaStream_t) { return plumb::simt::host_free(p); }
inline cudaError_t cudaFreeHost(void* p) { return plumb::simt::host_free(p); }
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return plumb::simt::host_copy(to, from, bytes, nullptr, true);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                                   cudaStream_t s = nullptr) {
  return plumb::simt::host_copy(to, from, bytes, s, false);
}
inline cudaError_t cudaMemset(void* p, int byte, std::size_t bytes) {
  return plumb::simt::host_fill(p, byte, bytes, nullptr, true);
}
inline cudaError_t cudaMemsetAsync(void* p, int byte, std::size_t bytes, cudaStream_t s = nullptr) {
  return plumb::simt::host_fill(p, byte, bytes, s, false);
}
template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice) {
  return plumb::simt::host_copy(const_cast<char*>(reinterpret_cast<const char*>(&symbol)) + offset, from,
                                bytes, nullptr, true);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  return plumb::simt::host_copy(to, reinterpret_cast<const char*>(&symbol) + offset, bytes, nullptr, true);
}
template <class T>
cudaError_t cudaGetSymbolAddress(void** p, T& symbol) {
  *p = const_cast<char*>(reinterpret_cast<const char*>(&symbol));
  return cudaSuccess;
}
template <class K>
cudaError_t cudaFuncSetAttribute(K, cudaFuncAttribute, int) {
  return cudaSuccess;
}
template <class K>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, K, int, std::size_t) {
  *blocks = 2;
  return cudaSuccess;
}

template <class K>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, K, std::size_t = 0, int = 0) {
  *grid = 8;
  *block = 256;
  return cudaSuccess;
}
template <class K, class F>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, K, F, int = 0) {
  *grid = 8;
  *block = 256;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorString(cudaError_t e);
const char* cudaGetErrorName(cudaError_t e);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();
cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);
