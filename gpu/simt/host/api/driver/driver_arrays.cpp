#include "gpu/simt/host/api/driver/driver_arrays.hpp"

#include "gpu/simt/host/api/driver/driver_calls.hpp"
#include "gpu/simt/host/api/runtime/operations.hpp"

using plumb::simt::Here;
using plumb::simt::pointer;
using plumb::simt::result_of;

namespace {

bool is_format(CUarray_format format, unsigned channels) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_HALF:
    case CU_AD_FORMAT_FLOAT:
      return channels == 1 || channels == 2 || channels == 4;
    default:
      return false;
  }
}

cudaChannelFormatDesc format_of(CUarray_format format, unsigned channels) {
  const bool is_float = format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT;
  const bool is_signed = format >= CU_AD_FORMAT_SIGNED_INT8 && format <= CU_AD_FORMAT_SIGNED_INT32;
  const int bits = format == CU_AD_FORMAT_HALF    ? 16
                   : format == CU_AD_FORMAT_FLOAT ? 32
                   : is_signed                    ? 8 << (format - CU_AD_FORMAT_SIGNED_INT8)
                                                  : 8 << (format - CU_AD_FORMAT_UNSIGNED_INT8);
  const auto part = [&](unsigned number) { return number < channels ? bits : 0; };
  return {part(0), part(1), part(2), part(3),
          is_float    ? cudaChannelFormatKindFloat
          : is_signed ? cudaChannelFormatKindSigned
                      : cudaChannelFormatKindUnsigned};
}

CUarray_format format_of(const cudaChannelFormatDesc& format) {
  if (format.f == cudaChannelFormatKindFloat) return format.x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
  const int first =
      format.f == cudaChannelFormatKindSigned ? CU_AD_FORMAT_SIGNED_INT8 : CU_AD_FORMAT_UNSIGNED_INT8;
  return static_cast<CUarray_format>(first + (format.x == 8 ? 0 : format.x == 16 ? 1 : 2));
}

/// One side of a copy, as the runtime describes it.
struct Side {
  cudaArray_t array = nullptr;
  cudaPos place{};
  cudaPitchedPtr memory{};
};
struct Place {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  std::size_t x_bytes, y, z, pitch, height;
};
bool side_of(const Place& p, Side& out) {
  if (p.type == CU_MEMORYTYPE_ARRAY) {
    if (p.array == nullptr) return false;
    const std::size_t texel = plumb::simt::texel_bytes(p.array->format);
    if (p.x_bytes % texel != 0) return false;
    out.array = p.array;
    out.place = make_cudaPos(p.x_bytes / texel, p.y, p.z);
    return true;
  }
  if (p.type < CU_MEMORYTYPE_HOST || p.type > CU_MEMORYTYPE_UNIFIED) return false;
  void* const memory = p.type == CU_MEMORYTYPE_HOST ? const_cast<void*>(p.host) : pointer(p.device);
  out.memory = make_cudaPitchedPtr(memory, p.pitch, p.pitch, p.height);
  out.place = make_cudaPos(p.x_bytes, p.y, p.z);
  return memory != nullptr;
}

CUresult as_runtime(const CUDA_MEMCPY3D& copy, cudaMemcpy3DParms& out) {
  Side from, to;
  if (!side_of({copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray, copy.srcXInBytes, copy.srcY,
                copy.srcZ, copy.srcPitch > 0 ? copy.srcPitch : copy.WidthInBytes,
                copy.srcHeight > 0 ? copy.srcHeight : copy.Height},
               from) ||
      !side_of({copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray, copy.dstXInBytes, copy.dstY,
                copy.dstZ, copy.dstPitch > 0 ? copy.dstPitch : copy.WidthInBytes,
                copy.dstHeight > 0 ? copy.dstHeight : copy.Height},
               to))
    return CUDA_ERROR_INVALID_VALUE;
  const cudaArray_t array = from.array != nullptr ? from.array : to.array;
  const std::size_t unit = array != nullptr ? plumb::simt::texel_bytes(array->format) : 1;
  if (copy.WidthInBytes % unit != 0 || copy.srcLOD != 0 || copy.dstLOD != 0) return CUDA_ERROR_INVALID_VALUE;
  out = {from.array, from.place, from.memory, to.array, to.place, to.memory, {}, cudaMemcpyDefault};
  out.extent = make_cudaExtent(copy.WidthInBytes / unit, copy.Height, copy.Depth);
  return CUDA_SUCCESS;
}

