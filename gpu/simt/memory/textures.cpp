// Textures and surfaces: which texels a read takes, what lies outside, and the filter. Coordinates and weights are those of the CUDA
// programming guide's appendix on texture fetching: linear filtering takes weights of 8 bits behind the point.
#include "gpu/simt/memory/textures.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstring>
#include <unordered_map>

#include "gpu/simt/language/half_bits.hpp"
#include "gpu/simt/language/textures.hpp"

namespace plumb::simt {

namespace {

using Shape = TexturePlace::Shape;

struct Objects {
  std::unordered_map<unsigned long long, TextureObject> by_handle;
  unsigned long long next = 1;
};
Objects& objects() {
  static auto& all = *new Objects;  // outlives the program's own statics
  return all;
}

const TextureObject& object_of(const char* what, unsigned long long handle, bool surface, Here here) {
  const auto it = objects().by_handle.find(handle);
  if (it == objects().by_handle.end() || it->second.surface != surface)
    trap(
        fmt::format("{} of {}, which is no {} object", what, handle, surface ? "surface" : "texture").c_str(),
        here);
  return it->second;
}

unsigned char* texel_at(const TexelGrid& g, int x, int y, int plane) {
  const int rows = g.height > 0 ? g.height : 1;
  const std::size_t row =
      static_cast<std::size_t>(plane) * static_cast<std::size_t>(rows) + static_cast<std::size_t>(y);
  return g.data + row * g.pitch + static_cast<std::size_t>(x) * texel_bytes(g.format);
}

// One component of `bits` bits as a float: a float as it is, a whole number as a fraction of its type's largest.
float component(const cudaChannelFormatDesc& format, int bits, unsigned raw) {
  if (format.f == cudaChannelFormatKindFloat)
    return bits == 16 ? static_cast<float>(widen<Half>(static_cast<unsigned short>(raw))) : from_bits(raw);
  if (format.f == cudaChannelFormatKindUnsigned)
    return static_cast<float>(raw) / static_cast<float>((1u << bits) - 1);
  const float x = static_cast<float>(static_cast<int>(raw)) / static_cast<float>((1 << (bits - 1)) - 1);
  return x < -1.0f ? -1.0f : x;
}

void load(const char* what, const TextureObject& o, const unsigned char* at, Texel& out, Here here) {
  const cudaChannelFormatDesc& format = o.grid.format;
  const std::size_t bytes = texel_bytes(format);
  access_for(what, at, bytes, 1, false, here);
  const int bits[] = {format.x, format.y, format.z, format.w};
  out = Texel{};
  out.whole = format.f != cudaChannelFormatKindFloat && o.how.readMode == cudaReadModeElementType;
  for (int i = 0; i < 4; ++i) {
    if (bits[i] == 0) continue;
    unsigned raw = 0;
    std::memcpy(&raw, at, static_cast<std::size_t>(bits[i]) / 8);
    at += bits[i] / 8;
    if (format.f == cudaChannelFormatKindSigned)
      raw = static_cast<unsigned>(static_cast<int>(raw << (32 - bits[i])) >> (32 - bits[i]));
    if (out.whole)
      out.u[i] = raw;
    else
      out.f[i] = component(format, bits[i], raw);
  }
}

// The index that one outside of 0 .. n - 1 stands for; -1: the border.
int inside(long long i, int n, cudaTextureAddressMode mode) {
  const auto positive = [](long long a, long long b) { return (a % b + b) % b; };
  if (mode == cudaAddressModeWrap) return static_cast<int>(positive(i, n));
  if (mode == cudaAddressModeMirror) {
    const long long twice = positive(i, 2LL * n);
    return static_cast<int>(twice < n ? twice : 2LL * n - 1 - twice);
  }
  if (i >= 0 && i < n) return static_cast<int>(i);
  return mode == cudaAddressModeBorder ? -1 : i < 0 ? 0 : n - 1;
}

// Along one dimension: the texels that a coordinate takes, and the second one's weight.
struct Taken {
  int at[2] = {0, 0};
  float weight = 0;
};
Taken along(const cudaTextureDesc& how, int dimension, float x, int n) {
  cudaTextureAddressMode mode = how.addressMode[dimension];
  if (how.normalizedCoords != 0) {
    x *= static_cast<float>(n);
  } else if (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror) {
    mode = cudaAddressModeClamp;  // those two are for normalised coordinates alone
  }
  if (std::isnan(x)) x = 0;
  constexpr float kFar = 1e9f;
  x = std::fmin(std::fmax(x, -kFar), kFar);
  Taken out;
  if (how.filterMode == cudaFilterModePoint) {
    out.at[0] = inside(static_cast<long long>(std::floor(x)), n, mode);
    return out;
  }
  const float first = std::floor(x - 0.5f);
  out.weight = std::nearbyint((x - 0.5f - first) * 256.0f) / 256.0f;
  for (int k = 0; k < 2; ++k) out.at[k] = inside(static_cast<long long>(first) + k, n, mode);
  return out;
}

// The face that a direction meets, and where on it, both coordinates in [0, 1].
int face_of(float x, float y, float z, float& s, float& t) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  const int axis = ax >= ay && ax >= az ? 0 : ay >= az ? 1 : 2;
  const float along_axis = axis == 0 ? x : axis == 1 ? y : z;
  const bool negative = along_axis < 0;
  const float sign = negative ? -1.0f : 1.0f;
  const float across = axis == 0 ? -sign * z : axis == 1 ? x : sign * x;
  const float down = axis == 1 ? sign * z : -y;
  const float m = std::fabs(along_axis);
  s = (across / m + 1) / 2;
  t = (down / m + 1) / 2;
  return 2 * axis + (negative ? 1 : 0);
}

// A place as coordinates in a plane of the grid.
struct InPlane {
  float at[3];
  int plane;
};
InPlane in_plane(const TexelGrid& g, const TexturePlace& place) {
  InPlane out{{place.x, place.y, place.z}, 0};
  int layer = place.layer, faces = 1, face = 0;
  if (place.shape == Shape::cube || place.shape == Shape::layered_cube) {
    face = face_of(place.x, place.y, place.z, out.at[0], out.at[1]);
    faces = 6;
  }
  const int layers = g.layers / faces;
  layer = layer < 0 || layers == 0 ? 0 : layer < layers ? layer : layers - 1;
  out.plane = layer * faces + face;
  return out;
}

// The texel at an index of each dimension, of which -1 is the border's.
Texel texel_or_border(const char* what, const TextureObject& o, const cudaTextureDesc& how,
                      const int (&at)[3], int plane, Here here) {
  const TexelGrid& g = o.grid;
  Texel one{};
  if (at[0] >= 0 && at[1] >= 0 && at[2] >= 0) {
    load(what, o, texel_at(g, at[0], at[1], g.depth > 0 ? at[2] : plane), one, here);
    return one;
  }
  one.whole = g.format.f != cudaChannelFormatKindFloat && how.readMode == cudaReadModeElementType;
  for (int i = 0; i < 4; ++i) {
    one.f[i] = how.borderColor[i];
    one.u[i] = static_cast<unsigned>(static_cast<int>(how.borderColor[i]));
  }
  return one;
}

bool fits(const TexelGrid& g, const TexturePlace& place) {
  const bool cube = place.shape == Shape::cube || place.shape == Shape::layered_cube;
  const bool layered = place.shape == Shape::layered || cube;
  const int dimensions = g.depth > 0 ? 3 : g.height > 0 ? 2 : 1;
  return !g.linear && g.cube == cube && (g.layers > 0) == layered && dimensions == place.dimensions;
}

}  // namespace

