// The family of run_slices_of(), slices of the depth apart.
// Launches that several rungs make, the adaptive one among them, each compiled once, in families/. A file that
// includes this header sees declarations, and its object holds none of their device code. Where those files are not compiled beside it (a
// user's folder, a mutant's copy), PLUMB_FAMILIES is not defined, and a launch is instantiated where it is used.
#pragma once
#include "gpu/gemm/kernels/slices.hpp"

// clang-format off
#define PLUMB_GEMM_SLICES_OF(INSTANTIATE, S) \
  INSTANTIATE void run_slices_of<S>(const Problem<float>&, const In<float>&, const Out<float>&, Context&);
#define PLUMB_GEMM_SLICES(INSTANTIATE) \
  PLUMB_GEMM_SLICES_OF(INSTANTIATE, Slices)
// clang-format on

#ifdef PLUMB_FAMILIES
namespace plumb {
namespace gemm {
PLUMB_GEMM_SLICES(extern template)
}  // namespace gemm
}  // namespace plumb
#endif
