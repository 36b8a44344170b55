// The body of rung 3: a tile of outputs of several filters, pixels and weights in shared memory, reuse in registers. Header only.
#pragma once
#include "gpu/conv2d/kernels/tile.hpp"

namespace plumb {
namespace conv2d {
namespace register_tile {

constexpr int kRows = 8, kCols = 32, kFilters = 32;  // of a block
constexpr int kRowsEach = 4, kFiltersEach = 8;       // of a thread
constexpr int kPitch = kFilters + 4;  // of a tap; without the 4 the stores along a filter hit one bank
constexpr int kThreads = 32 * (kRows / kRowsEach) * (kFilters / kFiltersEach);
constexpr Index kStageBytes =
    40 << 10;  // channels are staged together up to this size: five blocks per multiprocessor

/// 8 weights as vectors of 16 bytes.
template <class T>
struct alignas(16) Weights {
  T of[16 / sizeof(T)];
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    conv2d_register_tile(Problem<T> p, In<T> in, Out<T> out, TileGrid grid, Halo halo, int channels,
                         unsigned groups) {
  PLUMB_DYNAMIC_SHARED(T, shared);
  const int taps = p.r * p.s, area = halo.rows * halo.cols;
  T* const weights = shared;                              // (channels, taps, kPitch)
  T* const pixels = shared + channels * taps * kPitch;    // (channels, halo.rows, halo.cols)
  const TilePlace tile = tile_place(grid, kRows, kCols);  // its plane: image * groups + group of filters
  const Index image = tile.plane / groups;
  const int first = static_cast<int>(tile.plane % groups) * kFilters;
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  const int y = warp % (kRows / kRowsEach) * kRowsEach, f = warp / (kRows / kRowsEach) * kFiltersEach;
  const T* plane = in.X.data + image * p.c * in.X.ld;
  T sum[kRowsEach][kFiltersEach] = {};
  for (int ch = 0; ch < p.c; ch += channels) {
    const int staged = p.c - ch < channels ? p.c - ch : channels;
    if (ch > 0) __syncthreads();
    for (int u = 0; u < staged; ++u, plane += in.X.ld)
      stage_pixels<kThreads>(p, plane, tile.y * p.stride_h - p.pad_h, tile.x * p.stride_w - p.pad_w, halo,
                             pixels + u * area);
    for (int e = t; e < staged * taps * kFilters; e += kThreads) {
      const int filter = e / (staged * taps), tap = e % (staged * taps);  // along a filter: coalesced
      weights[tap * kPitch + filter] =
          first + filter < p.k ? in.F(first + filter, static_cast<Index>(ch) * taps + tap) : T(0);
    }
    __syncthreads();
    const T* weight = weights + f;
    for (int u = 0; u < staged; ++u) {
      for (int a = 0; a < p.r; ++a) {
        const T* pixel =
            pixels + u * area + (y * p.stride_h + a * p.dilation_h) * halo.cols + lane * p.stride_w;
        for (int b = 0; b < p.s; ++b, pixel += p.dilation_w, weight += kPitch) {
          T w[kFiltersEach], x[kRowsEach];
#pragma unroll
          for (int v = 0; v < kFiltersEach; v += 16 / static_cast<int>(sizeof(T))) {
            const Weights<T> some = *reinterpret_cast<const Weights<T>*>(weight + v);
#pragma unroll
            for (int l = 0; l < 16 / static_cast<int>(sizeof(T)); ++l) w[v + l] = some.of[l];
          }
#pragma unroll
          for (int i = 0; i < kRowsEach; ++i) x[i] = pixel[i * p.stride_h * halo.cols];
#pragma unroll
          for (int i = 0; i < kRowsEach; ++i) {
#pragma unroll
            for (int j = 0; j < kFiltersEach; ++j) sum[i][j] += w[j] * x[i];
          }
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kRowsEach; ++i) {
#pragma unroll
    for (int j = 0; j < kFiltersEach; ++j) {
      if (first + f + j < p.k && tile.y + y + i < p.oh && tile.x + lane < p.ow)
        out.Y(image * p.k + first + f + j, static_cast<Index>(tile.y + y + i) * p.ow + tile.x + lane) =
            sum[i][j];
    }
  }
}

/// Bytes of one channel of a stage.
template <class T>
Index stage_bytes(const Problem<T>& p) {
  return halo_of(p, kRows, kCols).template bytes<T>() +
         Index{kPitch} * p.r * p.s * static_cast<Index>(sizeof(T));
}

template <class T>
const char* supports_register_tile(const Problem<T>& p, const In<T>&, const Out<T>&) {
  return stage_bytes(p) <= kMaxShared ? nullptr
                                      : "a tile of outputs needs more pixels than shared memory holds";
}

template <class T>
void run_register_tile(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const TileGrid grid = tile_grid(p, kRows, kCols);
  const Index bytes = stage_bytes(p), fit = kStageBytes / bytes;
  const int channels = static_cast<int>(fit < 1 ? 1 : fit > p.c ? at_least_one(p.c) : fit);
  const Index groups = ceil_div(p.k, kFilters);
  launch(conv2d_register_tile<T>, p.n * groups * grid.down * grid.across, kThreads,
         static_cast<std::size_t>(channels * bytes), context.stream, p, in, out, grid,
         halo_of(p, kRows, kCols), channels, static_cast<unsigned>(groups));
}

}  // namespace register_tile
}  // namespace conv2d
}  // namespace plumb
