// Reads of textures, reads and writes of surfaces, by objects. Each is a call into memory/textures.cpp, which finds the texels, checks
// each as an access of the kernel's, and filters.
#pragma once
#include <type_traits>

#include "gpu/simt/language/device_api.hpp"
#include "gpu/simt/language/texture_types.hpp"

namespace plumb::simt {

/// Where a texture is read. Of a layered one `layer` counts; of a cube map (x, y, z) is a direction.
struct TexturePlace {
  enum class Shape : unsigned char { linear, flat, layered, cube, layered_cube };
  Shape shape;
  int dimensions;
  float x, y, z;
  int layer;
};
/// One texel, or several filtered: whole numbers where the texture holds such and is read by its elements, otherwise floats.
struct Texel {
  bool whole;
  unsigned u[4];
  float f[4];
};
void read_texture(const char* what, cudaTextureObject_t object, const TexturePlace& place, Texel* out,
                  Here here);
/// tex1Dfetch: the element at a whole index of linear memory.
void fetch_texture(cudaTextureObject_t object, int index, Texel* out, Here here);
/// tex2Dgather: a component of each of the four texels that a linear filter would take at (x, y): below left, below right, above right, above
/// left, where y grows downwards.
void gather_texture(cudaTextureObject_t object, float x, float y, int component, Texel* out, Here here);

struct SurfacePlace {
  int dimensions;
  bool layered;
  int x, y, z;  // x counts bytes; z is the layer of a layered surface
  cudaSurfaceBoundaryMode outside;
};
void access_surface(const char* what, cudaSurfaceObject_t object, const SurfacePlace& place, void* value,
                    int bytes, bool writes, Here here);

template <class T, class = void>
struct TexelParts {  // a vector type
  using Part = decltype(T::x);
  static constexpr int count = sizeof(T) / sizeof(Part);
};
template <class T>
struct TexelParts<T, std::enable_if_t<std::is_arithmetic<T>::value>> {
  using Part = T;
  static constexpr int count = 1;
};
template <class T>
PLUMB_SIMT_UNTRACKED T texel_as(const Texel& texel) {
  using Part = typename TexelParts<T>::Part;
  Part parts[TexelParts<T>::count];
  for (int i = 0; i < TexelParts<T>::count; ++i)
    parts[i] = texel.whole ? static_cast<Part>(texel.u[i]) : static_cast<Part>(texel.f[i]);
  T out;
  __builtin_memcpy(&out, parts, sizeof out);
  return out;
}
/// What a texture reference reads: its texels' type, or as many floats.
template <class T, cudaTextureReadMode mode>
struct ReferenceValue {
  using type = T;
};
template <class T>
struct ReferenceValue<T, cudaReadModeNormalizedFloat> {
  static constexpr int count = TexelParts<T>::count;
  using vector = std::conditional_t<count == 1, float1, std::conditional_t<count == 2, float2, float4>>;
  using type = std::conditional_t<std::is_arithmetic<T>::value, float, vector>;
};
template <class T, cudaTextureReadMode mode>
using reference_value_t = typename ReferenceValue<T, mode>::type;
template <class Reference>  // a variable of the host's: reading it is no access of the kernel's
PLUMB_SIMT_UNTRACKED unsigned long long object_of(const Reference& reference) {
  return reference.plumb_object;
}
template <class T>
PLUMB_SIMT_UNTRACKED T texture_at(const char* what, cudaTextureObject_t object, TexturePlace place,
                                  Here here) {
  Texel texel;
  read_texture(what, object, place, &texel, here);
  return texel_as<T>(texel);
}

}  // namespace plumb::simt

template <class T>
PLUMB_SIMT_UNTRACKED T tex1Dfetch(cudaTextureObject_t object, int x, PLUMB_SIMT_HERE) {
  ::plumb::simt::Texel texel;
  ::plumb::simt::fetch_texture(object, x, &texel, here);
  return ::plumb::simt::texel_as<T>(texel);
}
template <class T>
void tex1Dfetch(T* out, cudaTextureObject_t object, int x, PLUMB_SIMT_HERE) {
  *out = tex1Dfetch<T>(object, x, here);
}

template <class T, int dimensions, cudaTextureReadMode mode>
auto tex1Dfetch(const ::plumb::simt::texture<T, dimensions, mode>& reference, int x, PLUMB_SIMT_HERE) {
  return tex1Dfetch<::plumb::simt::reference_value_t<T, mode>>(::plumb::simt::object_of(reference), x, here);
}

