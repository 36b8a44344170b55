// Arrays, and what texture and surface objects are made from.
#include "gpu/simt/host/api/textures/textures.hpp"

#include <algorithm>
#include <climits>
#include <utility>

#include "gpu/simt/host/api/runtime/operations.hpp"
#include "gpu/simt/memory/textures.hpp"

namespace plumb::simt {

namespace {

bool is_format(const cudaChannelFormatDesc& d) {
  const int bits[] = {d.x, d.y, d.z, d.w};
  if (d.x == 0 || d.f < cudaChannelFormatKindSigned || d.f > cudaChannelFormatKindFloat) return false;
  for (int i = 0; i < 4; ++i) {
    if (bits[i] != 0 && bits[i] != d.x) return false;
    if (i > 0 && bits[i] != 0 && bits[i - 1] == 0) return false;
  }
  return (d.x == 8 && d.f != cudaChannelFormatKindFloat) || d.x == 16 || d.x == 32;
}

TexelGrid grid_of(const cudaArray& a) {
  TexelGrid g{};
  g.data = a.data;
  g.pitch = a.pitch();
  g.width = static_cast<int>(a.extent.width);
  g.height = static_cast<int>(a.extent.height);
  g.cube = (a.flags & cudaArrayCubemap) != 0;
  const bool layered = g.cube || (a.flags & cudaArrayLayered) != 0;
  (layered ? g.layers : g.depth) = static_cast<int>(a.extent.depth);
  g.format = a.format;
  return g;
}

// The grid of a resource; without data where the executor knows no such resource.
cudaError_t grid_of(const cudaResourceDesc& r, TexelGrid& g) {
  if (r.resType == cudaResourceTypeMipmappedArray) return cudaErrorNotSupported;
  if (r.resType == cudaResourceTypeArray) {
    if (r.res.array.array == nullptr) return cudaErrorInvalidResourceHandle;
    g = grid_of(*r.res.array.array);
    return cudaSuccess;
  }
  const bool linear = r.resType == cudaResourceTypeLinear;
  g = TexelGrid{};
  g.linear = linear;
  g.format = linear ? r.res.linear.desc : r.res.pitch2D.desc;
  if (!is_format(g.format)) return cudaErrorInvalidChannelDescriptor;
  g.data = static_cast<unsigned char*>(linear ? r.res.linear.devPtr : r.res.pitch2D.devPtr);
  if (g.data == nullptr) return cudaErrorInvalidValue;
  g.width = static_cast<int>(linear ? r.res.linear.sizeInBytes / texel_bytes(g.format) : r.res.pitch2D.width);
  g.height = linear ? 0 : static_cast<int>(r.res.pitch2D.height);
  g.pitch = linear ? r.res.linear.sizeInBytes : r.res.pitch2D.pitchInBytes;
  return cudaSuccess;
}

// One side of a copy that is a place in an array, whose x counts texels.
cudaMemcpy3DParms sides(cudaArray_t array, std::size_t x_bytes, std::size_t y, void* p, std::size_t pitch,
                        std::size_t width, std::size_t height, cudaMemcpyKind kind, bool to_array) {
  cudaMemcpy3DParms out{};
  const std::size_t texel = texel_bytes(array->format);
  (to_array ? out.dstArray : out.srcArray) = array;
  (to_array ? out.dstPos : out.srcPos) = make_cudaPos(x_bytes / texel, y, 0);
  (to_array ? out.srcPtr : out.dstPtr) = make_cudaPitchedPtr(p, pitch, width, height);
  out.extent = make_cudaExtent(width / texel, height, 1);
  out.kind = kind;
  return out;
}

// Bytes that fill rows of an array from a place on: the rest of a row, whole rows, the beginning of the last.
template <class CopyRows>
cudaError_t in_rows(const cudaArray* array, std::size_t x_bytes, std::size_t y, std::size_t bytes,
                    CopyRows&& copy_rows) {
  const std::size_t row = array->pitch();
  std::size_t done = 0;
  while (done < bytes) {
    const std::size_t left = bytes - done;
    const bool whole = x_bytes == 0 && left >= row;
    const std::size_t rows = whole ? left / row : 1;
    const std::size_t width = whole ? row : left < row - x_bytes ? left : row - x_bytes;
    const cudaError_t e = copy_rows(done, x_bytes, y, width, rows);
    if (e != cudaSuccess) return e;
    done += width * rows;
    y += rows;
    x_bytes = 0;
  }
  return cudaSuccess;
}

}  // namespace

}  // namespace plumb::simt

