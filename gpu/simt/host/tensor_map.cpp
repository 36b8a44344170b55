// gpu/device/tensor_map.hpp on the executor.
#include "gpu/device/tensor_map.hpp"

#include "gpu/simt/scheduler/tensor_copies.hpp"

namespace plumb {

bool make_tensor_map(TensorMap& map, const void* data, int element_bytes, long long rows, long long cols,
                     long long ld, TensorBox box) {
  if (rows <= 0 || cols <= 0) return false;
  simt::TensorTiles tiles;
  tiles.base = reinterpret_cast<unsigned char*>(const_cast<void*>(data));
  tiles.dimensions = 2;
  tiles.element_bytes = element_bytes;
  tiles.sizes[0] = static_cast<std::uint64_t>(cols);
  tiles.sizes[1] = static_cast<std::uint64_t>(rows);
  tiles.strides[0] = static_cast<std::uint64_t>(element_bytes);
  tiles.strides[1] = static_cast<std::uint64_t>(ld * element_bytes);
  tiles.box[0] = static_cast<unsigned>(box.cols);
  tiles.box[1] = static_cast<unsigned>(box.rows);
  tiles.every[0] = tiles.every[1] = 1;
  if (box.swizzled) tiles.swizzled_units = 8;
  return simt::encode(tiles, &map);
}

}  // namespace plumb