// Each function as CUDA has it: with the value returned, with a pointer to where it goes, and of a texture reference.
#define PLUMB_SIMT_PARAMETERS(...) __VA_ARGS__
#define PLUMB_SIMT_TEXTURE(name, parameters, passed, shape, dimensions, x, y, z, layer)                   \
  template <class T>                                                                                      \
  T name(cudaTextureObject_t object, PLUMB_SIMT_PARAMETERS parameters, PLUMB_SIMT_HERE) {                 \
    using Shape = ::plumb::simt::TexturePlace::Shape;                                                     \
    return ::plumb::simt::texture_at<T>(#name, object, {Shape::shape, dimensions, x, y, z, layer}, here); \
  }                                                                                                       \
  template <class T>                                                                                      \
  void name(T* out, cudaTextureObject_t object, PLUMB_SIMT_PARAMETERS parameters, PLUMB_SIMT_HERE) {      \
    *out = name<T>(object, PLUMB_SIMT_PARAMETERS passed, here);                                           \
  }                                                                                                       \
  template <class T, int bound, cudaTextureReadMode mode>                                                 \
  auto name(const ::plumb::simt::texture<T, bound, mode>& reference, PLUMB_SIMT_PARAMETERS parameters,    \
            PLUMB_SIMT_HERE) {                                                                            \
    return name<::plumb::simt::reference_value_t<T, mode>>(::plumb::simt::object_of(reference),           \
                                                           PLUMB_SIMT_PARAMETERS passed, here);           \
  }
PLUMB_SIMT_TEXTURE(tex1D, (float x), (x), flat, 1, x, 0, 0, 0)
PLUMB_SIMT_TEXTURE(tex2D, (float x, float y), (x, y), flat, 2, x, y, 0, 0)
PLUMB_SIMT_TEXTURE(tex3D, (float x, float y, float z), (x, y, z), flat, 3, x, y, z, 0)
PLUMB_SIMT_TEXTURE(tex1DLayered, (float x, int layer), (x, layer), layered, 1, x, 0, 0, layer)
PLUMB_SIMT_TEXTURE(tex2DLayered, (float x, float y, int layer), (x, y, layer), layered, 2, x, y, 0, layer)
PLUMB_SIMT_TEXTURE(texCubemap, (float x, float y, float z), (x, y, z), cube, 2, x, y, z, 0)
PLUMB_SIMT_TEXTURE(texCubemapLayered, (float x, float y, float z, int layer), (x, y, z, layer), layered_cube,
                   2, x, y, z, layer)
// No texture here has more than its level 0.
PLUMB_SIMT_TEXTURE(tex1DLod, (float x, [[maybe_unused]] float level), (x, level), flat, 1, x, 0, 0, 0)
PLUMB_SIMT_TEXTURE(tex2DLod, (float x, float y, [[maybe_unused]] float level), (x, y, level), flat, 2, x, y,
                   0, 0)
PLUMB_SIMT_TEXTURE(tex3DLod, (float x, float y, float z, [[maybe_unused]] float level), (x, y, z, level),
                   flat, 3, x, y, z, 0)
#undef PLUMB_SIMT_TEXTURE

template <class T>
PLUMB_SIMT_UNTRACKED T tex2Dgather(cudaTextureObject_t object, float x, float y, int component = 0,
                                   PLUMB_SIMT_HERE) {
  ::plumb::simt::Texel texels;
  ::plumb::simt::gather_texture(object, x, y, component, &texels, here);
  return ::plumb::simt::texel_as<T>(texels);
}
template <class T>
void tex2Dgather(T* out, cudaTextureObject_t object, float x, float y, int component = 0, PLUMB_SIMT_HERE) {
  *out = tex2Dgather<T>(object, x, y, component, here);
}

#define PLUMB_SIMT_SURFACE(dims, parameters, passed, dimensions, layered, x, y, z)                         \
  template <class T>                                                                                       \
  PLUMB_SIMT_UNTRACKED T surf##dims##read(cudaSurfaceObject_t object, PLUMB_SIMT_PARAMETERS parameters,    \
                                          cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,             \
                                          PLUMB_SIMT_HERE) {                                               \
    T out{};                                                                                               \
    ::plumb::simt::access_surface("surf" #dims "read", object, {dimensions, layered, x, y, z, mode}, &out, \
                                  sizeof out, false, here);                                                \
    return out;                                                                                            \
  }                                                                                                        \
  template <class T>                                                                                       \
  void surf##dims##read(T* out, cudaSurfaceObject_t object, PLUMB_SIMT_PARAMETERS parameters,              \
                        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, PLUMB_SIMT_HERE) {            \
    *out = surf##dims##read<T>(object, PLUMB_SIMT_PARAMETERS passed, mode, here);                          \
  }                                                                                                        \
  template <class T>                                                                                       \
  PLUMB_SIMT_UNTRACKED void surf##dims##write(                                                             \
      T value, cudaSurfaceObject_t object, PLUMB_SIMT_PARAMETERS parameters,                               \
      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, PLUMB_SIMT_HERE) {                              \
    ::plumb::simt::access_surface("surf" #dims "write", object, {dimensions, layered, x, y, z, mode},      \
                                  &value, sizeof value, true, here);                                       \
  }
PLUMB_SIMT_SURFACE(1D, (int x), (x), 1, false, x, 0, 0)
PLUMB_SIMT_SURFACE(2D, (int x, int y), (x, y), 2, false, x, y, 0)
PLUMB_SIMT_SURFACE(3D, (int x, int y, int z), (x, y, z), 3, false, x, y, z)
PLUMB_SIMT_SURFACE(1DLayered, (int x, int layer), (x, layer), 1, true, x, 0, layer)
PLUMB_SIMT_SURFACE(2DLayered, (int x, int y, int layer), (x, y, layer), 2, true, x, y, layer)
#undef PLUMB_SIMT_SURFACE
#undef PLUMB_SIMT_PARAMETERS