using namespace plumb::simt;

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned flags) {
  if (array == nullptr || format == nullptr || extent.width == 0) return answer(cudaErrorInvalidValue);
  if (!is_format(*format)) return answer(cudaErrorInvalidChannelDescriptor);
  const bool cube = (flags & cudaArrayCubemap) != 0;
  if (cube && (extent.width != extent.height || extent.depth % 6 != 0 || extent.depth == 0 ||
               ((flags & cudaArrayLayered) == 0 && extent.depth != 6)))
    return answer(cudaErrorInvalidValue);
  auto a = std::make_unique<cudaArray>(cudaArray{*format, extent, flags, nullptr});
  void* data = nullptr;
  const cudaError_t e = host_malloc(&data, a->pitch() * a->rows(), Memory::array);
  if (e != cudaSuccess) return e;
  a->data = static_cast<unsigned char*>(data);
  *array = a.release();
  return cudaSuccess;
}
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, std::size_t width,
                            std::size_t height, unsigned flags) {
  return cudaMalloc3DArray(array, format, make_cudaExtent(width, height, 0), flags);
}
cudaError_t cudaFreeArray(cudaArray_t array) {
  if (array == nullptr) return cudaSuccess;
  const cudaError_t e = cudaFree(array->data);
  delete array;
  return e;
}
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  if (array == nullptr) return answer(cudaErrorInvalidResourceHandle);
  if (format != nullptr) *format = array->format;
  if (extent != nullptr) *extent = array->extent;
  if (flags != nullptr) *flags = array->flags;
  return cudaSuccess;
}
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  return cudaArrayGetInfo(format, nullptr, nullptr, const_cast<cudaArray_t>(array));
}
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t*, const cudaChannelFormatDesc*, cudaExtent,
                                     unsigned, unsigned) {
  return answer(cudaErrorNotSupported);
}
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t*, cudaMipmappedArray_t, unsigned) {
  return answer(cudaErrorNotSupported);
}
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t) { return answer(cudaErrorNotSupported); }

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                     std::size_t pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream, Here here) {
  if (to == nullptr) return answer(cudaErrorInvalidResourceHandle);
  const cudaMemcpy3DParms p = sides(to, x, y, const_cast<void*>(from), pitch, width, height, kind, true);
  return cudaMemcpy3DAsync(&p, stream, here);
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                Here here) {
  if (to == nullptr) return answer(cudaErrorInvalidResourceHandle);
  const cudaMemcpy3DParms p = sides(to, x, y, const_cast<void*>(from), pitch, width, height, kind, true);
  return cudaMemcpy3D(&p, here);
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                                       std::size_t y, std::size_t width, std::size_t height,
                                       cudaMemcpyKind kind, cudaStream_t stream, Here here) {
  if (from == nullptr) return answer(cudaErrorInvalidResourceHandle);
  const cudaMemcpy3DParms p =
      sides(const_cast<cudaArray_t>(from), x, y, to, pitch, width, height, kind, false);
  return cudaMemcpy3DAsync(&p, stream, here);
}
cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                                  std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                  Here here) {
  if (from == nullptr) return answer(cudaErrorInvalidResourceHandle);
  const cudaMemcpy3DParms p =
      sides(const_cast<cudaArray_t>(from), x, y, to, pitch, width, height, kind, false);
  return cudaMemcpy3D(&p, here);
}
cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x_bytes, std::size_t y, const void* from,
                              std::size_t bytes, cudaMemcpyKind kind, Here here) {
  if (to == nullptr) return answer(cudaErrorInvalidResourceHandle);
  return in_rows(to, x_bytes, y, bytes,
                 [&](std::size_t done, std::size_t x, std::size_t row, std::size_t width, std::size_t rows) {
                   return cudaMemcpy2DToArray(to, x, row, static_cast<const char*>(from) + done, width, width,
                                              rows, kind, here);
                 });
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x_bytes, std::size_t y,
                                std::size_t bytes, cudaMemcpyKind kind, Here here) {
  if (from == nullptr) return answer(cudaErrorInvalidResourceHandle);
  return in_rows(from, x_bytes, y, bytes,
                 [&](std::size_t done, std::size_t x, std::size_t row, std::size_t width, std::size_t rows) {
                   return cudaMemcpy2DFromArray(static_cast<char*>(to) + done, width, from, x, row, width,
                                                rows, kind, here);
                 });
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* how, const cudaResourceViewDesc* view) {
  if (object == nullptr || resource == nullptr || how == nullptr) return answer(cudaErrorInvalidValue);
  if (view != nullptr || how->sRGB != 0) return answer(cudaErrorNotSupported);
  TextureObject made{{}, *how, false};
  const cudaError_t e = grid_of(*resource, made.grid);
  if (e != cudaSuccess) return answer(e);
  const cudaChannelFormatDesc& format = made.grid.format;
  const bool elements =
      format.f != cudaChannelFormatKindFloat && (how->readMode == cudaReadModeElementType || format.x == 32);
  if (how->filterMode == cudaFilterModeLinear && elements) return answer(cudaErrorInvalidFilterSetting);
  if (format.x == 32) made.how.readMode = cudaReadModeElementType;
  const auto lock = enter_engine();
  *object = new_texture_object(made);
  return cudaSuccess;
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  const auto lock = enter_engine();
  return object == 0 || delete_texture_object(object, false) ? cudaSuccess : answer(cudaErrorInvalidValue);
}
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  if (object == nullptr || resource == nullptr || resource->resType != cudaResourceTypeArray)
    return answer(cudaErrorInvalidValue);
  TextureObject made{{}, {}, true};
  const cudaError_t e = grid_of(*resource, made.grid);
  if (e != cudaSuccess) return answer(e);
  if ((resource->res.array.array->flags & cudaArraySurfaceLoadStore) == 0)
    return answer(cudaErrorInvalidValue);
  const auto lock = enter_engine();
  *object = new_texture_object(made);
  return cudaSuccess;
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  const auto lock = enter_engine();
  return object == 0 || delete_texture_object(object, true) ? cudaSuccess : answer(cudaErrorInvalidValue);
}

