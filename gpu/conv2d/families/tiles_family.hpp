// The family of run_tiles(), tiles of filters by outputs, whole or their sums in parts.
// Launches that several rungs make, the adaptive one among them, each compiled once, in families/. A file that
// includes this header sees declarations, and its object holds none of their device code. Where those files are not compiled beside it (a
// user's folder, a mutant's copy), PLUMB_FAMILIES is not defined, and a launch is instantiated where it is used.
#pragma once
#include "gpu/conv2d/kernels/tiles.hpp"

// clang-format off
#define PLUMB_CONV2D_TILES_F32_OF(INSTANTIATE, S, WINDOWS, PARTS) \
  INSTANTIATE void run_tiles<Shapes<float>::S, WINDOWS, PARTS, float>( \
     const Problem<float>&, const In<float>&, const Out<float>&, Context&, Index, unsigned*);
#define PLUMB_CONV2D_TILES_F32(INSTANTIATE) \
  PLUMB_CONV2D_TILES_F32_OF(INSTANTIATE, Small, GatheredWindows, false) \
  PLUMB_CONV2D_TILES_F32_OF(INSTANTIATE, Small, ImagesAsMatrices, false) \
  PLUMB_CONV2D_TILES_F32_OF(INSTANTIATE, Middle, GatheredWindows, false) \
  PLUMB_CONV2D_TILES_F32_OF(INSTANTIATE, Middle, ImagesAsMatrices, false) \
  PLUMB_CONV2D_TILES_F32_OF(INSTANTIATE, Large, GatheredWindows, false) \
  PLUMB_CONV2D_TILES_F32_OF(INSTANTIATE, Large, ImagesAsMatrices, false) \
  PLUMB_CONV2D_TILES_F32_OF(INSTANTIATE, Half, GatheredWindows, false) \
  PLUMB_CONV2D_TILES_F32_OF(INSTANTIATE, Half, ImagesAsMatrices, false) \
  PLUMB_CONV2D_TILES_F32_OF(INSTANTIATE, Thin, GatheredWindows, false) \
  PLUMB_CONV2D_TILES_F32_OF(INSTANTIATE, Thin, ImagesAsMatrices, false)
#define PLUMB_CONV2D_PARTS_F32_OF(INSTANTIATE, S, WINDOWS, PARTS) \
  INSTANTIATE void run_tiles<Shapes<float>::S, WINDOWS, PARTS, float>( \
     const Problem<float>&, const In<float>&, const Out<float>&, Context&, Index, unsigned*);
#define PLUMB_CONV2D_PARTS_F32(INSTANTIATE) \
  PLUMB_CONV2D_PARTS_F32_OF(INSTANTIATE, Small, GatheredWindows, true) \
  PLUMB_CONV2D_PARTS_F32_OF(INSTANTIATE, Small, ImagesAsMatrices, true) \
  PLUMB_CONV2D_PARTS_F32_OF(INSTANTIATE, Large, GatheredWindows, true) \
  PLUMB_CONV2D_PARTS_F32_OF(INSTANTIATE, Large, ImagesAsMatrices, true) \
  PLUMB_CONV2D_PARTS_F32_OF(INSTANTIATE, Half, GatheredWindows, true) \
  PLUMB_CONV2D_PARTS_F32_OF(INSTANTIATE, Half, ImagesAsMatrices, true) \
  PLUMB_CONV2D_PARTS_F32_OF(INSTANTIATE, Thin, GatheredWindows, true) \
  PLUMB_CONV2D_PARTS_F32_OF(INSTANTIATE, Thin, ImagesAsMatrices, true)
#define PLUMB_CONV2D_TILES_F64_OF(INSTANTIATE, S, WINDOWS, PARTS) \
  INSTANTIATE void run_tiles<Shapes<double>::S, WINDOWS, PARTS, double>( \
     const Problem<double>&, const In<double>&, const Out<double>&, Context&, Index, unsigned*);
#define PLUMB_CONV2D_TILES_F64(INSTANTIATE) \
  PLUMB_CONV2D_TILES_F64_OF(INSTANTIATE, Small, GatheredWindows, false) \
  PLUMB_CONV2D_TILES_F64_OF(INSTANTIATE, Small, ImagesAsMatrices, false) \
  PLUMB_CONV2D_TILES_F64_OF(INSTANTIATE, Middle, GatheredWindows, false) \
  PLUMB_CONV2D_TILES_F64_OF(INSTANTIATE, Middle, ImagesAsMatrices, false) \
  PLUMB_CONV2D_TILES_F64_OF(INSTANTIATE, Half, GatheredWindows, false) \
  PLUMB_CONV2D_TILES_F64_OF(INSTANTIATE, Half, ImagesAsMatrices, false) \
  PLUMB_CONV2D_TILES_F64_OF(INSTANTIATE, Thin, GatheredWindows, false) \
  PLUMB_CONV2D_TILES_F64_OF(INSTANTIATE, Thin, ImagesAsMatrices, false)
#define PLUMB_CONV2D_PARTS_F64_OF(INSTANTIATE, S, WINDOWS, PARTS) \
  INSTANTIATE void run_tiles<Shapes<double>::S, WINDOWS, PARTS, double>( \
     const Problem<double>&, const In<double>&, const Out<double>&, Context&, Index, unsigned*);
#define PLUMB_CONV2D_PARTS_F64(INSTANTIATE) \
  PLUMB_CONV2D_PARTS_F64_OF(INSTANTIATE, Small, GatheredWindows, true) \
  PLUMB_CONV2D_PARTS_F64_OF(INSTANTIATE, Small, ImagesAsMatrices, true) \
  PLUMB_CONV2D_PARTS_F64_OF(INSTANTIATE, Middle, GatheredWindows, true) \
  PLUMB_CONV2D_PARTS_F64_OF(INSTANTIATE, Middle, ImagesAsMatrices, true) \
  PLUMB_CONV2D_PARTS_F64_OF(INSTANTIATE, Half, GatheredWindows, true) \
  PLUMB_CONV2D_PARTS_F64_OF(INSTANTIATE, Half, ImagesAsMatrices, true) \
  PLUMB_CONV2D_PARTS_F64_OF(INSTANTIATE, Thin, GatheredWindows, true) \
  PLUMB_CONV2D_PARTS_F64_OF(INSTANTIATE, Thin, ImagesAsMatrices, true)
// clang-format on

#ifdef PLUMB_FAMILIES
namespace plumb {
namespace conv2d {
PLUMB_CONV2D_TILES_F32(extern template)
PLUMB_CONV2D_PARTS_F32(extern template)
PLUMB_CONV2D_TILES_F64(extern template)
PLUMB_CONV2D_PARTS_F64(extern template)
}  // namespace conv2d
}  // namespace plumb
#endif
