// The family of run_register_tile(), pixels staged once.
// Launches that several rungs make, the adaptive one among them, each compiled once, in families/. A file that
// includes this header sees declarations, and its object holds none of their device code. Where those files are not compiled beside it (a
// user's folder, a mutant's copy), PLUMB_FAMILIES is not defined, and a launch is instantiated where it is used.
#pragma once
#include "gpu/conv2d/kernels/register_tile.hpp"

// clang-format off
#define PLUMB_CONV2D_REGISTER_TILE_OF(INSTANTIATE, S) \
  INSTANTIATE void register_tile::run_register_tile<S>( \
    const Problem<S>&, const In<S>&, const Out<S>&, Context&);
#define PLUMB_CONV2D_REGISTER_TILE(INSTANTIATE) \
  PLUMB_CONV2D_REGISTER_TILE_OF(INSTANTIATE, float) \
  PLUMB_CONV2D_REGISTER_TILE_OF(INSTANTIATE, double)
// clang-format on

#ifdef PLUMB_FAMILIES
namespace plumb {
namespace conv2d {
PLUMB_CONV2D_REGISTER_TILE(extern template)
}  // namespace conv2d
}  // namespace plumb
#endif