// ---- references: the object that a binding makes, with what the reference says at that moment ----

namespace {

cudaError_t bind(std::size_t* offset, const textureReference* reference, const cudaResourceDesc& resource) {
  if (reference == nullptr) return answer(cudaErrorInvalidTexture);
  cudaUnbindTexture(reference);
  cudaTextureDesc how{};
  for (int i = 0; i < 3; ++i) how.addressMode[i] = reference->addressMode[i];
  how.filterMode = reference->filterMode;
  how.readMode = reference->plumb_read;
  how.sRGB = reference->sRGB;
  how.normalizedCoords = reference->normalized;
  if (offset != nullptr) *offset = 0;
  return cudaCreateTextureObject(&reference->plumb_object, &resource, &how, nullptr);
}

}  // namespace

cudaError_t cudaBindTexture(std::size_t* offset, const textureReference* reference, const void* data,
                            const cudaChannelFormatDesc* format, std::size_t bytes) {
  if (format == nullptr) return answer(cudaErrorInvalidValue);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = const_cast<void*>(data);
  resource.res.linear.desc = *format;
  resource.res.linear.sizeInBytes = std::min<std::size_t>(bytes, INT_MAX);  // texels are counted by int
  return bind(offset, reference, resource);
}
cudaError_t cudaBindTexture2D(std::size_t* offset, const textureReference* reference, const void* data,
                              const cudaChannelFormatDesc* format, std::size_t width, std::size_t height,
                              std::size_t pitch) {
  if (format == nullptr) return answer(cudaErrorInvalidValue);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {const_cast<void*>(data), *format, width, height, pitch};
  return bind(offset, reference, resource);
}
cudaError_t cudaBindTextureToArray(const textureReference* reference, cudaArray_const_t array,
                                   const cudaChannelFormatDesc*) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = const_cast<cudaArray_t>(array);
  return bind(nullptr, reference, resource);
}
cudaError_t cudaUnbindTexture(const textureReference* reference) {
  if (reference == nullptr) return answer(cudaErrorInvalidTexture);
  return cudaDestroyTextureObject(std::exchange(reference->plumb_object, 0));
}
cudaError_t cudaGetTextureAlignmentOffset(std::size_t* offset, const textureReference* reference) {
  if (reference == nullptr || reference->plumb_object == 0) return answer(cudaErrorInvalidTextureBinding);
  *offset = 0;
  return cudaSuccess;
}
cudaError_t cudaBindSurfaceToArray(const surfaceReference* reference, cudaArray_const_t array,
                                   const cudaChannelFormatDesc*) {
  if (reference == nullptr) return answer(cudaErrorInvalidSurface);
  cudaDestroySurfaceObject(std::exchange(reference->plumb_object, 0));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = const_cast<cudaArray_t>(array);
  return cudaCreateSurfaceObject(&reference->plumb_object, &resource);
}