CUDA_MEMCPY3D in_space(const CUDA_MEMCPY2D& copy) {
  CUDA_MEMCPY3D out{};
  out.srcXInBytes = copy.srcXInBytes, out.srcY = copy.srcY, out.srcMemoryType = copy.srcMemoryType;
  out.srcHost = copy.srcHost, out.srcDevice = copy.srcDevice, out.srcArray = copy.srcArray;
  out.dstXInBytes = copy.dstXInBytes, out.dstY = copy.dstY, out.dstMemoryType = copy.dstMemoryType;
  out.dstHost = copy.dstHost, out.dstDevice = copy.dstDevice, out.dstArray = copy.dstArray;
  out.srcPitch = copy.srcPitch, out.dstPitch = copy.dstPitch;
  out.WidthInBytes = copy.WidthInBytes, out.Height = copy.Height, out.Depth = 1;
  return out;
}

CUresult resource_of(const CUDA_RESOURCE_DESC& from, cudaResourceDesc& to) {
  switch (from.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      to.resType = cudaResourceTypeArray;
      to.res.array.array = from.res.array.hArray;
      return to.res.array.array != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_RESOURCE_TYPE_LINEAR:
      if (!is_format(from.res.linear.format, from.res.linear.numChannels)) return CUDA_ERROR_INVALID_VALUE;
      to.resType = cudaResourceTypeLinear;
      to.res.linear.devPtr = pointer(from.res.linear.devPtr);
      to.res.linear.desc = format_of(from.res.linear.format, from.res.linear.numChannels);
      to.res.linear.sizeInBytes = from.res.linear.sizeInBytes;
      return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_PITCH2D:
      if (!is_format(from.res.pitch2D.format, from.res.pitch2D.numChannels)) return CUDA_ERROR_INVALID_VALUE;
      to.resType = cudaResourceTypePitch2D;
      to.res.pitch2D = {pointer(from.res.pitch2D.devPtr),
                        format_of(from.res.pitch2D.format, from.res.pitch2D.numChannels),
                        from.res.pitch2D.width, from.res.pitch2D.height, from.res.pitch2D.pitchInBytes};
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

}  // namespace

CUresult cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* what) {
  if (what == nullptr || !is_format(what->Format, what->NumChannels)) return CUDA_ERROR_INVALID_VALUE;
  const cudaChannelFormatDesc format = format_of(what->Format, what->NumChannels);
  return result_of(cudaMalloc3DArray(array, &format, make_cudaExtent(what->Width, what->Height, what->Depth),
                                     what->Flags));
}
CUresult cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* what) {
  if (what == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_ARRAY3D_DESCRIPTOR in_space{what->Width, what->Height, 0, what->Format, what->NumChannels, 0};
  return cuArray3DCreate(array, &in_space);
}
CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* what, CUarray array) {
  if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const cudaChannelFormatDesc& f = array->format;
  const unsigned channels = 1U + (f.y > 0 ? 1 : 0) + (f.z > 0 ? 1 : 0) + (f.w > 0 ? 1 : 0);
  *what = {array->extent.width, array->extent.height, array->extent.depth, format_of(f), channels,
           array->flags};
  return CUDA_SUCCESS;
}
CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* what, CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR in_space{};
  const CUresult e = cuArray3DGetDescriptor(&in_space, array);
  if (e == CUDA_SUCCESS) *what = {in_space.Width, in_space.Height, in_space.Format, in_space.NumChannels};
  return e;
}
CUresult cuArrayDestroy(CUarray array) { return result_of(cudaFreeArray(array)); }
CUresult cuMemAllocPitch(CUdeviceptr* p, std::size_t* pitch, std::size_t width, std::size_t height,
                         unsigned element_bytes) {
  if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16) return CUDA_ERROR_INVALID_VALUE;
  void* memory = nullptr;
  const cudaError_t e = cudaMallocPitch(&memory, pitch, width, height);
  *p = reinterpret_cast<CUdeviceptr>(memory);
  return result_of(e);
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* copy, CUstream stream, Here here) {
  cudaMemcpy3DParms p{};
  const CUresult e = as_runtime(*copy, p);
  return e == CUDA_SUCCESS ? result_of(cudaMemcpy3DAsync(&p, stream, here)) : e;
}
CUresult cuMemcpy3D(const CUDA_MEMCPY3D* copy, Here here) {
  cudaMemcpy3DParms p{};
  const CUresult e = as_runtime(*copy, p);
  return e == CUDA_SUCCESS ? result_of(cudaMemcpy3D(&p, here)) : e;
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream stream, Here here) {
  const CUDA_MEMCPY3D all = in_space(*copy);
  return cuMemcpy3DAsync(&all, stream, here);
}
CUresult cuMemcpy2D(const CUDA_MEMCPY2D* copy, Here here) {
  const CUDA_MEMCPY3D all = in_space(*copy);
  return cuMemcpy3D(&all, here);
}
CUresult cuMemcpyHtoA(CUarray to, std::size_t x_bytes, const void* from, std::size_t bytes, Here here) {
  return result_of(cudaMemcpyToArray(to, x_bytes, 0, from, bytes, cudaMemcpyHostToDevice, here));
}
CUresult cuMemcpyAtoH(void* to, CUarray from, std::size_t x_bytes, std::size_t bytes, Here here) {
  return result_of(cudaMemcpyFromArray(to, from, x_bytes, 0, bytes, cudaMemcpyDeviceToHost, here));
}
CUresult cuMemcpyDtoA(CUarray to, std::size_t x_bytes, CUdeviceptr from, std::size_t bytes, Here here) {
  return result_of(cudaMemcpyToArray(to, x_bytes, 0, pointer(from), bytes, cudaMemcpyDeviceToDevice, here));
}
CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, std::size_t x_bytes, std::size_t bytes, Here here) {
  return result_of(cudaMemcpyFromArray(pointer(to), from, x_bytes, 0, bytes, cudaMemcpyDeviceToDevice, here));
}