unsigned long long new_texture_object(const TextureObject& object) {
  const unsigned long long handle = objects().next++;
  objects().by_handle[handle] = object;
  return handle;
}

bool delete_texture_object(unsigned long long handle, bool surface) {
  const auto it = objects().by_handle.find(handle);
  if (it == objects().by_handle.end() || it->second.surface != surface) return false;
  objects().by_handle.erase(it);
  return true;
}

void fetch_texture(cudaTextureObject_t handle, int index, Texel* out, Here here) {
  const TextureObject& o = object_of("tex1Dfetch", handle, false, here);
  if (!o.grid.linear) trap("tex1Dfetch of a texture that is no linear memory", here);
  if (index >= 0 && index < o.grid.width)
    return load("tex1Dfetch", o, texel_at(o.grid, index, 0, 0), *out, here);
  *out = Texel{};
  out->whole = o.grid.format.f != cudaChannelFormatKindFloat && o.how.readMode == cudaReadModeElementType;
}

void read_texture(const char* what, cudaTextureObject_t handle, const TexturePlace& place, Texel* out,
                  Here here) {
  const TextureObject& o = object_of(what, handle, false, here);
  const TexelGrid& g = o.grid;
  if (!fits(g, place)) trap(fmt::format("{} of a texture of another shape", what).c_str(), here);
  const InPlane where = in_plane(g, place);
  cudaTextureDesc how = o.how;
  if (g.cube) how.normalizedCoords = 1;
  const int sizes[] = {g.width, g.height, g.depth};
  Taken taken[3];
  for (int d = 0; d < place.dimensions; ++d) taken[d] = along(how, d, where.at[d], sizes[d]);
  const bool filters = how.filterMode == cudaFilterModeLinear;
  const int corners = filters ? 1 << place.dimensions : 1;
  Texel sum{};
  for (int corner = 0; corner < corners; ++corner) {
    float weight = 1;
    int at[3] = {0, 0, 0};
    for (int d = 0; d < place.dimensions; ++d) {
      const int second = corner >> d & 1;
      at[d] = taken[d].at[second];
      weight *= second != 0 ? taken[d].weight : 1 - taken[d].weight;
    }
    if (filters && weight == 0) continue;
    const Texel one = texel_or_border(what, o, how, at, where.plane, here);
    if (!filters) sum = one;
    for (int i = 0; i < 4 && filters; ++i) sum.f[i] += weight * one.f[i];
  }
  *out = sum;
}

