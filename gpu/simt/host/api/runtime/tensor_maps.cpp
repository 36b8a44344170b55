#include "gpu/simt/host/api/runtime/tensor_maps.hpp"

#include <cstring>

#include "gpu/simt/host/api/runtime/operations.hpp"
#include "gpu/simt/scheduler/tensor_copies.hpp"
#include "gpu/simt/state.hpp"

namespace {

using plumb::simt::Number;

struct ElementType {
  int bytes;
  std::uint64_t nan;  // 0: no type of numbers with a fraction
  Number type;        // of a reduction
};
// By CUtensorMapDataType. tf32 is copied as it is: who reads it drops the bits.
constexpr ElementType kTypes[] = {
    {1, 0, Number::none},      {2, 0, Number::none},         {4, 0, Number::u32},
    {4, 0, Number::s32},       {8, 0, Number::u64},          {8, 0, Number::s64},
    {2, 0x7fff, Number::f16},  {4, 0x7fffffff, Number::f32}, {8, 0x7fffffffffffffff, Number::f64},
    {2, 0x7fff, Number::bf16}, {0, 0, Number::none},         {4, 0x7fffffff, Number::none},
    {0, 0, Number::none}};

CUresult unsupported(const char* what, const char* function) {
  plumb::simt::begin_by_itself();
  plumb::simt::end_unsupported(what, {function, 0});
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* every, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                                CUtensorMapFloatOOBfill fill) {
  if (map == nullptr || address == nullptr || rank < 1 || rank > plumb::simt::kMostDimensions ||
      static_cast<unsigned>(type) > CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ ||
      static_cast<unsigned>(swizzle) > CU_TENSOR_MAP_SWIZZLE_128B)
    return CUDA_ERROR_INVALID_VALUE;
  const ElementType element = kTypes[type];
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || element.bytes == 0)
    return unsupported(
        element.bytes == 0 ? "a tensor map whose subnormals are flushed" : "an interleaved tensor map",
        "cuTensorMapEncodeTiled");
  if (fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && element.nan == 0) return CUDA_ERROR_INVALID_VALUE;
  plumb::simt::TensorTiles tiles;
  tiles.base = static_cast<unsigned char*>(address);
  tiles.dimensions = static_cast<int>(rank);
  tiles.element_bytes = element.bytes;
  tiles.type = element.type;
  for (cuuint32_t d = 0; d < rank; ++d) {
    tiles.sizes[d] = sizes[d];
    tiles.strides[d] = d == 0 ? static_cast<std::uint64_t>(element.bytes) : strides[d - 1];
    tiles.box[d] = box[d];
    tiles.every[d] = d == 0 ? 1 : every[d];  // of the first dimension the driver takes no notice
  }
  tiles.swizzled_units = 1u << static_cast<unsigned>(swizzle);
  tiles.outside = fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE ? 0 : element.nan;
  return plumb::simt::encode(tiles, map) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                 const cuuint64_t*, const int*, const int*, cuuint32_t, cuuint32_t,
                                 const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  return unsupported("a tensor map of im2col", "cuTensorMapEncodeIm2col");
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  *function = nullptr;
  if (std::strcmp(name, "cuTensorMapEncodeTiled") == 0)
    *function = reinterpret_cast<void*>(&cuTensorMapEncodeTiled);
  if (std::strcmp(name, "cuTensorMapEncodeIm2col") == 0)
    *function = reinterpret_cast<void*>(&cuTensorMapEncodeIm2col);
  if (result != nullptr)
    *result = *function != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
