#include "gpu/device/tensor_map.hpp"

#include <cuda.h>

#include <cstdint>

namespace plumb {

bool make_tensor_map(TensorMap& map, const void* data, int element_bytes, long long rows, long long cols,
                     long long ld, TensorBox box) {
  using Encode = decltype(&cuTensorMapEncodeTiled);
  // asked for at run time, so that nothing links the driver's library
  static const auto encode = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    constexpr unsigned kSince = 12000;
    const bool is = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, kSince,
                                                     cudaEnableDefault, &result) == cudaSuccess &&
                    result == cudaDriverEntryPointSuccess;
    return is ? reinterpret_cast<Encode>(found) : nullptr;
  }();
  constexpr long long kMost = 0x7fffffff;  // a tile's place is two ints
  const long long pitch = ld * element_bytes;
  if (encode == nullptr || rows <= 0 || cols <= 0 || rows > kMost || cols > kMost ||
      (reinterpret_cast<std::uintptr_t>(data) | static_cast<std::uintptr_t>(pitch)) % 16 != 0)
    return false;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(cols), static_cast<cuuint64_t>(rows)},
                   pitches[] = {static_cast<cuuint64_t>(pitch)};
  const cuuint32_t extents[] = {static_cast<cuuint32_t>(box.cols), static_cast<cuuint32_t>(box.rows)},
                   every[] = {1, 1};
  // bits are moved: of 16 and of 8, any type of the size
  const CUtensorMapDataType type = element_bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                   : element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                                        : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  return encode(reinterpret_cast<CUtensorMap*>(&map), type, 2, const_cast<void*>(data), sizes, pitches,
                extents, every, CU_TENSOR_MAP_INTERLEAVE_NONE,
                box.swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

}  // namespace plumb
