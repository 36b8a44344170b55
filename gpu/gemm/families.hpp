// Launches of this ladder that several rungs or adaptive rungs make. Each family of them is compiled once, in families/FAMILY.cu: a file that
// includes this header sees declarations, and its object holds none of their device code. Where those files are not compiled beside it (a
// user's folder, a mutant's copy), PLUMB_FAMILIES is not defined, and a template is instantiated where it is used.
#pragma once
#include "gpu/gemm/clusters.hpp"
#include "gpu/gemm/mapped.hpp"
#include "gpu/gemm/slices.hpp"
#include "gpu/gemm/small_warps.hpp"
#include "gpu/gemm/split_depth.hpp"

// The members of each family: DO(shape).
#define PLUMB_GEMM_MULTISTAGE(DO) \
  DO(Quartered)                   \
  DO(QuarteredShallow) DO(QuarteredShort) DO(QuarteredWide) DO(SharedWide) DO(SharedSquare) DO(Sliced)
#define PLUMB_GEMM_TENSOR(DO)                                                                    \
  DO(Fp64Tile)                                                                                   \
  DO(Fp64Small) DO(Fp64Pair) DO(Fp64Low) DO(Fp64Square) DO(Fp64Large) DO(Fp64Steps) DO(Fp64Thin) \
      DO(Fp64Deep) DO(Fp64SharedWide) DO(Fp64SharedSquare)
#define PLUMB_GEMM_DIVIDED_F32(DO) DO(QuarteredDeep) DO(QuarteredThin) DO(QuarteredWide)
#define PLUMB_GEMM_DIVIDED_F64(DO) DO(Fp64Small) DO(Fp64Wide) DO(Fp64Pair)
#define PLUMB_GEMM_CLUSTERS_F64(DO) DO(Fp64Small) DO(Fp64SharedSquare)
#define PLUMB_GEMM_MAPPED(DO) DO(Shallow) DO(Deep)

// A member's launch: INSTANTIATE is `template`, or `extern template`.
#define PLUMB_GEMM_OPERANDS(T) const Problem<T>&, const In<T>&, const Out<T>&
#define PLUMB_GEMM_RUN_MULTISTAGE(INSTANTIATE, S) \
  INSTANTIATE void run_multistage<float, S>(PLUMB_GEMM_OPERANDS(float), Context&);
#define PLUMB_GEMM_RUN_TENSOR(INSTANTIATE, S) \
  INSTANTIATE void run_tensor<double, S, Fp64Math<S>>(PLUMB_GEMM_OPERANDS(double), Context&);
#define PLUMB_GEMM_RUN_DIVIDED(INSTANTIATE, S, T) \
  INSTANTIATE void run_divided<S, T>(const Division&, unsigned*, PLUMB_GEMM_OPERANDS(T), Context&);
#define PLUMB_GEMM_RUN_CLUSTERS(INSTANTIATE, S, T) \
  INSTANTIATE void run_clusters<S, T>(PLUMB_GEMM_OPERANDS(T), Index, Context&);
#define PLUMB_GEMM_RUN_MAPPED(INSTANTIATE, S) \
  INSTANTIATE void run_mapped_tiles<S>(Division, PLUMB_GEMM_OPERANDS(float), Context&);
#define PLUMB_GEMM_RUN_SLICES(INSTANTIATE, S) \
  INSTANTIATE void run_slices_of<S>(PLUMB_GEMM_OPERANDS(float), Context&);
#define PLUMB_GEMM_RUN_SPLIT_DEPTH(INSTANTIATE, T)                                                      \
  INSTANTIATE void split_depth::run_split_depth<T>(const split_depth::Plan<T>&, PLUMB_GEMM_OPERANDS(T), \
                                                   Context&);

#ifdef PLUMB_FAMILIES
namespace plumb {
namespace gemm {
#define PLUMB_DECLARE(S) PLUMB_GEMM_RUN_MULTISTAGE(extern template, S)
PLUMB_GEMM_MULTISTAGE(PLUMB_DECLARE)
#undef PLUMB_DECLARE
#define PLUMB_DECLARE(S) PLUMB_GEMM_RUN_TENSOR(extern template, S)
PLUMB_GEMM_TENSOR(PLUMB_DECLARE)
#undef PLUMB_DECLARE
#define PLUMB_DECLARE(S) PLUMB_GEMM_RUN_DIVIDED(extern template, S, float)
PLUMB_GEMM_DIVIDED_F32(PLUMB_DECLARE)
#undef PLUMB_DECLARE
#define PLUMB_DECLARE(S) PLUMB_GEMM_RUN_DIVIDED(extern template, S, double)
PLUMB_GEMM_DIVIDED_F64(PLUMB_DECLARE)
#undef PLUMB_DECLARE
#define PLUMB_DECLARE(S) PLUMB_GEMM_RUN_CLUSTERS(extern template, S, double)
PLUMB_GEMM_CLUSTERS_F64(PLUMB_DECLARE)
#undef PLUMB_DECLARE
#define PLUMB_DECLARE(S) PLUMB_GEMM_RUN_MAPPED(extern template, S)
PLUMB_GEMM_MAPPED(PLUMB_DECLARE)
#undef PLUMB_DECLARE
PLUMB_GEMM_RUN_CLUSTERS(extern template, Quartered, float)
PLUMB_GEMM_RUN_SLICES(extern template, Slices)
PLUMB_GEMM_RUN_SPLIT_DEPTH(extern template, float)
PLUMB_GEMM_RUN_SPLIT_DEPTH(extern template, double)
}  // namespace gemm
}  // namespace plumb
#endif
