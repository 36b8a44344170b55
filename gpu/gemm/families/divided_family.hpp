// The family of run_divided(), the depth of tiles in parts.
// Launches that several rungs make, the adaptive one among them, each compiled once, in families/. A file that
// includes this header sees declarations, and its object holds none of their device code. Where those files are not compiled beside it (a
// user's folder, a mutant's copy), PLUMB_FAMILIES is not defined, and a launch is instantiated where it is used.
#pragma once
#include "gpu/gemm/kernels/small_warps.hpp"

// clang-format off
#define PLUMB_GEMM_DIVIDED_F32_OF(INSTANTIATE, S) \
  INSTANTIATE void run_divided<S, float>( \
    const Division&, unsigned*, const Problem<float>&, const In<float>&, const Out<float>&, Context&);
#define PLUMB_GEMM_DIVIDED_F32(INSTANTIATE) \
  PLUMB_GEMM_DIVIDED_F32_OF(INSTANTIATE, QuarteredDeep) \
  PLUMB_GEMM_DIVIDED_F32_OF(INSTANTIATE, QuarteredThin) \
  PLUMB_GEMM_DIVIDED_F32_OF(INSTANTIATE, QuarteredWide)
#define PLUMB_GEMM_DIVIDED_F64_OF(INSTANTIATE, S) \
  INSTANTIATE void run_divided<S, double>( \
    const Division&, unsigned*, const Problem<double>&, const In<double>&, const Out<double>&, Context&);
#define PLUMB_GEMM_DIVIDED_F64(INSTANTIATE) \
  PLUMB_GEMM_DIVIDED_F64_OF(INSTANTIATE, Fp64Small) \
  PLUMB_GEMM_DIVIDED_F64_OF(INSTANTIATE, Fp64Wide) \
  PLUMB_GEMM_DIVIDED_F64_OF(INSTANTIATE, Fp64Pair)
// clang-format on

#ifdef PLUMB_FAMILIES
namespace plumb {
namespace gemm {
PLUMB_GEMM_DIVIDED_F32(extern template)
PLUMB_GEMM_DIVIDED_F64(extern template)
}  // namespace gemm
}  // namespace plumb
#endif
