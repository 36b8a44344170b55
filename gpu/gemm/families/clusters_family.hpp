// The family of run_clusters(), a cluster of blocks for each tile.
// Launches that several rungs make, the adaptive one among them, each compiled once, in families/. A file that
// includes this header sees declarations, and its object holds none of their device code. Where those files are not compiled beside it (a
// user's folder, a mutant's copy), PLUMB_FAMILIES is not defined, and a launch is instantiated where it is used.
#pragma once
#include "gpu/gemm/kernels/clusters.hpp"
#include "gpu/gemm/kernels/small_warps.hpp"

// clang-format off
#define PLUMB_GEMM_CLUSTERS_F32_OF(INSTANTIATE, S) \
  INSTANTIATE void run_clusters<S, float>( \
    const Problem<float>&, const In<float>&, const Out<float>&, Index, Context&);
#define PLUMB_GEMM_CLUSTERS_F32(INSTANTIATE) \
  PLUMB_GEMM_CLUSTERS_F32_OF(INSTANTIATE, Quartered)
#define PLUMB_GEMM_CLUSTERS_F64_OF(INSTANTIATE, S) \
  INSTANTIATE void run_clusters<S, double>( \
    const Problem<double>&, const In<double>&, const Out<double>&, Index, Context&);
#define PLUMB_GEMM_CLUSTERS_F64(INSTANTIATE) \
  PLUMB_GEMM_CLUSTERS_F64_OF(INSTANTIATE, Fp64Small) \
  PLUMB_GEMM_CLUSTERS_F64_OF(INSTANTIATE, Fp64SharedSquare)
// clang-format on

#ifdef PLUMB_FAMILIES
namespace plumb {
namespace gemm {
PLUMB_GEMM_CLUSTERS_F32(extern template)
PLUMB_GEMM_CLUSTERS_F64(extern template)
}  // namespace gemm
}  // namespace plumb
#endif
