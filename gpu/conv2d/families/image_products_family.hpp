// The family of run_image_products(), tiles of images for filters of one pixel.
// Launches that several rungs make, the adaptive one among them, each compiled once, in families/. A file that
// includes this header sees declarations, and its object holds none of their device code. Where those files are not compiled beside it (a
// user's folder, a mutant's copy), PLUMB_FAMILIES is not defined, and a launch is instantiated where it is used.
#pragma once
#include "gpu/conv2d/kernels/image_products.hpp"
#include "gpu/conv2d/kernels/tiles.hpp"

// clang-format off
#define PLUMB_CONV2D_IMAGES_F32_OF(INSTANTIATE, S) \
  INSTANTIATE void run_image_products<ImageTiles<float>::S, float>( \
     const Problem<float>&, const In<float>&, const Out<float>&, Context&, Index, unsigned*);
#define PLUMB_CONV2D_IMAGES_F32(INSTANTIATE) \
  PLUMB_CONV2D_IMAGES_F32_OF(INSTANTIATE, Small) \
  PLUMB_CONV2D_IMAGES_F32_OF(INSTANTIATE, Wide) \
  PLUMB_CONV2D_IMAGES_F32_OF(INSTANTIATE, Shared)
#define PLUMB_CONV2D_IMAGES_F64_OF(INSTANTIATE, S) \
  INSTANTIATE void run_image_products<ImageTiles<double>::S, double>( \
     const Problem<double>&, const In<double>&, const Out<double>&, Context&, Index, unsigned*);
#define PLUMB_CONV2D_IMAGES_F64(INSTANTIATE) \
  PLUMB_CONV2D_IMAGES_F64_OF(INSTANTIATE, Small) \
  PLUMB_CONV2D_IMAGES_F64_OF(INSTANTIATE, Wide) \
  PLUMB_CONV2D_IMAGES_F64_OF(INSTANTIATE, Shared) \
  PLUMB_CONV2D_IMAGES_F64_OF(INSTANTIATE, SharedSquare) \
  PLUMB_CONV2D_IMAGES_F64_OF(INSTANTIATE, Low) \
  PLUMB_CONV2D_IMAGES_F64_OF(INSTANTIATE, Square)
// clang-format on

#ifdef PLUMB_FAMILIES
namespace plumb {
namespace conv2d {
PLUMB_CONV2D_IMAGES_F32(extern template)
PLUMB_CONV2D_IMAGES_F64(extern template)
}  // namespace conv2d
}  // namespace plumb
#endif
