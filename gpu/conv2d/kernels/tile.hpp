// Tiles of outputs with the pixels that their windows cover: what rungs 2 and 3 share. Header only.
#pragma once
#include "gpu/conv2d/common.hpp"

namespace plumb {
namespace conv2d {

/// Dynamic shared memory that any device since sm_80 gives a block.
constexpr Index kMaxShared = 160 << 10;  // bytes

/// Tiles over one plane of outputs.
struct TileGrid {
  unsigned down, across;
};
template <class T>
TileGrid tile_grid(const Problem<T>& p, int rows, int cols) {
  return {static_cast<unsigned>(ceil_div(p.oh, rows)), static_cast<unsigned>(ceil_div(p.ow, cols))};
}

/// The tile that a block of a one-dimensional grid works on: tiles of a plane follow each other, planes are
/// slowest.
struct TilePlace {
  Index plane;
  int y, x;  // its first output
};
PLUMB_DEVICE TilePlace tile_place(TileGrid grid, int rows, int cols) {
  const unsigned tiles = grid.down * grid.across, within = blockIdx.x % tiles;
  return {static_cast<Index>(blockIdx.x / tiles), static_cast<int>(within / grid.across) * rows,
          static_cast<int>(within % grid.across) * cols};
}

/// Pixels under the windows of a tile of outputs.
struct Halo {
  int rows, cols;
  Index down, across;  // the same, before they were known to fit
  template <class T>
  Index bytes() const {
    // either alone may be past what a product holds
    return down > kMaxShared || across > kMaxShared ? kMaxShared + 1
                                                    : down * across * static_cast<Index>(sizeof(T));
  }
};
template <class T>
Halo halo_of(const Problem<T>& p, int rows, int cols) {
  const Index down = Index{1} * (rows - 1) * p.stride_h + Index{1} * (p.r - 1) * p.dilation_h + 1,
              across = Index{1} * (cols - 1) * p.stride_w + Index{1} * (p.s - 1) * p.dilation_w + 1;
  return {static_cast<int>(down), static_cast<int>(across), down, across};
}

/// Stages pixels [y0, y0 + halo.rows) x [x0, x0 + halo.cols) of a plane, zeros where it has none; all threads
/// take part.
template <int Threads, class T>
PLUMB_DEVICE void stage_pixels(const Problem<T>& p, const T* plane /* (h, w) */, int y0, int x0, Halo halo,
                               T* to /* (halo.rows, halo.cols), shared */) {
  for (int e = static_cast<int>(threadIdx.x); e < halo.rows * halo.cols; e += Threads)
    to[e] = pixel_or_zero(p, plane, y0 + e / halo.cols, x0 + e % halo.cols);
}

}  // namespace conv2d
}  // namespace plumb
