// The family of run_tensor(), a block for each tile in fp64.
// Launches that several rungs make, the adaptive one among them, each compiled once, in families/. A file that
// includes this header sees declarations, and its object holds none of their device code. Where those files are not compiled beside it (a
// user's folder, a mutant's copy), PLUMB_FAMILIES is not defined, and a launch is instantiated where it is used.
#pragma once
#include "gpu/gemm/kernels/small_warps.hpp"

// clang-format off
#define PLUMB_GEMM_TENSOR_OF(INSTANTIATE, S) \
  INSTANTIATE void run_tensor<double, S, Fp64Math<S>>( \
    const Problem<double>&, const In<double>&, const Out<double>&, Context&);
#define PLUMB_GEMM_TENSOR(INSTANTIATE) \
  PLUMB_GEMM_TENSOR_OF(INSTANTIATE, Fp64Tile) \
  PLUMB_GEMM_TENSOR_OF(INSTANTIATE, Fp64Small) \
  PLUMB_GEMM_TENSOR_OF(INSTANTIATE, Fp64Pair) \
  PLUMB_GEMM_TENSOR_OF(INSTANTIATE, Fp64Low) \
  PLUMB_GEMM_TENSOR_OF(INSTANTIATE, Fp64Square) \
  PLUMB_GEMM_TENSOR_OF(INSTANTIATE, Fp64Large) \
  PLUMB_GEMM_TENSOR_OF(INSTANTIATE, Fp64Steps) \
  PLUMB_GEMM_TENSOR_OF(INSTANTIATE, Fp64Thin) \
  PLUMB_GEMM_TENSOR_OF(INSTANTIATE, Fp64Deep) \
  PLUMB_GEMM_TENSOR_OF(INSTANTIATE, Fp64SharedWide) \
  PLUMB_GEMM_TENSOR_OF(INSTANTIATE, Fp64SharedSquare)
// clang-format on

#ifdef PLUMB_FAMILIES
namespace plumb {
namespace gemm {
PLUMB_GEMM_TENSOR(extern template)
}  // namespace gemm
}  // namespace plumb
#endif
