// Row pointers from row counts, for the rungs that count rows before they write them. Apart from common.hpp
// because the rungs that read x once have no counts to scan, and need not compile this.
#pragma once
#include "gpu/dense_to_csr/common.hpp"

namespace plumb {
namespace dense_to_csr {

/// The sum of `value` over the threads before this one; `total` becomes that over all. All kThreads threads
/// call it, and may call it again at once.
PLUMB_DEVICE int scan_block(int value, int& total, int* scratch /* (kWarps), shared */) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int inclusive = scan_lanes(value, lane);
  if (lane == 31) scratch[warp] = inclusive;
  __syncthreads();
  int before = inclusive - value;
  total = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    if (w < warp) before += scratch[w];
    total += scratch[w];
  }
  __syncthreads();
  return before;
}

constexpr int kScanPerThread = 4;
constexpr int kScanTile = kThreads * kScanPerThread;

// Counts in row_ptr[1..rows] become their sums within tiles of kScanTile rows.
static __global__ void __launch_bounds__(kThreads)
    dense_to_csr_scan_tiles(std::int32_t* row_ptr /* (rows + 1) */, Index rows,
                            std::int32_t* tile_total /* (tiles) */) {
  __shared__ int scratch[kWarps];
  const Index first = static_cast<Index>(blockIdx.x) * kScanTile + threadIdx.x * kScanPerThread;
  int sum[kScanPerThread], total = 0;
#pragma unroll
  for (int u = 0; u < kScanPerThread; ++u) {
    total += first + u < rows ? row_ptr[first + u + 1] : 0;
    sum[u] = total;
  }
  int tile = 0;
  const int before = scan_block(total, tile, scratch);
#pragma unroll
  for (int u = 0; u < kScanPerThread; ++u) {
    if (first + u < rows) row_ptr[first + u + 1] = before + sum[u];
  }
  if (threadIdx.x == 0) tile_total[blockIdx.x] = tile;
  if (blockIdx.x == 0 && threadIdx.x == 0) row_ptr[0] = 0;
}

// One block: the totals become what lies before each tile.
static __global__ void __launch_bounds__(kThreads)
    dense_to_csr_scan_totals(std::int32_t* tile_total /* (tiles) */, Index tiles) {
  __shared__ int scratch[kWarps];
  int carry = 0;
  for (Index base = 0; base < tiles; base += kThreads) {
    const Index i = base + threadIdx.x;
    int total = 0;
    const int before = scan_block(i < tiles ? tile_total[i] : 0, total, scratch);
    if (i < tiles) tile_total[i] = carry + before;
    carry += total;
  }
}

static __global__ void __launch_bounds__(kThreads)
    dense_to_csr_add_totals(std::int32_t* row_ptr /* (rows + 1) */, Index rows,
                            const std::int32_t* tile_total /* (tiles) */) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < rows) row_ptr[i + 1] += tile_total[i / kScanTile];
}

/// Row pointers from the counts in row_ptr[1..rows]: scans of tiles, of their totals, and their sum.
inline void scan_counts(std::int32_t* row_ptr /* (rows + 1) */, Index rows, Context& context) {
  const Index tiles = rows > kScanTile ? ceil_div(rows, kScanTile) : 1;
  auto* totals =
      static_cast<std::int32_t*>(context.workspace(tiles * static_cast<Index>(sizeof(std::int32_t))));
  launch(dense_to_csr_scan_tiles, tiles, kThreads, 0, context.stream, row_ptr, rows, totals);
  if (tiles == 1) return;
  launch(dense_to_csr_scan_totals, 1, kThreads, 0, context.stream, totals, tiles);
  launch(dense_to_csr_add_totals, ceil_div(rows, kThreads), kThreads, 0, context.stream, row_ptr, rows,
         totals);
}

}  // namespace dense_to_csr
}  // namespace plumb