void gather_texture(cudaTextureObject_t handle, float x, float y, int component, Texel* out, Here here) {
  const TextureObject& o = object_of("tex2Dgather", handle, false, here);
  if (!fits(o.grid, {Shape::flat, 2, x, y, 0, 0})) trap("tex2Dgather of a texture of another shape", here);
  if (component < 0 || component > 3) trap("tex2Dgather of a component that is not 0 to 3", here);
  cudaTextureDesc how = o.how;
  how.filterMode = cudaFilterModeLinear;  // the texels that a filter would take
  const Taken across = along(how, 0, x, o.grid.width), down = along(how, 1, y, o.grid.height);
  constexpr int kCorners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  *out = Texel{};
  for (int i = 0; i < 4; ++i) {
    const int at[3] = {across.at[kCorners[i][0]], down.at[kCorners[i][1]], 0};
    const Texel one = texel_or_border("tex2Dgather", o, how, at, 0, here);
    out->whole = one.whole;
    out->u[i] = one.u[component], out->f[i] = one.f[component];
  }
}

void access_surface(const char* what, cudaSurfaceObject_t handle, const SurfacePlace& place, void* value,
                    int bytes, bool writes, Here here) {
  const TexelGrid& g = object_of(what, handle, true, here).grid;
  const int texel = static_cast<int>(texel_bytes(g.format));
  const int dimensions = g.depth > 0 ? 3 : g.height > 0 ? 2 : 1;
  if (dimensions != place.dimensions || (g.layers > 0) != place.layered)
    trap(fmt::format("{} of a surface of another shape", what).c_str(), here);
  if (place.x % bytes != 0)
    trap(fmt::format("{} at byte {}, which is no multiple of {}", what, place.x, bytes).c_str(), here);
  int at[] = {place.x, place.y, place.z};
  const int sizes[] = {g.width * texel, g.height > 0 ? g.height : 1,
                       g.depth > 0    ? g.depth
                       : g.layers > 0 ? g.layers
                                      : 1};
  const int last[] = {sizes[0] - bytes, sizes[1] - 1, sizes[2] - 1};
  bool outside = false;
  for (int d = 0; d < 3; ++d) {
    outside = outside || at[d] < 0 || at[d] > last[d];
    at[d] = at[d] < 0 ? 0 : at[d] > last[d] ? last[d] : at[d];
  }
  if (outside && place.outside == cudaBoundaryModeTrap)
    trap(fmt::format("{} at byte {}, row {}, plane {} of a surface with {} bytes a row, {} rows, {} planes",
                     what, place.x, place.y, place.z, sizes[0], sizes[1], sizes[2])
             .c_str(),
         here);
  if (outside && place.outside == cudaBoundaryModeZero) return;  // reads leave zeros, writes nothing
  unsigned char* const p = texel_at(g, 0, at[1], at[2]) + at[0];
  access_for(what, p, static_cast<std::size_t>(bytes), 1, writes, here);
  std::memcpy(writes ? static_cast<void*>(p) : value, writes ? value : p, static_cast<std::size_t>(bytes));
}

}  // namespace plumb::simt
