// The driver's API as far as it stands beside the runtime's: the device, its one context, memory, fills and streams.
#pragma once
#include <cstddef>

#include "gpu/simt/host/api/driver/driver_enums.hpp"
#include "gpu/simt/host/api/runtime/memory.hpp"
#include "gpu/simt/host/api/runtime/streams.hpp"
#include "gpu/simt/host/api/runtime/types.hpp"

using CUdeviceptr = unsigned long long;
using CUdevice = int;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;
using CUuuid = CUuuid_st;
using CUlinkState = struct CUlinkState_st*;
struct CUctxCreateParams {
  void* execAffinityParams;
  int numExecAffinityParams;
  void* cigParams;
};

CUresult cuGetErrorString(CUresult error, const char** text);
CUresult cuGetErrorName(CUresult error, const char** name);
inline CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
inline CUresult cuDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return CUDA_SUCCESS;
}
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
CUresult cuCtxPushCurrent(CUcontext context);
CUresult cuCtxPopCurrent(CUcontext* context);
CUresult cuCtxGetDevice(CUdevice* device);
CUresult cuCtxSynchronize();
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags);
CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer);
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device);
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device);
CUresult cuDevicePrimaryCtxRelease(CUdevice device);

CUresult cuMemAlloc(CUdeviceptr* p, std::size_t bytes);
CUresult cuMemFree(CUdeviceptr p);
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, PLUMB_SIMT_HERE);
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
