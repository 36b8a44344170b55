// What a texture or surface object stands for: a grid of texels in the device's memory, and how it is read.
#pragma once
#include <cstddef>

#include "gpu/simt/language/texture_types.hpp"

namespace plumb::simt {

/// Bytes of one texel.
inline std::size_t texel_bytes(const cudaChannelFormatDesc& d) {
  return static_cast<std::size_t>(d.x + d.y + d.z + d.w) / 8;
}

struct TexelGrid {
  unsigned char* data;
  std::size_t pitch;         // bytes from a row to the next; planes and layers follow each other
  int width, height, depth;  // texels; 0: no such dimension
  int layers;                // 0: not layered; of a cube map its faces, six for each layer
  bool cube;
  bool linear;  // memory of one dimension, read by tex1Dfetch
  cudaChannelFormatDesc format;
};
struct TextureObject {
  TexelGrid grid;
  cudaTextureDesc how;  // unused by a surface
  bool surface;
};

unsigned long long new_texture_object(const TextureObject& object);
/// Whether there was such an object.
bool delete_texture_object(unsigned long long handle, bool surface);

}  // namespace plumb::simt
