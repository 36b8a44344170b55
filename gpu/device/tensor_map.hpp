// requires: tensor_map
// Copies of tiles from a matrix to shared memory by the copy engine, to which a map describes the matrix
// (cp.async.bulk.tensor, sm_90): one thread starts a whole tile, and what is past the matrix arrives as zeros.
// The CPU executor has its own copy_tile (gpu/simt/language/instructions.hpp). Source: PTX ISA,
// "cp.async.bulk.tensor"; CUDA driver API, "cuTensorMapEncodeTiled".
#pragma once
#include "gpu/device/language.hpp"
#include "reference/core/abi.hpp"

namespace plumb {

/// The driver's CUtensorMap. A kernel takes it as `const __grid_constant__ TensorMap`.
struct alignas(64) TensorMap {
  unsigned long long words[16];
};

/// What is copied at once. Swizzled: rows of 128 bytes, whose 16-byte units change places as wgmma reads them without bank conflicts; the tile
/// then lies on 1024 bytes.
struct TensorBox {
  int rows, cols;
  bool swizzled = false;
};

/// Tiles of a matrix of elements of 1, 2 or 4 bytes. False where the copy engine does not take it: no rows or no columns, or rows that do not
/// lie on 16 bytes.
bool make_tensor_map(TensorMap& map, const void* data, int element_bytes, long long rows, long long cols,
                     long long ld, TensorBox box);
/// The same of a matrix of floats.
inline bool make_tensor_map(TensorMap& map, const float* data, long long rows, long long cols, long long ld,
                            int box_rows, int box_cols) {
  return make_tensor_map(map, data, static_cast<int>(sizeof(float)), rows, cols, ld, {box_rows, box_cols});
}

#if defined(PLUMB_INLINE_PTX)
/// Starts copying the tile at (row, col), part of which may be past the matrix's ends, to an address on 128
/// bytes. Completes on `bar` with the bytes of a whole tile, which must have been announced.
__device__ __forceinline__ void copy_tile([[maybe_unused]] void* shared_dst,
                                          [[maybe_unused]] const TensorMap* map, [[maybe_unused]] int row,
                                          [[maybe_unused]] int col, [[maybe_unused]] Mbarrier* bar) {
#if !defined(PLUMB_INLINE_PTX) || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
      "%3}], "
      "[%4];\n" ::"r"(shared_address(shared_dst)),
      "l"(map), "r"(col), "r"(row), "r"(shared_address(bar))
      : "memory");
#endif
}
#endif

#if defined(__CUDACC__)
#if !defined(PLUMB_INLINE_PTX) || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define PLUMB_SM90(...) asm volatile(__VA_ARGS__)
#else
#define PLUMB_SM90(...) (void)0  // for an older chip, where no caller gets here
#endif

/// As copy_tile, to the same place in every block of the cluster that `blocks` has a bit for; each block's barrier at that place gets the bytes.
PLUMB_DEVICE void copy_tile_to_blocks([[maybe_unused]] void* shared_dst,
                                      [[maybe_unused]] const TensorMap* map, [[maybe_unused]] int row,
                                      [[maybe_unused]] int col, [[maybe_unused]] Mbarrier* bar,
                                      [[maybe_unused]] unsigned short blocks) {
  PLUMB_SM90(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%2, %3}], [%4], %5;\n" ::"r"(shared_address(shared_dst)),
      "l"(map), "r"(col), "r"(row), "r"(shared_address(bar)), "h"(blocks)
      : "memory");
}
/// Starts copying a tile from shared memory to (row, col) of the matrix, of whose columns whole 16 bytes are written: the columns end on them. Part
/// of the thread's open group of such copies.
PLUMB_DEVICE void store_tile([[maybe_unused]] const TensorMap* map, [[maybe_unused]] int row,
                             [[maybe_unused]] int col, [[maybe_unused]] const void* shared_src) {
  PLUMB_SM90("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];\n" ::"l"(map),
             "r"(col), "r"(row), "r"(shared_address(shared_src))
             : "memory");
}
/// Closes the thread's group of stores.
PLUMB_DEVICE void store_tile_commit() { PLUMB_SM90("cp.async.bulk.commit_group;\n" ::: "memory"); }
/// Waits until at most N of the thread's groups have not yet read their shared memory.
template <int N>
PLUMB_DEVICE void store_tile_wait_read() {
  PLUMB_SM90("cp.async.bulk.wait_group.read %0;\n" ::"n"(N) : "memory");
}
/// Waits until the thread's stores are done.
PLUMB_DEVICE void store_tile_wait() { PLUMB_SM90("cp.async.bulk.wait_group 0;\n" ::: "memory"); }

#undef PLUMB_SM90
#endif

}  // namespace plumb
