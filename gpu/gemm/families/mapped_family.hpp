// The family of run_mapped_tiles(), tiles of B by the copy engine.
// Launches that several rungs make, the adaptive one among them, each compiled once, in families/. A file that
// includes this header sees declarations, and its object holds none of their device code. Where those files are not compiled beside it (a
// user's folder, a mutant's copy), PLUMB_FAMILIES is not defined, and a launch is instantiated where it is used.
#pragma once
#include "gpu/gemm/kernels/mapped.hpp"

// clang-format off
#define PLUMB_GEMM_MAPPED_OF(INSTANTIATE, S) \
  INSTANTIATE void run_mapped_tiles<S>( \
    Division, const Problem<float>&, const In<float>&, const Out<float>&, Context&);
#define PLUMB_GEMM_MAPPED(INSTANTIATE) \
  PLUMB_GEMM_MAPPED_OF(INSTANTIATE, Shallow) \
  PLUMB_GEMM_MAPPED_OF(INSTANTIATE, Deep)
// clang-format on

#ifdef PLUMB_FAMILIES
namespace plumb {
namespace gemm {
PLUMB_GEMM_MAPPED(extern template)
}  // namespace gemm
}  // namespace plumb
#endif
