// The family of run_multistage(), a block for each tile in fp32.
// Launches that several rungs make, the adaptive one among them, each compiled once, in families/. A file that
// includes this header sees declarations, and its object holds none of their device code. Where those files are not compiled beside it (a
// user's folder, a mutant's copy), PLUMB_FAMILIES is not defined, and a launch is instantiated where it is used.
#pragma once
#include "gpu/gemm/kernels/small_warps.hpp"

// clang-format off
#define PLUMB_GEMM_MULTISTAGE_OF(INSTANTIATE, S) \
  INSTANTIATE void run_multistage<float, S>( \
    const Problem<float>&, const In<float>&, const Out<float>&, Context&);
#define PLUMB_GEMM_MULTISTAGE(INSTANTIATE) \
  PLUMB_GEMM_MULTISTAGE_OF(INSTANTIATE, Quartered) \
  PLUMB_GEMM_MULTISTAGE_OF(INSTANTIATE, QuarteredShallow) \
  PLUMB_GEMM_MULTISTAGE_OF(INSTANTIATE, QuarteredShort) \
  PLUMB_GEMM_MULTISTAGE_OF(INSTANTIATE, QuarteredWide) \
  PLUMB_GEMM_MULTISTAGE_OF(INSTANTIATE, SharedWide) \
  PLUMB_GEMM_MULTISTAGE_OF(INSTANTIATE, SharedSquare) \
  PLUMB_GEMM_MULTISTAGE_OF(INSTANTIATE, Sliced)
// clang-format on

#ifdef PLUMB_FAMILIES
namespace plumb {
namespace gemm {
PLUMB_GEMM_MULTISTAGE(extern template)
}  // namespace gemm
}  // namespace plumb
#endif
