// gpu/device/tensor_map.hpp on the executor.
#include "gpu/device/tensor_map.hpp"

#include "gpu/simt/scheduler/tensor_copies.hpp"

namespace plumb {

bool make_tensor_map(TensorMap& map, const float* data, long long rows, long long cols, long long ld,
                     int box_rows, int box_cols) {
  if (rows <= 0 || cols <= 0) return false;
  simt::TensorTiles tiles;
  tiles.base = reinterpret_cast<unsigned char*>(const_cast<float*>(data));
  tiles.dimensions = 2;
  tiles.element_bytes = sizeof(float);
  tiles.sizes[0] = static_cast<std::uint64_t>(cols);
  tiles.sizes[1] = static_cast<std::uint64_t>(rows);
  tiles.strides[0] = sizeof(float);
  tiles.strides[1] = static_cast<std::uint64_t>(ld) * sizeof(float);
  tiles.box[0] = static_cast<unsigned>(box_cols);
  tiles.box[1] = static_cast<unsigned>(box_rows);
  tiles.every[0] = tiles.every[1] = 1;
  return simt::encode(tiles, &map);
}

}  // namespace plumb
