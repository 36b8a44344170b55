// cuBLAS's factors of small matrices in batches: LU with exchanged rows, what is solved with it, inverses. cublas.hpp includes it.
#pragma once
#include "gpu/simt/host/api/cublas.hpp"

namespace plumb::simt {
/// Matrices of a batch by a list of their places, each of n columns, `ld` elements from one column to the next.
struct BlasList {
  const void* const* at;
  int ld;
};
/// P A = L U for each A of n x n numbers, in its place. Without `pivots` rows stay where they are. info: the first column whose pivot
/// is 0, from 1 on, or 0.
struct BlasFactors {
  cudaDataType_t type;
  int n;
  BlasList a;
  int *pivots, *info;
  int count;
};
cublasStatus_t blas_factor(cublasHandle_t handle, const BlasFactors& factors, Here here);
/// X of op(A) X = B with the factors of A: takes the place of B, of n x columns numbers; or A^-1, in place of whatever B holds.
struct BlasFactored {
  const char* what;
  cudaDataType_t type;
  bool transpose, inverse;
  bool plain;  // A is A itself, and is factored for the purpose
  int n, columns;
  BlasList a;
  const int* pivots;
  BlasList b;
  int* info;  // on the device, or null
  int count;
};
cublasStatus_t blas_solve_factored(cublasHandle_t handle, const BlasFactored& solve, Here here);

template <class T>
const void* const* as_list(T* const* list) {
  return reinterpret_cast<const void* const*>(list);
}
}  // namespace plumb::simt

#define PLUMB_CUBLAS_FACTORS(letter, T, type)                                                               \
  inline cublasStatus_t cublas##letter##getrfBatched(cublasHandle_t h, int n, T* const a[], int lda,        \
                                                     int* pivots, int* info, int count, PLUMB_SIMT_HERE) {  \
    return plumb::simt::blas_factor(h, {type, n, {plumb::simt::as_list(a), lda}, pivots, info, count},      \
                                    here);                                                                  \
  }                                                                                                         \
  /* info is the host's, and says only whether the arguments are right */                                   \
  inline cublasStatus_t cublas##letter##getrsBatched(                                                       \
      cublasHandle_t h, cublasOperation_t op, int n, int columns, const T* const a[], int lda,              \
      const int* pivots, T* const b[], int ldb, int* info, int count, PLUMB_SIMT_HERE) {                    \
    if (info != nullptr) *info = n < 0 ? -2 : columns < 0 ? -3 : lda < n ? -5 : ldb < n ? -8 : 0;           \
    return plumb::simt::blas_solve_factored(h,                                                              \
                                            {"cublas" #letter "getrsBatched",                               \
                                             type,                                                          \
                                             op != CUBLAS_OP_N,                                             \
                                             false,                                                         \
                                             false,                                                         \
                                             n,                                                             \
                                             columns,                                                       \
                                             {plumb::simt::as_list(a), lda},                                \
                                             pivots,                                                        \
                                             {plumb::simt::as_list(b), ldb},                                \
                                             nullptr,                                                       \
                                             count},                                                        \
                                            here);                                                          \
  }                                                                                                         \
  inline cublasStatus_t cublas##letter##getriBatched(cublasHandle_t h, int n, const T* const a[], int lda,  \
                                                     const int* pivots, T* const c[], int ldc, int* info,   \
                                                     int count, PLUMB_SIMT_HERE) {                          \
    return plumb::simt::blas_solve_factored(h,                                                              \
                                            {"cublas" #letter "getriBatched",                               \
                                             type,                                                          \
                                             false,                                                         \
                                             true,                                                          \
                                             false,                                                         \
                                             n,                                                             \
                                             n,                                                             \
                                             {plumb::simt::as_list(a), lda},                                \
                                             pivots,                                                        \
                                             {plumb::simt::as_list(c), ldc},                                \
                                             info,                                                          \
                                             count},                                                        \
                                            here);                                                          \
  }                                                                                                         \
  inline cublasStatus_t cublas##letter##matinvBatched(cublasHandle_t h, int n, const T* const a[], int lda, \
                                                      T* const c[], int ldc, int* info, int count,          \
                                                      PLUMB_SIMT_HERE) {                                    \
    return plumb::simt::blas_solve_factored(h,                                                              \
                                            {"cublas" #letter "matinvBatched",                              \
                                             type,                                                          \
                                             false,                                                         \
                                             true,                                                          \
                                             true,                                                          \
                                             n,                                                             \
                                             n,                                                             \
                                             {plumb::simt::as_list(a), lda},                                \
                                             nullptr,                                                       \
                                             {plumb::simt::as_list(c), ldc},                                \
                                             info,                                                          \
                                             count},                                                        \
                                            here);                                                          \
  }
PLUMB_CUBLAS_FACTORS(S, float, CUDA_R_32F)
PLUMB_CUBLAS_FACTORS(D, double, CUDA_R_64F)
#undef PLUMB_CUBLAS_FACTORS
