// The family of run_split_depth(), tiles of 32 x 32 whose depth blocks share.
// Launches that several rungs make, the adaptive one among them, each compiled once, in families/. A file that
// includes this header sees declarations, and its object holds none of their device code. Where those files are not compiled beside it (a
// user's folder, a mutant's copy), PLUMB_FAMILIES is not defined, and a launch is instantiated where it is used.
#pragma once
#include "gpu/gemm/kernels/split_depth.hpp"

// clang-format off
#define PLUMB_GEMM_SPLIT_DEPTH_OF(INSTANTIATE, S) \
  INSTANTIATE void split_depth::run_split_depth<S>( \
    const split_depth::Plan<S>&, const Problem<S>&, const In<S>&, const Out<S>&, Context&);
#define PLUMB_GEMM_SPLIT_DEPTH(INSTANTIATE) \
  PLUMB_GEMM_SPLIT_DEPTH_OF(INSTANTIATE, float) \
  PLUMB_GEMM_SPLIT_DEPTH_OF(INSTANTIATE, double)
// clang-format on

#ifdef PLUMB_FAMILIES
namespace plumb {
namespace gemm {
PLUMB_GEMM_SPLIT_DEPTH(extern template)
}  // namespace gemm
}  // namespace plumb
#endif
