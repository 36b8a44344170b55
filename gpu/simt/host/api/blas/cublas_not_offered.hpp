// Calls of cuBLAS that the executor does not have: declared, so that a program which names them is built. Whoever calls one ends the
// program with exit code 3 and its name. cublas.hpp includes it.
#pragma once
#include "gpu/simt/host/api/blas/cublas.hpp"
#include "gpu/simt/host/api/runtime/not_offered.hpp"

// X(result, name)
#define PLUMB_CUBLAS_OF_COMPLEX(X, letter)              \
  X(cublasStatus_t, cublas##letter##gemm)               \
  X(cublasStatus_t, cublas##letter##gemm3m)             \
  X(cublasStatus_t, cublas##letter##gemmBatched)        \
  X(cublasStatus_t, cublas##letter##gemmStridedBatched) \
  X(cublasStatus_t, cublas##letter##gemv)               \
  X(cublasStatus_t, cublas##letter##geam)               \
  X(cublasStatus_t, cublas##letter##trsm)               \
  X(cublasStatus_t, cublas##letter##axpy)               \
  X(cublasStatus_t, cublas##letter##scal)               \
  X(cublasStatus_t, cublas##letter##copy)               \
  X(cublasStatus_t, cublas##letter##swap)               \
  X(cublasStatus_t, cublas##letter##dotu)               \
  X(cublasStatus_t, cublas##letter##dotc)               \
  X(cublasStatus_t, cublas##letter##herk)               \
  X(cublasStatus_t, cublas##letter##hemm)               \
  X(cublasStatus_t, cublas##letter##hemv)               \
  X(cublasStatus_t, cublas##letter##geru)               \
  X(cublasStatus_t, cublas##letter##gerc)
#define PLUMB_CUBLAS_OF_ANY(X, letter)                     \
  X(cublasStatus_t, cublas##letter##dgmm)                  \
  X(cublasStatus_t, cublas##letter##rot)                   \
  X(cublasStatus_t, cublas##letter##symm)                  \
  X(cublasStatus_t, cublas##letter##symv)                  \
  X(cublasStatus_t, cublas##letter##syrk)                  \
  X(cublasStatus_t, cublas##letter##syr2k)                 \
  X(cublasStatus_t, cublas##letter##trmm)                  \
  X(cublasStatus_t, cublas##letter##trmv)                  \
  X(cublasStatus_t, cublas##letter##trsv)                  \
  X(cublasStatus_t, cublas##letter##trsmBatched)           \
  X(cublasStatus_t, cublas##letter##geqrfBatched)          \
  X(cublasStatus_t, cublas##letter##getrfBatched)          \
  X(cublasStatus_t, cublas##letter##getrsBatched)          \
  X(cublasStatus_t, cublas##letter##getriBatched)          \
  X(cublasStatus_t, cublas##letter##matinvBatched)         \
  X(cublasStatus_t, cublas##letter##gelsBatched)           \
  X(cublasStatus_t, cublas##letter##gemm_64)               \
  X(cublasStatus_t, cublas##letter##gemmBatched_64)        \
  X(cublasStatus_t, cublas##letter##gemmStridedBatched_64) \
  X(cublasStatus_t, cublas##letter##gemv_64)               \
  X(cublasStatus_t, cublas##letter##geam_64)               \
  X(cublasStatus_t, cublas##letter##dgmm_64)               \
  X(cublasStatus_t, cublas##letter##axpy_64)               \
  X(cublasStatus_t, cublas##letter##scal_64)               \
  X(cublasStatus_t, cublas##letter##copy_64)               \
  X(cublasStatus_t, cublas##letter##swap_64)
#define PLUMB_CUBLAS_NOT_OFFERED(X)                \
  PLUMB_CUBLAS_OF_COMPLEX(X, C)                    \
  PLUMB_CUBLAS_OF_COMPLEX(X, Z)                    \
  PLUMB_CUBLAS_OF_ANY(X, S)                        \
  PLUMB_CUBLAS_OF_ANY(X, D)                        \
  PLUMB_CUBLAS_OF_ANY(X, C)                        \
  PLUMB_CUBLAS_OF_ANY(X, Z)                        \
  X(cublasStatus_t, cublasSger)                    \
  X(cublasStatus_t, cublasDger)                    \
  X(cublasStatus_t, cublasCsscal)                  \
  X(cublasStatus_t, cublasZdscal)                  \
  X(cublasStatus_t, cublasScnrm2)                  \
  X(cublasStatus_t, cublasDznrm2)                  \
  X(cublasStatus_t, cublasScasum)                  \
  X(cublasStatus_t, cublasDzasum)                  \
  X(cublasStatus_t, cublasIcamax)                  \
  X(cublasStatus_t, cublasIzamax)                  \
  X(cublasStatus_t, cublasIcamin)                  \
  X(cublasStatus_t, cublasIzamin)                  \
  X(cublasStatus_t, cublasSdot_64)                 \
  X(cublasStatus_t, cublasDdot_64)                 \
  X(cublasStatus_t, cublasSnrm2_64)                \
  X(cublasStatus_t, cublasDnrm2_64)                \
  X(cublasStatus_t, cublasScnrm2_64)               \
  X(cublasStatus_t, cublasDznrm2_64)               \
  X(cublasStatus_t, cublasSasum_64)                \
  X(cublasStatus_t, cublasDasum_64)                \
  X(cublasStatus_t, cublasIsamax_64)               \
  X(cublasStatus_t, cublasIdamax_64)               \
  X(cublasStatus_t, cublasIcamax_64)               \
  X(cublasStatus_t, cublasIzamax_64)               \
  X(cublasStatus_t, cublasGemmEx_64)               \
  X(cublasStatus_t, cublasGemmStridedBatchedEx_64) \
  X(cublasStatus_t, cublasScalEx)                  \
  X(cublasStatus_t, cublasAxpyEx)                  \
  X(cublasStatus_t, cublasNrm2Ex)

extern "C" {
PLUMB_CUBLAS_NOT_OFFERED(PLUMB_DECLARE_NOT_OFFERED)
}
