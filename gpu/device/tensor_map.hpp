// requires: tensor_map
// Copies of tiles from a matrix to shared memory by the copy engine, to which a map describes the matrix
// (cp.async.bulk.tensor, sm_90): one thread starts a whole tile, and what is past the matrix arrives as zeros.
// The CPU executor has its own copy_tile (gpu/simt/language/instructions.hpp). Source: PTX ISA,
// "cp.async.bulk.tensor"; CUDA driver API, "cuTensorMapEncodeTiled".
#pragma once
#include "gpu/device/language.hpp"

namespace plumb {

/// The driver's CUtensorMap. A kernel takes it as `const __grid_constant__ TensorMap`.
struct alignas(64) TensorMap {
  unsigned long long words[16];
};

/// Tiles of (box_rows, box_cols) of a matrix of floats. False where the copy engine does not take it: no rows or
/// no columns, or rows that do not lie on 16 bytes.
bool make_tensor_map(TensorMap& map, const float* data, long long rows, long long cols, long long ld,
                     int box_rows, int box_cols);

#if defined(PLUMB_INLINE_PTX)
/// Starts copying the tile at (row, col), part of which may be past the matrix's ends, to an address on 128
/// bytes. Completes on `bar` with the bytes of a whole tile, which must have been announced.
__device__ __forceinline__ void copy_tile([[maybe_unused]] void* shared_dst,
                                          [[maybe_unused]] const TensorMap* map, [[maybe_unused]] int row,
                                          [[maybe_unused]] int col, [[maybe_unused]] Mbarrier* bar) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
      "%3}], "
      "[%4];\n" ::"r"(shared_address(shared_dst)),
      "l"(map), "r"(col), "r"(row), "r"(shared_address(bar))
      : "memory");
#endif
}
#endif

}  // namespace plumb
