// CUDA arrays, texture and surface objects. An array is a plain grid in the device's memory, row by row.
#pragma once
#include <climits>

#include "gpu/simt/host/api/runtime/memory.hpp"
#include "gpu/simt/language/texture_types.hpp"

constexpr unsigned cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2,
                   cudaArrayCubemap = 4, cudaArrayTextureGather = 8;
using cudaArray_const_t = const cudaArray*;
struct cudaMipmappedArray;
using cudaMipmappedArray_t = cudaMipmappedArray*;
enum cudaResourceType {
  cudaResourceTypeArray,
  cudaResourceTypeMipmappedArray,
  cudaResourceTypeLinear,
  cudaResourceTypePitch2D
};
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      cudaMipmappedArray_t mipmap;
    } mipmap;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
};
struct cudaResourceViewDesc;  // a null pointer alone is taken

inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}
namespace plumb::simt {
template <class Part>
cudaChannelFormatDesc channels(int count) {
  const int bits = 8 * sizeof(Part);
  const bool is_float = static_cast<Part>(0.5) != Part{0}, is_signed = static_cast<Part>(-1) < Part{0};
  return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0,
          is_float    ? cudaChannelFormatKindFloat
          : is_signed ? cudaChannelFormatKindSigned
                      : cudaChannelFormatKindUnsigned};
}
template <class T>
auto channels_of(const T*) -> decltype(T::x, cudaChannelFormatDesc{}) {
  return channels<decltype(T::x)>(sizeof(T) / sizeof(T::x));
}
template <class T>
auto channels_of(const T*) -> decltype(static_cast<T>(0.5) < T{}, cudaChannelFormatDesc{}) {
  return channels<T>(1);
}
}  // namespace plumb::simt
template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  return plumb::simt::channels_of(static_cast<const T*>(nullptr));
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf() { return {16, 0, 0, 0, cudaChannelFormatKindFloat}; }

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, std::size_t width,
                            std::size_t height = 0, unsigned flags = cudaArrayDefault);
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned flags = cudaArrayDefault);
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array);
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array);
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array, const cudaChannelFormatDesc* format,
                                     cudaExtent extent, unsigned levels, unsigned flags = 0);
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level_array, cudaMipmappedArray_t array, unsigned level);
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array);

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x_bytes, std::size_t y, const void* from,
                                     std::size_t pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream = nullptr, PLUMB_SIMT_HERE);
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x_bytes, std::size_t y, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                PLUMB_SIMT_HERE);
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from,
                                       std::size_t x_bytes, std::size_t y, std::size_t width,
                                       std::size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr,
                                       PLUMB_SIMT_HERE);
cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x_bytes,
                                  std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                  PLUMB_SIMT_HERE);
cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x_bytes, std::size_t y, const void* from,
                              std::size_t bytes, cudaMemcpyKind kind, PLUMB_SIMT_HERE);
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x_bytes, std::size_t y,
                                std::size_t bytes, cudaMemcpyKind kind, PLUMB_SIMT_HERE);

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* how, const cudaResourceViewDesc* view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object);

// ---- references, which CUDA 12 dropped ----
cudaError_t cudaBindTexture(std::size_t* offset, const textureReference* reference, const void* data,
                            const cudaChannelFormatDesc* format, std::size_t bytes = UINT_MAX);
cudaError_t cudaBindTexture2D(std::size_t* offset, const textureReference* reference, const void* data,
                              const cudaChannelFormatDesc* format, std::size_t width, std::size_t height,
                              std::size_t pitch);
cudaError_t cudaBindTextureToArray(const textureReference* reference, cudaArray_const_t array,
                                   const cudaChannelFormatDesc* format);
cudaError_t cudaUnbindTexture(const textureReference* reference);
cudaError_t cudaGetTextureAlignmentOffset(std::size_t* offset, const textureReference* reference);
cudaError_t cudaBindSurfaceToArray(const surfaceReference* reference, cudaArray_const_t array,
                                   const cudaChannelFormatDesc* format);

namespace plumb::simt {
template <class T>
cudaChannelFormatDesc format_of(const textureReference& reference) {
  return reference.channelDesc.x != 0 ? reference.channelDesc : cudaCreateChannelDesc<T>();
}
}  // namespace plumb::simt
template <class T, int dims, cudaTextureReadMode mode>
cudaError_t cudaBindTexture(std::size_t* offset, const plumb::simt::texture<T, dims, mode>& reference,
                            const void* data, const cudaChannelFormatDesc& format,
                            std::size_t bytes = UINT_MAX) {
  return cudaBindTexture(offset, &reference, data, &format, bytes);
}
template <class T, int dims, cudaTextureReadMode mode>
cudaError_t cudaBindTexture(std::size_t* offset, const plumb::simt::texture<T, dims, mode>& reference,
                            const void* data, std::size_t bytes = UINT_MAX) {
  return cudaBindTexture(offset, reference, data, plumb::simt::format_of<T>(reference), bytes);
}
template <class T, int dims, cudaTextureReadMode mode>
cudaError_t cudaBindTexture2D(std::size_t* offset, const plumb::simt::texture<T, dims, mode>& reference,
                              const void* data, const cudaChannelFormatDesc& format, std::size_t width,
                              std::size_t height, std::size_t pitch) {
  return cudaBindTexture2D(offset, &reference, data, &format, width, height, pitch);
}
template <class T, int dims, cudaTextureReadMode mode>
cudaError_t cudaBindTexture2D(std::size_t* offset, const plumb::simt::texture<T, dims, mode>& reference,
                              const void* data, std::size_t width, std::size_t height, std::size_t pitch) {
  return cudaBindTexture2D(offset, reference, data, plumb::simt::format_of<T>(reference), width, height,
                           pitch);
}
template <class T, int dims, cudaTextureReadMode mode>
cudaError_t cudaBindTextureToArray(const plumb::simt::texture<T, dims, mode>& reference,
                                   cudaArray_const_t array, const cudaChannelFormatDesc& format) {
  return cudaBindTextureToArray(&reference, array, &format);
}
template <class T, int dims, cudaTextureReadMode mode>
cudaError_t cudaBindTextureToArray(const plumb::simt::texture<T, dims, mode>& reference,
                                   cudaArray_const_t array) {
  return cudaBindTextureToArray(&reference, array, nullptr);
}
template <class T, int dims, cudaTextureReadMode mode>
cudaError_t cudaUnbindTexture(const plumb::simt::texture<T, dims, mode>& reference) {
  return cudaUnbindTexture(&reference);
}
template <class T, int dims, cudaTextureReadMode mode>
cudaError_t cudaGetTextureAlignmentOffset(std::size_t* offset,
                                          const plumb::simt::texture<T, dims, mode>& reference) {
  return cudaGetTextureAlignmentOffset(offset, &reference);
}
template <class T, int dims>
cudaError_t cudaBindSurfaceToArray(const plumb::simt::surface<T, dims>& reference, cudaArray_const_t array,
                                   const cudaChannelFormatDesc& format) {
  return cudaBindSurfaceToArray(&reference, array, &format);
}
template <class T, int dims>
cudaError_t cudaBindSurfaceToArray(const plumb::simt::surface<T, dims>& reference, cudaArray_const_t array) {
  return cudaBindSurfaceToArray(&reference, array, nullptr);
}
