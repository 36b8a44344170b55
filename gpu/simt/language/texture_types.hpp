// What textures and surfaces are called with, on the host and in kernels alike. The values are CUDA's.
#pragma once
#include "gpu/simt/language/device_api.hpp"

enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned,
  cudaChannelFormatKindUnsigned,
  cudaChannelFormatKindFloat,
  cudaChannelFormatKindNone
};
struct cudaChannelFormatDesc {
  int x, y, z, w;  // bits of each component
  cudaChannelFormatKind f;
};
enum cudaTextureAddressMode {
  cudaAddressModeWrap,
  cudaAddressModeClamp,
  cudaAddressModeMirror,
  cudaAddressModeBorder
};
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};
using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;

// Texture and surface references, which CUDA 12 dropped: an object each, made when the host binds memory.
constexpr int cudaTextureType1D = 0x01, cudaTextureType2D = 0x02, cudaTextureType3D = 0x03,
              cudaTextureTypeCubemap = 0x0c, cudaTextureType1DLayered = 0xf1, cudaTextureType2DLayered = 0xf2,
              cudaTextureTypeCubemapLayered = 0xfc;
constexpr int cudaSurfaceType1D = 0x01, cudaSurfaceType2D = 0x02, cudaSurfaceType3D = 0x03,
              cudaSurfaceType1DLayered = 0xf1, cudaSurfaceType2DLayered = 0xf2;
struct textureReference {
  int normalized = 0;
  cudaTextureFilterMode filterMode = cudaFilterModePoint;
  cudaTextureAddressMode addressMode[3] = {cudaAddressModeClamp, cudaAddressModeClamp, cudaAddressModeClamp};
  cudaChannelFormatDesc channelDesc{0, 0, 0, 0,
                                    cudaChannelFormatKindNone};  // bits of 0: those of the texels' type
  int sRGB = 0;
  cudaTextureReadMode plumb_read = cudaReadModeElementType;
  mutable cudaTextureObject_t plumb_object = 0;  // 0: nothing is bound
};
struct surfaceReference {
  cudaChannelFormatDesc channelDesc{0, 0, 0, 0, cudaChannelFormatKindNone};
  mutable cudaSurfaceObject_t plumb_object = 0;
};
namespace plumb::simt {
/// What rewrite.py makes of a program's texture<T, ...> and surface<...>.
template <class T, int dimensions = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct texture : textureReference {
  texture(int normalised = 0, cudaTextureFilterMode filter = cudaFilterModePoint,
          cudaTextureAddressMode address = cudaAddressModeClamp,
          cudaChannelFormatDesc format = {0, 0, 0, 0, cudaChannelFormatKindNone}) {
    normalized = normalised;
    filterMode = filter;
    for (cudaTextureAddressMode& a : addressMode) a = address;
    channelDesc = format;
    plumb_read = mode;
  }
};
template <class T, int dimensions = cudaSurfaceType1D>
struct surface : surfaceReference {
  PLUMB_SIMT_UNTRACKED operator cudaSurfaceObject_t() const { return plumb_object; }
};
}  // namespace plumb::simt
