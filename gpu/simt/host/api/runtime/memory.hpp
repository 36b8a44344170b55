// Memory, copies and fills.
#pragma once
#include "gpu/simt/host/api/runtime/types.hpp"

namespace plumb::simt {
enum class Memory : unsigned char { device, managed, pinned, array };
cudaError_t host_malloc(void** p, std::size_t bytes, Memory kind);
/// In the order of a stream, which may be one that is being captured.
cudaError_t host_malloc_async(void** p, std::size_t bytes, cudaStream_t stream, Here here);
cudaError_t host_malloc_pitch(void** p, std::size_t* pitch, std::size_t width, std::size_t height);
cudaError_t host_device_pointer(void** device, void* host);
/// Also of a pointer to const, which a program may well ask memory for.
template <class T>
void** as_void(T** p) {
  return reinterpret_cast<void**>(const_cast<std::remove_cv_t<T>**>(p));
}
template <class T>
char* symbol_address(T& symbol) {
  return const_cast<char*>(reinterpret_cast<const char*>(&symbol));
}
cudaError_t host_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream,
                      bool waits, Here here);
}  // namespace plumb::simt

// ---- memory ----
template <class T>
cudaError_t cudaMalloc(T** p, std::size_t bytes) {
  return plumb::simt::host_malloc(plumb::simt::as_void(p), bytes, plumb::simt::Memory::device);
}
template <class T>
cudaError_t cudaMallocManaged(T** p, std::size_t bytes, unsigned = cudaMemAttachGlobal) {
  return plumb::simt::host_malloc(plumb::simt::as_void(p), bytes, plumb::simt::Memory::managed);
}
template <class T>
cudaError_t cudaMallocAsync(T** p, std::size_t bytes, cudaStream_t stream, PLUMB_SIMT_HERE) {
  return plumb::simt::host_malloc_async(plumb::simt::as_void(p), bytes, stream, here);
}
template <class T>
cudaError_t cudaMallocFromPoolAsync(T** p, std::size_t bytes, cudaMemPool_t, cudaStream_t s,
                                    PLUMB_SIMT_HERE) {
  return cudaMallocAsync(p, bytes, s, here);
}
template <class T>
cudaError_t cudaMallocAsync(T** p, std::size_t bytes, cudaMemPool_t pool, cudaStream_t s, PLUMB_SIMT_HERE) {
  return cudaMallocFromPoolAsync(p, bytes, pool, s, here);
}
template <class T>
cudaError_t cudaMallocHost(T** p, std::size_t bytes, unsigned = 0) {
  return plumb::simt::host_malloc(plumb::simt::as_void(p), bytes, plumb::simt::Memory::pinned);
}
/// Not a template, so that its address has a type.
inline cudaError_t cudaMallocHost(void** p, std::size_t bytes) {
  return plumb::simt::host_malloc(p, bytes, plumb::simt::Memory::pinned);
}
template <class T>
cudaError_t cudaHostAlloc(T** p, std::size_t bytes, unsigned = 0) {
  return plumb::simt::host_malloc(plumb::simt::as_void(p), bytes, plumb::simt::Memory::pinned);
}

template <class T>
cudaError_t cudaMallocPitch(T** p, std::size_t* pitch, std::size_t width, std::size_t height) {
  return plumb::simt::host_malloc_pitch(plumb::simt::as_void(p), pitch, width, height);
}
cudaError_t cudaFree(void* p);
cudaError_t cudaFreeAsync(void* p, cudaStream_t stream, PLUMB_SIMT_HERE);
cudaError_t cudaFreeHost(void* p);
cudaError_t cudaHostRegister(void* p, std::size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* p);

template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
  return plumb::simt::host_device_pointer(plumb::simt::as_void(device), host);
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
enum cudaGraphMemAttributeType {
  cudaGraphMemAttrUsedMemCurrent,
  cudaGraphMemAttrUsedMemHigh,
  cudaGraphMemAttrReservedMemCurrent,
  cudaGraphMemAttrReservedMemHigh
};
cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value);
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value);
inline cudaError_t cudaDeviceGraphMemTrim(int) { return cudaSuccess; }
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) { return cudaSuccess; }
/// All pools are one: memory is the device's.
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties);
inline cudaError_t cudaMemPoolDestroy(cudaMemPool_t) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t) {
  return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}
enum cudaMemAccessFlags {
  cudaMemAccessFlagsProtNone = 0,
  cudaMemAccessFlagsProtRead = 1,
  cudaMemAccessFlagsProtReadWrite = 3
};
struct cudaMemAccessDesc {
  cudaMemLocation location;
  cudaMemAccessFlags flags;
};
/// The one device may always.
inline cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*, std::size_t) {
  return cudaSuccess;
}
inline cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t, cudaMemLocation*) {
  *flags = cudaMemAccessFlagsProtReadWrite;
  return cudaSuccess;
}

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
/// Rows of `pitch` bytes, a plane after another.
inline cudaError_t cudaMalloc3D(cudaPitchedPtr* p, cudaExtent extent) {
  void* data = nullptr;
  std::size_t pitch = 0;
  const cudaError_t e =
      plumb::simt::host_malloc_pitch(&data, &pitch, extent.width, extent.height * extent.depth);
  if (e == cudaSuccess) *p = {data, pitch, extent.width, extent.height};
  return e;
}
inline cudaError_t cudaMemset3D(cudaPitchedPtr p, int byte, cudaExtent extent, PLUMB_SIMT_HERE) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    char* const plane = static_cast<char*>(p.ptr) + z * p.ysize * p.pitch;
    const cudaError_t e = cudaMemset2D(plane, p.pitch, byte, extent.width, extent.height, here);
    if (e != cudaSuccess) return e;
  }
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                  std::size_t bytes, PLUMB_SIMT_HERE) {
  if (to_device != 0 || from_device != 0) return cudaErrorInvalidDevice;
  return plumb::simt::host_copy(to, from, bytes, cudaMemcpyDeviceToDevice, nullptr, true, here);
}
inline cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                       std::size_t bytes, cudaStream_t s = nullptr, PLUMB_SIMT_HERE) {
  if (to_device != 0 || from_device != 0) return cudaErrorInvalidDevice;
  return plumb::simt::host_copy(to, from, bytes, cudaMemcpyDeviceToDevice, s, false, here);
}

// ---- memory and events of other processes: a program that asks for them ends with exit code 3 ----
namespace plumb::simt {
cudaError_t shared_with_processes(const char* what, Here here);
}  // namespace plumb::simt
inline cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*, PLUMB_SIMT_HERE) {
  return plumb::simt::shared_with_processes("cudaIpcGetMemHandle", here);
}
inline cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned, PLUMB_SIMT_HERE) {
  return plumb::simt::shared_with_processes("cudaIpcOpenMemHandle", here);
}
inline cudaError_t cudaIpcCloseMemHandle(void*, PLUMB_SIMT_HERE) {
  return plumb::simt::shared_with_processes("cudaIpcCloseMemHandle", here);
}
inline cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t, PLUMB_SIMT_HERE) {
  return plumb::simt::shared_with_processes("cudaIpcGetEventHandle", here);
}
inline cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t, PLUMB_SIMT_HERE) {
  return plumb::simt::shared_with_processes("cudaIpcOpenEventHandle", here);
}
