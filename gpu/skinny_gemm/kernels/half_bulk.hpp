// 16-bit elements on tensor cores, rows of X by bulk copies: the kernel of rung 32. Header only, and apart from the rung because the adaptive one
// takes it too.
//
// Rows that follow each other without a gap are one run of bytes, of which 16 rows begin on 16 bytes whatever their length: a warp brings its
// own runs to shared memory, several ahead, and makes tiles of 16 rows of each as rung 31 does. Where rows of Y do not lie on the size of what a
// lane ends with, the tile is put together in shared memory first, and leaves in whole vectors.
#pragma once
#include "gpu/device/memory.hpp"
#include "gpu/skinny_gemm/kernels/half_fragments.hpp"

namespace plumb {
namespace skinny {
namespace half {

constexpr int kMostStages = 3, kRunBytes = 4096;

/// How a launch divides its work, and a warp's shared memory.
struct BulkDivision {
  int tiles;       // of 16 rows, of a run
  int stages;      // runs of a warp under way
  int run_bytes;   // of X, in shared memory
  int tile_bytes;  // of Y, in shared memory; 0: lanes store their columns
};

/// Eight terms of a row in shared memory, on V elements; +0 from the first `count` on.
template <int V, class E>
PLUMB_DEVICE uint4 shared_terms(const E* p, int count) {
  Pack<E, 8> terms;
  if (count >= 8) {
#pragma unroll
    for (int i = 0; i < 8; i += V) {
      const auto some = *reinterpret_cast<const Pack<E, V>*>(p + i);
#pragma unroll
      for (int e = 0; e < V; ++e) terms.at[i + e] = some.at[e];
    }
  } else {
#pragma unroll
    for (int e = 0; e < 8; ++e) terms.at[e] = e < count ? p[e] : E{};
  }
  return detail::as<uint4>(terms);
}

/// A tile of Y, which the lanes' sums make in shared memory, to `rows` rows without a gap.
template <int Tiles, class O>
PLUMB_DEVICE void store_tile(O* y, O* tile /* (kRows, columns), shared */, int rows, int columns,
                             const float (&sum)[Tiles][4]) {
  const int lane = static_cast<int>(threadIdx.x) % 32, first = lane % 4 * (2 * Tiles);
#pragma unroll
  for (int j = 0; j < Tiles; ++j) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int column = first + 2 * j + e % 2, row = lane / 4 + e / 2 * 8;
      if (column < columns) tile[row * columns + column] = stored<O>(sum[j][e]);
    }
  }
  __syncwarp();
  const int count = rows * columns, whole = count / kPackOf<O>;
  for (int v = lane; v < whole; v += 32)
    store_global(reinterpret_cast<uint4*>(y) + v, reinterpret_cast<const uint4*>(tile)[v]);
  for (int e = whole * kPackOf<O> + lane; e < count; e += 32) y[e] = tile[e];
  __syncwarp();  // before the next tile is put there
}

/// A warp's runs of X, one after the other, by bulk copies.
template <class E>
struct Runs {
  const E* x;
  E* memory;        // (stages, run_bytes), shared
  Mbarrier* full;   // (stages)
  Index rows, run;  // of X; of a run
  int terms, stage_elements;

