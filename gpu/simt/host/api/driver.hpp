// The driver's API as far as it stands beside the runtime's: the device, its one context, memory, fills and streams. A module of code for a
// device cannot be had: a program that asks for one ends with exit code 3.
#pragma once
#include <cstddef>

#include "gpu/simt/host/api/memory.hpp"
#include "gpu/simt/host/api/streams.hpp"
#include "gpu/simt/host/api/types.hpp"

// The values are the driver's, which are the runtime's.
#define PLUMB_DRIVER_ERRORS(X)       \
  X(CUDA_SUCCESS, 0)                 \
  X(CUDA_ERROR_INVALID_VALUE, 1)     \
  X(CUDA_ERROR_OUT_OF_MEMORY, 2)     \
  X(CUDA_ERROR_NOT_INITIALIZED, 3)   \
  X(CUDA_ERROR_DEINITIALIZED, 4)     \
  X(CUDA_ERROR_NO_DEVICE, 100)       \
  X(CUDA_ERROR_INVALID_DEVICE, 101)  \
  X(CUDA_ERROR_INVALID_CONTEXT, 201) \
  X(CUDA_ERROR_INVALID_HANDLE, 400)  \
  X(CUDA_ERROR_NOT_FOUND, 500)       \
  X(CUDA_ERROR_NOT_READY, 600)       \
  X(CUDA_ERROR_ILLEGAL_ADDRESS, 700) \
  X(CUDA_ERROR_LAUNCH_FAILED, 719)   \
  X(CUDA_ERROR_NOT_SUPPORTED, 801)   \
  X(CUDA_ERROR_UNKNOWN, 999)
enum CUresult {
#define PLUMB_DRIVER_ERROR(name, value) name = value,
  PLUMB_DRIVER_ERRORS(PLUMB_DRIVER_ERROR)
#undef PLUMB_DRIVER_ERROR
};
using CUdeviceptr = unsigned long long;
using CUdevice = int;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;
enum CUjit_option : int {};
// What is not here can be asked for by its cudaDeviceAttr, which has the same number.
enum CUdevice_attribute {
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
  CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
  CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
  CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
};
enum CUcomputemode { CU_COMPUTEMODE_DEFAULT = 0, CU_COMPUTEMODE_PROHIBITED = 2 };
struct CUctxCreateParams {
  void* execAffinityParams;
  int numExecAffinityParams;
  void* cigParams;
};
enum CUstream_flags { CU_STREAM_DEFAULT = 0, CU_STREAM_NON_BLOCKING = 1 };
enum CUctx_flags { CU_CTX_SCHED_AUTO = 0, CU_CTX_SCHED_SPIN = 1, CU_CTX_SCHED_BLOCKING_SYNC = 4 };

CUresult cuGetErrorString(CUresult error, const char** text);
CUresult cuGetErrorName(CUresult error, const char** name);
inline CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int* version);
CUresult cuDeviceGetCount(int* count);
CUresult cuDeviceGet(CUdevice* device, int number);
CUresult cuDeviceGetName(char* name, int bytes, CUdevice device);
CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device);
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device);
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device);
CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device);
inline CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams*, unsigned flags, CUdevice device) {
  return cuCtxCreate(context, flags, device);
}
CUresult cuCtxDestroy(CUcontext context);
CUresult cuCtxGetCurrent(CUcontext* context);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuCtxSynchronize();
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device);
CUresult cuDevicePrimaryCtxRelease(CUdevice device);

CUresult cuMemAlloc(CUdeviceptr* p, std::size_t bytes);
CUresult cuMemFree(CUdeviceptr p);
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes, PLUMB_SIMT_HERE);
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes, PLUMB_SIMT_HERE);
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, PLUMB_SIMT_HERE);
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream s, PLUMB_SIMT_HERE);
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream s, PLUMB_SIMT_HERE);
/// `count` elements of that many bits.
CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char value, std::size_t count, CUstream s, PLUMB_SIMT_HERE);
CUresult cuMemsetD16Async(CUdeviceptr p, unsigned short value, std::size_t count, CUstream s,
                          PLUMB_SIMT_HERE);
CUresult cuMemsetD32Async(CUdeviceptr p, unsigned value, std::size_t count, CUstream s, PLUMB_SIMT_HERE);
inline CUresult cuMemsetD8(CUdeviceptr p, unsigned char value, std::size_t count, PLUMB_SIMT_HERE) {
  return cuMemsetD8Async(p, value, count, nullptr, here);
}
inline CUresult cuMemsetD16(CUdeviceptr p, unsigned short value, std::size_t count, PLUMB_SIMT_HERE) {
  return cuMemsetD16Async(p, value, count, nullptr, here);
}
inline CUresult cuMemsetD32(CUdeviceptr p, unsigned value, std::size_t count, PLUMB_SIMT_HERE) {
  return cuMemsetD32Async(p, value, count, nullptr, here);
}
CUresult cuStreamCreate(CUstream* stream, unsigned flags);
CUresult cuStreamDestroy(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);

// ---- what ends a program ----
CUresult cuModuleLoad(CUmodule* module, const char* file, PLUMB_SIMT_HERE);
CUresult cuModuleLoadData(CUmodule* module, const void* image, PLUMB_SIMT_HERE);
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned options, CUjit_option* names,
                            void** values, PLUMB_SIMT_HERE);
CUresult cuModuleUnload(CUmodule module, PLUMB_SIMT_HERE);
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name, PLUMB_SIMT_HERE);
CUresult cuModuleGetGlobal(CUdeviceptr* p, std::size_t* bytes, CUmodule module, const char* name,
                           PLUMB_SIMT_HERE);
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared_bytes, CUstream stream, void** arguments, void** extra,
                        PLUMB_SIMT_HERE);
