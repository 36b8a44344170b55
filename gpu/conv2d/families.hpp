// Launches of this ladder that several rungs make, the adaptive one among them. Each family of them is compiled once, in families/FAMILY.cu: a
// file that includes this header sees declarations, and its object holds none of their device code. Where those files are not compiled beside
// it (a user's folder, a mutant's copy), PLUMB_FAMILIES is not defined, and a template is instantiated where it is used.
#pragma once
#include "gpu/conv2d/few_filters.hpp"
#include "gpu/conv2d/image_products.hpp"
#include "gpu/conv2d/register_tile.hpp"
#include "gpu/conv2d/tiles.hpp"

// The members of each family: DO(shape, windows, whether sums are in parts), or DO(shape).
#define PLUMB_CONV2D_OF_BOTH(DO, S, PARTS) DO(S, GatheredWindows, PARTS) DO(S, ImagesAsMatrices, PARTS)
#define PLUMB_CONV2D_TILES_F32(DO)                                               \
  PLUMB_CONV2D_OF_BOTH(DO, Small, false)                                         \
  PLUMB_CONV2D_OF_BOTH(DO, Middle, false) PLUMB_CONV2D_OF_BOTH(DO, Large, false) \
      PLUMB_CONV2D_OF_BOTH(DO, Half, false) PLUMB_CONV2D_OF_BOTH(DO, Thin, false)
#define PLUMB_CONV2D_PARTS_F32(DO)                                           \
  PLUMB_CONV2D_OF_BOTH(DO, Small, true)                                      \
  PLUMB_CONV2D_OF_BOTH(DO, Large, true) PLUMB_CONV2D_OF_BOTH(DO, Half, true) \
      PLUMB_CONV2D_OF_BOTH(DO, Thin, true)
#define PLUMB_CONV2D_TILES_F64(DO)                                              \
  PLUMB_CONV2D_OF_BOTH(DO, Small, false)                                        \
  PLUMB_CONV2D_OF_BOTH(DO, Middle, false) PLUMB_CONV2D_OF_BOTH(DO, Half, false) \
      PLUMB_CONV2D_OF_BOTH(DO, Thin, false)
#define PLUMB_CONV2D_PARTS_F64(DO)                                            \
  PLUMB_CONV2D_OF_BOTH(DO, Small, true)                                       \
  PLUMB_CONV2D_OF_BOTH(DO, Middle, true) PLUMB_CONV2D_OF_BOTH(DO, Half, true) \
      PLUMB_CONV2D_OF_BOTH(DO, Thin, true)
#define PLUMB_CONV2D_IMAGES_F32(DO) DO(Small) DO(Wide) DO(Shared)
#define PLUMB_CONV2D_IMAGES_F64(DO) DO(Small) DO(Wide) DO(Shared) DO(SharedSquare) DO(Low) DO(Square)

// A member's launch: INSTANTIATE is `template`, or `extern template`.
#define PLUMB_CONV2D_OPERANDS(T) const Problem<T>&, const In<T>&, const Out<T>&, Context&
#define PLUMB_CONV2D_RUN_TILES(INSTANTIATE, T, S, WINDOWS, PARTS) \
  INSTANTIATE void run_tiles<Shapes<T>::S, WINDOWS, PARTS, T>(PLUMB_CONV2D_OPERANDS(T), Index, unsigned*);
#define PLUMB_CONV2D_RUN_IMAGES(INSTANTIATE, T, S) \
  INSTANTIATE void run_image_products<ImageTiles<T>::S, T>(PLUMB_CONV2D_OPERANDS(T), Index, unsigned*);
#define PLUMB_CONV2D_RUN_OTHERS(INSTANTIATE, T)                               \
  INSTANTIATE void few_filters::run_few_filters<T>(PLUMB_CONV2D_OPERANDS(T)); \
  INSTANTIATE void register_tile::run_register_tile<T>(PLUMB_CONV2D_OPERANDS(T));

#ifdef PLUMB_FAMILIES
namespace plumb {
namespace conv2d {
#define PLUMB_DECLARE(S, WINDOWS, PARTS) PLUMB_CONV2D_RUN_TILES(extern template, float, S, WINDOWS, PARTS)
PLUMB_CONV2D_TILES_F32(PLUMB_DECLARE)
PLUMB_CONV2D_PARTS_F32(PLUMB_DECLARE)
#undef PLUMB_DECLARE
#define PLUMB_DECLARE(S, WINDOWS, PARTS) PLUMB_CONV2D_RUN_TILES(extern template, double, S, WINDOWS, PARTS)
PLUMB_CONV2D_TILES_F64(PLUMB_DECLARE)
PLUMB_CONV2D_PARTS_F64(PLUMB_DECLARE)
#undef PLUMB_DECLARE
#define PLUMB_DECLARE(S) PLUMB_CONV2D_RUN_IMAGES(extern template, float, S)
PLUMB_CONV2D_IMAGES_F32(PLUMB_DECLARE)
#undef PLUMB_DECLARE
#define PLUMB_DECLARE(S) PLUMB_CONV2D_RUN_IMAGES(extern template, double, S)
PLUMB_CONV2D_IMAGES_F64(PLUMB_DECLARE)
#undef PLUMB_DECLARE
PLUMB_CONV2D_RUN_OTHERS(extern template, float)
PLUMB_CONV2D_RUN_OTHERS(extern template, double)
}  // namespace conv2d
}  // namespace plumb
#endif
