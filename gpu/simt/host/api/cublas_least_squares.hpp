// cuBLAS's least squares of small matrices in batches (gels), of real and complex numbers. cublas.hpp includes it.
#pragma once
#include "gpu/simt/host/api/cublas_factors.hpp"
#include "gpu/simt/language/vector_types.hpp"

namespace plumb::simt {
/// X with the least |A X - C| for each A of m x n numbers, m >= n: takes the place of the first n rows of C, of m x columns numbers; the
/// rows below hold what is left of C in the basis of A's factors. A's place is taken by its factors R and, below the diagonal, the
/// reflections. info: the first column where R has a zero on its diagonal, from 1 on, and then C stays without X; or 0.
struct BlasLeastSquares {
  const char* what;
  cudaDataType_t part;  // of a complex number, or the number itself
  bool complex;
  int m, n, columns;
  BlasList a, c;
  int* info;  // on the device, or null
  int count;
};
cublasStatus_t blas_least_squares(cublasHandle_t handle, const BlasLeastSquares& squares, Here here);
}  // namespace plumb::simt

// `wrong` is the host's, and says only whether the arguments are right.
#define PLUMB_CUBLAS_LEAST_SQUARES(letter, T, part, complex)                                    \
  inline cublasStatus_t cublas##letter##gelsBatched(                                            \
      cublasHandle_t h, cublasOperation_t op, int m, int n, int columns, T* const a[], int lda, \
      T* const c[], int ldc, int* wrong, int* info, int count, PLUMB_SIMT_HERE) {               \
    if (op != CUBLAS_OP_N || m < n) return CUBLAS_STATUS_NOT_SUPPORTED; /* as the library */    \
    if (wrong != nullptr)                                                                       \
      *wrong = m < 0         ? -2                                                               \
               : n < 0       ? -3                                                               \
               : columns < 0 ? -4                                                               \
               : lda < m     ? -6                                                               \
               : ldc < m     ? -8                                                               \
               : count < 0   ? -11                                                              \
                             : 0;                                                                 \
    return plumb::simt::blas_least_squares(h,                                                   \
                                           {"cublas" #letter "gelsBatched",                     \
                                            part,                                               \
                                            complex,                                            \
                                            m,                                                  \
                                            n,                                                  \
                                            columns,                                            \
                                            {plumb::simt::as_list(a), lda},                     \
                                            {plumb::simt::as_list(c), ldc},                     \
                                            info,                                               \
                                            count},                                             \
                                           here);                                               \
  }
PLUMB_CUBLAS_LEAST_SQUARES(S, float, CUDA_R_32F, false)
PLUMB_CUBLAS_LEAST_SQUARES(D, double, CUDA_R_64F, false)
PLUMB_CUBLAS_LEAST_SQUARES(C, float2, CUDA_R_32F, true)
PLUMB_CUBLAS_LEAST_SQUARES(Z, double2, CUDA_R_64F, true)
#undef PLUMB_CUBLAS_LEAST_SQUARES