CUresult cuTexObjectCreate(CUtexObject* object, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* how, const CUDA_RESOURCE_VIEW_DESC* view) {
  if (resource == nullptr || how == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (view != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  cudaResourceDesc as_resource{};
  if (const CUresult e = resource_of(*resource, as_resource); e != CUDA_SUCCESS) return e;
  cudaTextureDesc as_texture{};
  for (int i = 0; i < 3; ++i)
    as_texture.addressMode[i] = static_cast<cudaTextureAddressMode>(how->addressMode[i]);
  as_texture.filterMode = static_cast<cudaTextureFilterMode>(how->filterMode);
  const cudaChannelFormatDesc format =
      as_resource.resType == cudaResourceTypeArray    ? as_resource.res.array.array->format
      : as_resource.resType == cudaResourceTypeLinear ? as_resource.res.linear.desc
                                                      : as_resource.res.pitch2D.desc;
  const bool as_numbers =
      (how->flags & CU_TRSF_READ_AS_INTEGER) != 0 || format.f == cudaChannelFormatKindFloat || format.x == 32;
  as_texture.readMode = as_numbers ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  as_texture.normalizedCoords = (how->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0 ? 1 : 0;
  as_texture.sRGB = (how->flags & CU_TRSF_SRGB) != 0 ? 1 : 0;
  for (int i = 0; i < 4; ++i) as_texture.borderColor[i] = how->borderColor[i];
  return result_of(cudaCreateTextureObject(object, &as_resource, &as_texture, nullptr));
}
CUresult cuTexObjectDestroy(CUtexObject object) { return result_of(cudaDestroyTextureObject(object)); }
CUresult cuSurfObjectCreate(CUsurfObject* object, const CUDA_RESOURCE_DESC* resource) {
  if (resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaResourceDesc as_resource{};
  if (const CUresult e = resource_of(*resource, as_resource); e != CUDA_SUCCESS) return e;
  return result_of(cudaCreateSurfaceObject(object, &as_resource));
}
CUresult cuSurfObjectDestroy(CUsurfObject object) { return result_of(cudaDestroySurfaceObject(object)); }

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return result_of(cudaEventCreateWithFlags(event, flags));
}
CUresult cuEventDestroy(CUevent event) { return result_of(cudaEventDestroy(event)); }
CUresult cuEventRecord(CUevent event, CUstream stream) { return result_of(cudaEventRecord(event, stream)); }
CUresult cuEventQuery(CUevent event) { return result_of(cudaEventQuery(event)); }
CUresult cuEventSynchronize(CUevent event) { return result_of(cudaEventSynchronize(event)); }
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return result_of(cudaEventElapsedTime(milliseconds, start, end));
}
CUresult cuStreamQuery(CUstream stream) { return result_of(cudaStreamQuery(stream)); }
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return result_of(cudaStreamWaitEvent(stream, event, flags));
}
