#include "gpu/simt/host/api/driver/driver.hpp"

#include <algorithm>
#include <cstring>

#include "gpu/simt/host/api/driver/driver_calls.hpp"
#include "gpu/simt/host/api/runtime/devices.hpp"
#include "gpu/simt/host/api/runtime/operations.hpp"

using plumb::simt::Here;
using plumb::simt::pointer;
using plumb::simt::result_of;

namespace {

// The device has one.
CUcontext the_context() {
  static int context;
  return reinterpret_cast<CUcontext>(&context);
}

CUresult fill(CUdeviceptr p, unsigned value, unsigned element_bytes, std::size_t count, CUstream s,
              Here here) {
  plumb::simt::begin_by_itself();
  const auto lock = plumb::simt::enter_engine();
  cudaMemsetParams fill{};
  fill.dst = pointer(p);
  fill.value = value;
  fill.elementSize = element_bytes;
  fill.width = count;
  fill.height = 1;
  if (!plumb::simt::has_address(fill)) return CUDA_ERROR_INVALID_VALUE;
  return result_of(plumb::simt::queue(s, cudaGraphNodeTypeMemset, plumb::simt::fill_operation(fill, here)));
}

}  // namespace

CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = nullptr;
  switch (error) {
#define PLUMB_DRIVER_ERROR(word, value) \
  case word:                            \
    *name = #word;                      \
    break;
    PLUMB_DRIVER_ERRORS(PLUMB_DRIVER_ERROR)
#undef PLUMB_DRIVER_ERROR
  }
  return *name != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGetErrorString(CUresult error, const char** text) { return cuGetErrorName(error, text); }

CUresult cuDeviceGetCount(int* count) { return result_of(cudaGetDeviceCount(count)); }
CUresult cuDeviceGet(CUdevice* device, int number) {
  *device = number;
  return number == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  if (bytes < 1) return CUDA_ERROR_INVALID_VALUE;
  cudaDeviceProp p{};
  const cudaError_t e = cudaGetDeviceProperties(&p, device);
  const std::size_t length = std::min(std::strlen(p.name), static_cast<std::size_t>(bytes) - 1);
  std::memcpy(name, p.name, length);
  name[length] = 0;
  return result_of(e);
}
CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  cudaDeviceProp p{};
  const cudaError_t e = cudaGetDeviceProperties(&p, device);
  *bytes = p.totalGlobalMem;
  return result_of(e);
}
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  cudaDeviceProp p{};
  const cudaError_t e = cudaGetDeviceProperties(&p, device);
  *major = p.major;
  *minor = p.minor;
  return result_of(e);
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return result_of(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
}

CUresult cuCtxCreate(CUcontext* context, unsigned, CUdevice device) {
  return cuDevicePrimaryCtxRetain(context, device);
}
CUresult cuCtxDestroy(CUcontext) { return cuCtxSynchronize(); }
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = the_context();
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  return context == nullptr || context == the_context() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult cuCtxPushCurrent(CUcontext context) { return cuCtxSetCurrent(context); }
CUresult cuCtxPopCurrent(CUcontext* context) {
  return context != nullptr ? cuCtxGetCurrent(context) : CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return CUDA_SUCCESS;
}
// No context is a peer of the one there is.
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned) { return CUDA_ERROR_INVALID_CONTEXT; }
CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return result_of(cudaDeviceCanAccessPeer(can, device, peer));
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  cudaDeviceProp p{};
  const cudaError_t e = cudaGetDeviceProperties(&p, device);
  *uuid = p.uuid;
  return result_of(e);
}
CUresult cuCtxSynchronize() { return result_of(cudaDeviceSynchronize()); }
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  *context = the_context();
  return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) { return CUDA_SUCCESS; }

CUresult cuMemAlloc(CUdeviceptr* p, std::size_t bytes) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  void* memory = nullptr;
  const cudaError_t e = cudaMalloc(&memory, bytes);
  *p = reinterpret_cast<CUdeviceptr>(memory);
  return result_of(e);
}
CUresult cuMemFree(CUdeviceptr p) { return result_of(cudaFree(pointer(p))); }
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, Here here) {
  return result_of(cudaMemcpy(pointer(to), pointer(from), bytes, cudaMemcpyDefault, here));
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes, Here here) {
  return result_of(cudaMemcpy(pointer(to), from, bytes, cudaMemcpyHostToDevice, here));
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes, Here here) {
  return result_of(cudaMemcpy(to, pointer(from), bytes, cudaMemcpyDeviceToHost, here));
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, Here here) {
  return result_of(cudaMemcpy(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice, here));
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream s, Here here) {
  return result_of(cudaMemcpyAsync(pointer(to), from, bytes, cudaMemcpyHostToDevice, s, here));
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream s, Here here) {
  return result_of(cudaMemcpyAsync(to, pointer(from), bytes, cudaMemcpyDeviceToHost, s, here));
}
CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char value, std::size_t count, CUstream s, Here here) {
  return fill(p, value, 1, count, s, here);
}
CUresult cuMemsetD16Async(CUdeviceptr p, unsigned short value, std::size_t count, CUstream s, Here here) {
  return fill(p, value, 2, count, s, here);
}
CUresult cuMemsetD32Async(CUdeviceptr p, unsigned value, std::size_t count, CUstream s, Here here) {
  return fill(p, value, 4, count, s, here);
}
CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return result_of(cudaStreamCreateWithFlags(stream, flags));
}
CUresult cuStreamDestroy(CUstream stream) { return result_of(cudaStreamDestroy(stream)); }
CUresult cuStreamSynchronize(CUstream stream) { return result_of(cudaStreamSynchronize(stream)); }
