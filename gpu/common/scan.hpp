// Sums of what comes before: over the threads of a block, and an array of counts in device memory. Header only. Apart from rung.hpp, because
// these kernels are compiled wherever it is included.
#pragma once
#include "gpu/common/rung.hpp"

namespace plumb {

constexpr int kScanThreads = 256;
constexpr int kScanPerThread = 4;
constexpr int kScanTile = kScanThreads * kScanPerThread;

/// The sum of `value` over the threads before this one; `total` becomes that over all. All kScanThreads threads
/// call it, and may call it again at once.
PLUMB_DEVICE int scan_block(int value, int& total, int* scratch /* (kScanThreads / 32), shared */) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int inclusive = scan_lanes(value, lane);
  if (lane == 31) scratch[warp] = inclusive;
  __syncthreads();
  int before = inclusive - value;
  total = 0;
#pragma unroll
  for (int w = 0; w < kScanThreads / 32; ++w) {
    if (w < warp) before += scratch[w];
    total += scratch[w];
  }
  __syncthreads();
  return before;
}

// Counts in sums[1..count] become their sums within tiles of kScanTile.
static __global__ void __launch_bounds__(kScanThreads)
    scan_tiles(std::int32_t* sums /* (count + 1) */, Index count, std::int32_t* tile_total /* (tiles) */) {
  __shared__ int scratch[kScanThreads / 32];
  const Index first = static_cast<Index>(blockIdx.x) * kScanTile + threadIdx.x * kScanPerThread;
  int sum[kScanPerThread], total = 0;
#pragma unroll
  for (int u = 0; u < kScanPerThread; ++u) {
    total += first + u < count ? sums[first + u + 1] : 0;
    sum[u] = total;
  }
  int tile = 0;
  const int before = scan_block(total, tile, scratch);
#pragma unroll
  for (int u = 0; u < kScanPerThread; ++u) {
    if (first + u < count) sums[first + u + 1] = before + sum[u];
  }
  if (threadIdx.x == 0) tile_total[blockIdx.x] = tile;
  if (blockIdx.x == 0 && threadIdx.x == 0) sums[0] = 0;
}

// One block: the totals become what lies before each tile.
static __global__ void __launch_bounds__(kScanThreads)
    scan_totals(std::int32_t* tile_total /* (tiles) */, Index tiles) {
  __shared__ int scratch[kScanThreads / 32];
  int carry = 0;
  for (Index base = 0; base < tiles; base += kScanThreads) {
    const Index i = base + threadIdx.x;
    int total = 0;
    const int before = scan_block(i < tiles ? tile_total[i] : 0, total, scratch);
    if (i < tiles) tile_total[i] = carry + before;
    carry += total;
  }
}

static __global__ void __launch_bounds__(kScanThreads)
    scan_add_totals(std::int32_t* sums /* (count + 1) */, Index count,
                    const std::int32_t* tile_total /* (tiles) */) {
  const Index i = static_cast<Index>(blockIdx.x) * kScanThreads + threadIdx.x;
  if (i < count) sums[i + 1] += tile_total[i / kScanTile];
}

/// Counts in sums[1..count] become what they and those before add up to, as row pointers are made of rows' counts; sums[0] becomes 0.
/// Scans of tiles, of their totals, and their sum; below 2^31 in all.
inline void scan_counts(std::int32_t* sums /* (count + 1) */, Index count, Context& context) {
  const Index tiles = count > kScanTile ? ceil_div(count, kScanTile) : 1;
  auto* totals =
      static_cast<std::int32_t*>(context.workspace(tiles * static_cast<Index>(sizeof(std::int32_t))));
  launch(scan_tiles, tiles, kScanThreads, 0, context.stream, sums, count, totals);
  if (tiles == 1) return;
  launch(scan_totals, 1, kScanThreads, 0, context.stream, totals, tiles);
  launch(scan_add_totals, ceil_div(count, kScanThreads), kScanThreads, 0, context.stream, sums, count,
         totals);
}

}  // namespace plumb
