// The family of run_divided() for tiles whose columns, or rows, fit C.
// Launches that several rungs make, the adaptive one among them, each compiled once, in families/. A file that
// includes this header sees declarations, and its object holds none of their device code. Where those files are not compiled beside it (a
// user's folder, a mutant's copy), PLUMB_FAMILIES is not defined, and a launch is instantiated where it is used.
#pragma once
#include "gpu/gemm/kernels/fitted.hpp"
#include "gpu/gemm/kernels/thin_rows.hpp"

// clang-format off
#define PLUMB_GEMM_FITTED_AS(INSTANTIATE, T, ...) \
  INSTANTIATE void run_divided<__VA_ARGS__, T>( \
    const Division&, unsigned*, const Problem<T>&, const In<T>&, const Out<T>&, Context&);
#define PLUMB_GEMM_FITTED_OF(INSTANTIATE, T, C) \
  PLUMB_GEMM_FITTED_AS(INSTANTIATE, T, FittedOf<T, C>)
#define PLUMB_GEMM_FITTED(INSTANTIATE, T) \
  PLUMB_GEMM_FITTED_OF(INSTANTIATE, T, 2) \
  PLUMB_GEMM_FITTED_OF(INSTANTIATE, T, 3) \
  PLUMB_GEMM_FITTED_OF(INSTANTIATE, T, 4) \
  PLUMB_GEMM_FITTED_OF(INSTANTIATE, T, 5) \
  PLUMB_GEMM_FITTED_OF(INSTANTIATE, T, 6) \
  PLUMB_GEMM_FITTED_OF(INSTANTIATE, T, 7) \
  PLUMB_GEMM_FITTED_OF(INSTANTIATE, T, 8)
#define PLUMB_GEMM_FITTED_ROWS(INSTANTIATE) \
  PLUMB_GEMM_FITTED_AS(INSTANTIATE, double, FittedRows<1>) \
  PLUMB_GEMM_FITTED_AS(INSTANTIATE, double, FittedRows<2>) \
  PLUMB_GEMM_FITTED_AS(INSTANTIATE, double, FittedRows<3>) \
  PLUMB_GEMM_FITTED_AS(INSTANTIATE, double, FittedRows<4>)
#define PLUMB_GEMM_THIN_ROWS(INSTANTIATE) \
  PLUMB_GEMM_FITTED_AS(INSTANTIATE, float, ThinRows<8>) \
  PLUMB_GEMM_FITTED_AS(INSTANTIATE, float, ThinRows<16>)
// clang-format on

#ifdef PLUMB_FAMILIES
namespace plumb {
namespace gemm {
PLUMB_GEMM_FITTED(extern template, float)
PLUMB_GEMM_FITTED(extern template, double)
PLUMB_GEMM_FITTED_ROWS(extern template)
PLUMB_GEMM_THIN_ROWS(extern template)
}  // namespace gemm
}  // namespace plumb
#endif