  PLUMB_DEVICE Index rows_at(Index row) const { return rows - row < run ? rows - row : run; }
  PLUMB_DEVICE E* stage_at(int stage) const { return memory + stage * stage_elements; }
  /// Starts the copy of the run from `row` on, if it is whole.
  PLUMB_DEVICE void start(Index row, int stage) const {
    if (row >= rows || rows - row < run || threadIdx.x % 32 != 0) return;
    const int bytes = static_cast<int>(run) * terms * static_cast<int>(sizeof(E));
    mbarrier_arrive_expect(full + stage, bytes);
    bulk_copy_once(stage_at(stage), x + row * terms, bytes, full + stage);
  }
  /// Waits for it; what is not whole, at the end of X, is copied here, with zeros behind it.
  PLUMB_DEVICE void await(Index row, int stage, int parity) const {
    if (rows - row >= run) return mbarrier_wait(full + stage, parity);
    const int count = static_cast<int>(rows - row) * terms, all = static_cast<int>(run) * terms;
    for (int e = static_cast<int>(threadIdx.x) % 32; e < all; e += 32)
      stage_at(stage)[e] = e < count ? load_pack<1>(x + row * terms + e).at[0] : E{};
    __syncwarp();
  }
};

template <class T, int Tiles, int V>
__global__ void __launch_bounds__(kThreads) skinny_half_bulk(In<T> in, Out<T> out, BulkDivision d) {
  using E = in_t<T>;
  using O = out_t<T>;
  PLUMB_DYNAMIC_SHARED(unsigned char, shared);
  __shared__ Mbarrier full[kWarps][kMostStages];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int depth = static_cast<int>(in.X.cols), chunks = (depth + kTerms - 1) / kTerms;
  const Index j0 = static_cast<Index>(blockIdx.y) * (8 * Tiles);
  auto* const w = reinterpret_cast<uint4*>(shared);
  unsigned char* const own = shared + chunks * Tiles * 512 + warp * (d.stages * d.run_bytes + d.tile_bytes);
  auto* const tile = reinterpret_cast<O*>(own + d.stages * d.run_bytes);
  if (lane < kMostStages) mbarrier_init(&full[warp][lane], 1);
  mbarrier_fence_init();
  stage_fragments<Tiles>(in, 0, chunks, j0, w);
  __syncthreads();
  const Index run = static_cast<Index>(d.tiles) * kRows, step = static_cast<Index>(gridDim.x) * kWarps * run;
  Index row = (static_cast<Index>(blockIdx.x) * kWarps + warp) * run;
  const Runs<E> runs{in.X.data,
                     reinterpret_cast<E*>(own),
                     full[warp],
                     out.Y.rows,
                     run,
                     depth,
                     d.run_bytes / static_cast<int>(sizeof(E))};
  for (int s = 0; s < d.stages; ++s) runs.start(row + s * step, s);
  for (int stage = 0, parity = 0; row < runs.rows; row += step) {
    runs.await(row, stage, parity);
    const auto left = static_cast<int>(runs.rows_at(row));
    for (int top = 0; top < left; top += kRows) {
      const E* const low = runs.stage_at(stage) + (top + lane / 4) * depth + 8 * (lane % 4);
      float sum[Tiles][4] = {};
      for (int c = 0; c < chunks; ++c) {
        const int count = depth - c * kTerms - 8 * (lane % 4);
        multiply_chunk(shared_terms<V>(low + c * kTerms, count),
                       shared_terms<V>(low + 8 * depth + c * kTerms, count), w + c * (Tiles * 32) + lane, E{},
                       sum);
      }
      const int mine = top + lane / 4;
      if (d.tile_bytes > 0) {
        store_tile<Tiles>(&out.Y(row + top, 0), tile, left - top < kRows ? left - top : kRows,
                          static_cast<int>(out.Y.cols), sum);
      } else {
        if (mine < left) store_row<Tiles>(out, row + mine, j0, true, sum, 0);
        if (mine + 8 < left) store_row<Tiles>(out, row + mine + 8, j0, true, sum, 1);
      }
    }
    bulk_copy_fence();
    __syncwarp();  // the run is read
    runs.start(row + d.stages * step, stage);
    if (++stage == d.stages) stage = 0, parity ^= 1;
  }
}

/// Bytes of shared memory of a block.
inline Index bulk_bytes(const BulkDivision& d, Index depth, int tiles_across) {
  return ceil_div(depth, kTerms) * tiles_across * 512 +
         static_cast<Index>(kWarps) * (d.stages * d.run_bytes + d.tile_bytes);
}

/// The division of these operands; no stages: shared memory does not hold a run for each warp.
template <class T>
BulkDivision bulk_division(const In<T>& in, const Out<T>& out) {
  constexpr Index kEnough = 16,
                  kReserved = 1024;  // runs for a multiprocessor; bytes of barriers, and to align
  const Index n = out.Y.cols, of_tile = kRows * in.X.cols * static_cast<Index>(sizeof(in_t<T>)),
              even = ceil_div(out.Y.rows, kRows) / (kEnough * device_multiprocessors());
  const int across = tiles_of(n);
  Index tiles = kRunBytes / of_tile < even ? kRunBytes / of_tile : even;
  tiles = tiles < 1 ? 1 : tiles < 16 ? tiles : 16;
  const bool whole = n % (2 * across) == 0 && rows_on_vectors(out.Y);
  const Index of_y = whole ? 0 : kRows * n * static_cast<Index>(sizeof(out_t<T>));
  BulkDivision d{};
  if (tiles * of_tile > device_shared_bytes()) return d;
  d.tiles = static_cast<int>(tiles), d.run_bytes = static_cast<int>(tiles * of_tile);
  d.tile_bytes = static_cast<int>(of_y);
  // two blocks on a multiprocessor where they have as much on its way as one
  const auto fits = [&](int stages, Index blocks) {
    d.stages = stages;
    return blocks * (bulk_bytes(d, in.X.cols, across) + kReserved) <= device_shared_bytes();
  };
  if (fits(kMostStages, 2) || fits(2, 2) || fits(kMostStages, 1) || fits(2, 1) || fits(1, 1)) return d;
  d.stages = 0;
  return d;
}

/// Whether rows of X are one run of bytes that a warp can hold, and those of Y whole vectors of columns or one run too.
template <class T>
bool bulk_takes(const In<T>& in, const Out<T>& out) {
  const auto on_16 = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
  const Index k = in.X.cols, n = out.Y.cols;
  if (k == 0 || n == 0 || in.X.ld != k || !on_16(in.X.data) || !on_16(out.Y.data)) return false;
  const bool whole = n % (2 * tiles_of(n)) == 0 && rows_on_vectors(out.Y), gapless = n <= 64 && out.Y.ld == n;
  return (whole || gapless) && bulk_division<T>(in, out).stages > 0;
}

template <class T, int Tiles, int V>
void launch_bulk(const In<T>& in, const Out<T>& out, Context& context) {
  constexpr Index kMostResident = 3;
  const BulkDivision d = bulk_division<T>(in, out);
  const Index bytes = bulk_bytes(d, in.X.cols, Tiles), fits = device_shared_bytes() / (bytes + 1024),
              resident = fits < 1               ? 1
                         : fits < kMostResident ? fits
                                                : kMostResident,
              across = ceil_div(out.Y.cols, 8 * Tiles),
              blocks = ceil_div(out.Y.rows, static_cast<Index>(kWarps) * d.tiles * kRows),
              most = ceil_div(resident * device_multiprocessors(), across);
  launch(skinny_half_bulk<T, Tiles, V>,
         dim3(static_cast<unsigned>(blocks < most ? blocks : most), static_cast<unsigned>(across)), kThreads,
         static_cast<std::size_t>(bytes), context.stream, in, out, d);
}

template <class T, int Tiles>
void run_bulk_of(const In<T>& in, const Out<T>& out, Context& context) {
  const Index k = in.X.cols;
  if (k % 8 == 0) return launch_bulk<T, Tiles, 8>(in, out, context);
  if (k % 2 == 0) return launch_bulk<T, Tiles, 2>(in, out, context);
  launch_bulk<T, Tiles, 1>(in, out, context);
}

/// Of operands that bulk_takes() says yes of.
template <class T>
void run_bulk(const In<T>& in, const Out<T>& out, Context& context) {
  if (out.Y.rows == 0) return;
  switch (tiles_of(out.Y.cols)) {
    case 1:
      return run_bulk_of<T, 1>(in, out, context);
    case 2:
      return run_bulk_of<T, 2>(in, out, context);
    case 4:
      return run_bulk_of<T, 4>(in, out, context);
    case 6:
      return run_bulk_of<T, 6>(in, out, context);
    default:
      return run_bulk_of<T, 8>(in, out, context);
  }
}

}  // namespace half
}  // namespace skinny
}  // namespace plumb
