// cuBLAS as a program's host code calls it, computed plainly on the host: sums in double, rounded once. A call is work in the handle's
// stream, and the race check sees its matrices read and written.
#pragma once
#include <type_traits>

#include "gpu/simt/host/api/runtime/numbers.hpp"
#include "gpu/simt/host/api/runtime/types.hpp"
#if defined(__CUDACC__)
#include "gpu/simt/language/half.hpp"
#endif

#define CUBLASWINAPI
#define CUBLAS_VER_MAJOR 12
#define CUBLAS_VERSION 120000

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
};
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_FULL };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE };
enum cublasAtomicsMode_t { CUBLAS_ATOMICS_NOT_ALLOWED, CUBLAS_ATOMICS_ALLOWED };
enum cublasMath_t {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
};
enum cublasComputeType_t {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};
enum cublasGemmAlgo_t {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99
};
struct cublasContext;
using cublasHandle_t = cublasContext*;

namespace plumb::simt {
/// A matrix as cuBLAS has it, stored by columns.
struct BlasMatrix {
  const void* data = nullptr;
  cudaDataType_t type = CUDA_R_32F;
  long long stride = 0;  // elements from one column to the next
  long long batch = 0;   // elements from one matrix of a batch to the next
};
/// D = act(alpha op(A) op(B) + beta C + bias) for each of `count` products.
struct BlasProduct {
  const char* what = "cuBLAS";
  bool transpose_a = false, transpose_b = false;
  long long m = 0, n = 0, k = 0;
  const void *alpha = nullptr, *beta = nullptr;
  cudaDataType_t scalar = CUDA_R_32F;
  BlasMatrix a, b, c, d;
  int count = 1;
  const void *const *a_list = nullptr, *const *b_list = nullptr;  // instead of data and batch
  const void* const* d_list = nullptr;
  const void* bias = nullptr;  // a number for each row of D, of D's type
  enum class Activation : unsigned char { none, relu, gelu } activation = Activation::none;
};
cublasStatus_t blas_product(const BlasProduct& product, cudaStream_t stream, Here here);
enum class Level1 : unsigned char { axpy, scal, copy, swap, dot, nrm2, asum, iamax, iamin };
/// What cuBLAS does to one or two vectors of `n` elements; `out` is its result or null, `alpha` its factor or null.
struct BlasVectors {
  Level1 what;
  cudaDataType_t type;
  int n;
  const void* alpha;
  const void* x;
  int incx;
  const void* y;
  int incy;
  void* out;
};
cublasStatus_t blas_vectors(cublasHandle_t handle, const BlasVectors& vectors, Here here);
cublasStatus_t blas_gemm(cublasHandle_t handle, BlasProduct product, Here here);  // with the handle's stream
/// C = alpha op(A) + beta op(B), of m x n numbers.
struct BlasSum {
  bool transpose_a, transpose_b;
  long long m, n;
  const void *alpha, *beta;
  BlasMatrix a, b, c;
};
cublasStatus_t blas_sum(cublasHandle_t handle, const BlasSum& sum, Here here);
/// op(A) X = alpha B, or X op(A) = alpha B, where A is a triangle and X takes the place of B, of m x n numbers.
struct BlasSolve {
  bool left, upper, transpose, unit;
  long long m, n;
  const void* alpha;
  BlasMatrix a, b;
};
cublasStatus_t blas_solve(cublasHandle_t handle, const BlasSolve& solve, Here here);

template <class T>
constexpr cudaDataType_t blas_type() {
  return sizeof(T) == 8 ? CUDA_R_64F : sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_16F;
}
template <class T>
BlasProduct product_of(const char* what, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,
                       const T* alpha, const T* beta) {
  BlasProduct p;
  p.what = what;
  p.transpose_a = opa != CUBLAS_OP_N;
  p.transpose_b = opb != CUBLAS_OP_N;
  p.m = m, p.n = n, p.k = k, p.alpha = alpha, p.beta = beta;
  p.scalar = blas_type<T>();
  return p;
}
}  // namespace plumb::simt

cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode);
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetAtomicsMode(cublasHandle_t, cublasAtomicsMode_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, std::size_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusName(cublasStatus_t status);
inline const char* cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }
cublasStatus_t cublasSetMatrix(int rows, int cols, int bytes, const void* a, int lda, void* b, int ldb,
                               PLUMB_SIMT_HERE);
inline cublasStatus_t cublasGetMatrix(int rows, int cols, int bytes, const void* a, int lda, void* b, int ldb,
                                      PLUMB_SIMT_HERE) {
  return cublasSetMatrix(rows, cols, bytes, a, lda, b, ldb, here);
}
inline cublasStatus_t cublasSetVector(int n, int bytes, const void* x, int incx, void* y, int incy,
                                      PLUMB_SIMT_HERE) {
  return cublasSetMatrix(1, n, bytes, x, incx, y, incy, here);
}
inline cublasStatus_t cublasGetVector(int n, int bytes, const void* x, int incx, void* y, int incy,
                                      PLUMB_SIMT_HERE) {
  return cublasSetMatrix(1, n, bytes, x, incx, y, incy, here);
}
// The same calls by the names that cuBLAS's own headers give them.
#define cublasCreate_v2 cublasCreate
#define cublasDestroy_v2 cublasDestroy
#define cublasSetStream_v2 cublasSetStream
#define cublasGetStream_v2 cublasGetStream
#define cublasSetPointerMode_v2 cublasSetPointerMode
#define cublasGetPointerMode_v2 cublasGetPointerMode
#define cublasSgemm_v2 cublasSgemm
#define cublasDgemm_v2 cublasDgemm
#define cublasSgemv_v2 cublasSgemv
#define cublasDgemv_v2 cublasDgemv
#define cublasStrsm_v2 cublasStrsm
#define cublasDtrsm_v2 cublasDtrsm
#define cublasSaxpy_v2 cublasSaxpy
#define cublasDaxpy_v2 cublasDaxpy
#define cublasSscal_v2 cublasSscal
#define cublasDscal_v2 cublasDscal
#define cublasScopy_v2 cublasScopy
#define cublasDcopy_v2 cublasDcopy
#define cublasSswap_v2 cublasSswap
#define cublasDswap_v2 cublasDswap
#define cublasSdot_v2 cublasSdot
#define cublasDdot_v2 cublasDdot
#define cublasSnrm2_v2 cublasSnrm2
#define cublasDnrm2_v2 cublasDnrm2
#define cublasSasum_v2 cublasSasum
#define cublasDasum_v2 cublasDasum
#define cublasIsamax_v2 cublasIsamax
#define cublasIsamin_v2 cublasIsamin
#define cublasIdamax_v2 cublasIdamax
#define cublasIdamin_v2 cublasIdamin

// A function for each type T: cublasSgemm, cublasDgemm, ...
#define PLUMB_CUBLAS_PRODUCTS(letter, T)                                                                   \
  inline cublasStatus_t cublas##letter##gemmStridedBatched(                                                \
      cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const T* alpha, \
      const T* a, int lda, long long sa, const T* b, int ldb, long long sb, const T* beta, T* c, int ldc,  \
      long long sc, int count, PLUMB_SIMT_HERE) {                                                          \
    auto p = plumb::simt::product_of("cublas" #letter "gemm", opa, opb, m, n, k, alpha, beta);             \
    p.a = {a, p.scalar, lda, sa};                                                                          \
    p.b = {b, p.scalar, ldb, sb};                                                                          \
    p.c = p.d = {c, p.scalar, ldc, sc};                                                                    \
    p.count = count;                                                                                       \
    return plumb::simt::blas_gemm(h, p, here);                                                             \
  }                                                                                                        \
  inline cublasStatus_t cublas##letter##gemm(                                                              \
      cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const T* alpha, \
      const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc, PLUMB_SIMT_HERE) {           \
    return cublas##letter##gemmStridedBatched(h, opa, opb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c,  \
                                              ldc, 0, 1, here);                                            \
  }                                                                                                        \
  inline cublasStatus_t cublas##letter##gemmBatched(                                                       \
      cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const T* alpha, \
      const T* const a[], int lda, const T* const b[], int ldb, const T* beta, T* const c[], int ldc,      \
      int count, PLUMB_SIMT_HERE) {                                                                        \
    auto p = plumb::simt::product_of("cublas" #letter "gemm", opa, opb, m, n, k, alpha, beta);             \
    p.a = {nullptr, p.scalar, lda};                                                                        \
    p.b = {nullptr, p.scalar, ldb};                                                                        \
    p.c = p.d = {nullptr, p.scalar, ldc};                                                                  \
    p.a_list = reinterpret_cast<const void* const*>(a);                                                    \
    p.b_list = reinterpret_cast<const void* const*>(b);                                                    \
    p.d_list = reinterpret_cast<const void* const*>(c);                                                    \
    p.count = count;                                                                                       \
    return plumb::simt::blas_gemm(h, p, here);                                                             \
  }
#define PLUMB_CUBLAS(letter, T)                                                                              \
  /* y is one row: y^T = alpha x^T op(A)^T + beta y^T, with the stride of each vector */                     \
  inline cublasStatus_t cublas##letter##gemv(cublasHandle_t h, cublasOperation_t op, int m, int n,           \
                                             const T* alpha, const T* a, int lda, const T* x, int incx,      \
                                             const T* beta, T* y, int incy, PLUMB_SIMT_HERE) {               \
    const bool by_rows = op == CUBLAS_OP_N;                                                                  \
    auto p =                                                                                                 \
        plumb::simt::product_of("cublas" #letter "gemv", CUBLAS_OP_N, by_rows ? CUBLAS_OP_T : CUBLAS_OP_N,   \
                                1, by_rows ? m : n, by_rows ? n : m, alpha, beta);                           \
    p.a = {x, p.scalar, incx};                                                                               \
    p.b = {a, p.scalar, lda};                                                                                \
    p.c = p.d = {y, p.scalar, incy};                                                                         \
    return plumb::simt::blas_gemm(h, p, here);                                                               \
  }                                                                                                          \
  inline cublasStatus_t cublas##letter##geam(                                                                \
      cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n, const T* alpha,          \
      const T* a, int lda, const T* beta, const T* b, int ldb, T* c, int ldc, PLUMB_SIMT_HERE) {             \
    constexpr cudaDataType_t kType = plumb::simt::blas_type<T>();                                            \
    return plumb::simt::blas_sum(h,                                                                          \
                                 {opa != CUBLAS_OP_N,                                                        \
                                  opb != CUBLAS_OP_N,                                                        \
                                  m,                                                                         \
                                  n,                                                                         \
                                  alpha,                                                                     \
                                  beta,                                                                      \
                                  {a, kType, lda},                                                           \
                                  {b, kType, ldb},                                                           \
                                  {c, kType, ldc}},                                                          \
                                 here);                                                                      \
  }                                                                                                          \
  inline cublasStatus_t cublas##letter##trsm(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill, \
                                             cublasOperation_t op, cublasDiagType_t diagonal, int m, int n,  \
                                             const T* alpha, const T* a, int lda, T* b, int ldb,             \
                                             PLUMB_SIMT_HERE) {                                              \
    constexpr cudaDataType_t kType = plumb::simt::blas_type<T>();                                            \
    return plumb::simt::blas_solve(h,                                                                        \
                                   {side == CUBLAS_SIDE_LEFT,                                                \
                                    fill == CUBLAS_FILL_MODE_UPPER,                                          \
                                    op != CUBLAS_OP_N,                                                       \
                                    diagonal == CUBLAS_DIAG_UNIT,                                            \
                                    m,                                                                       \
                                    n,                                                                       \
                                    alpha,                                                                   \
                                    {a, kType, lda},                                                         \
                                    {b, kType, ldb}},                                                        \
                                   here);                                                                    \
  }
#define PLUMB_CUBLAS_VECTORS(letter, T, type)                                                                \
  inline cublasStatus_t cublas##letter##axpy(cublasHandle_t h, int n, const T* alpha, const T* x, int incx,  \
                                             T* y, int incy, PLUMB_SIMT_HERE) {                              \
    return plumb::simt::blas_vectors(                                                                        \
        h, {plumb::simt::Level1::axpy, type, n, alpha, x, incx, y, incy, nullptr}, here);                    \
  }                                                                                                          \
  inline cublasStatus_t cublas##letter##scal(cublasHandle_t h, int n, const T* alpha, T* x, int incx,        \
                                             PLUMB_SIMT_HERE) {                                              \
    return plumb::simt::blas_vectors(                                                                        \
        h, {plumb::simt::Level1::scal, type, n, alpha, x, incx, nullptr, 1, nullptr}, here);                 \
  }                                                                                                          \
  inline cublasStatus_t cublas##letter##copy(cublasHandle_t h, int n, const T* x, int incx, T* y, int incy,  \
                                             PLUMB_SIMT_HERE) {                                              \
    return plumb::simt::blas_vectors(                                                                        \
        h, {plumb::simt::Level1::copy, type, n, nullptr, x, incx, y, incy, nullptr}, here);                  \
  }                                                                                                          \
  inline cublasStatus_t cublas##letter##swap(cublasHandle_t h, int n, T* x, int incx, T* y, int incy,        \
                                             PLUMB_SIMT_HERE) {                                              \
    return plumb::simt::blas_vectors(                                                                        \
        h, {plumb::simt::Level1::swap, type, n, nullptr, x, incx, y, incy, nullptr}, here);                  \
  }                                                                                                          \
  inline cublasStatus_t cublas##letter##dot(cublasHandle_t h, int n, const T* x, int incx, const T* y,       \
                                            int incy, T* out, PLUMB_SIMT_HERE) {                             \
    return plumb::simt::blas_vectors(h, {plumb::simt::Level1::dot, type, n, nullptr, x, incx, y, incy, out}, \
                                     here);                                                                  \
  }                                                                                                          \
  inline cublasStatus_t cublas##letter##nrm2(cublasHandle_t h, int n, const T* x, int incx, T* out,          \
                                             PLUMB_SIMT_HERE) {                                              \
    return plumb::simt::blas_vectors(                                                                        \
        h, {plumb::simt::Level1::nrm2, type, n, nullptr, x, incx, nullptr, 1, out}, here);                   \
  }                                                                                                          \
  inline cublasStatus_t cublas##letter##asum(cublasHandle_t h, int n, const T* x, int incx, T* out,          \
                                             PLUMB_SIMT_HERE) {                                              \
    return plumb::simt::blas_vectors(                                                                        \
        h, {plumb::simt::Level1::asum, type, n, nullptr, x, incx, nullptr, 1, out}, here);                   \
  }                                                                                                          \
  inline cublasStatus_t cublasI##letter##_amax_or_min(plumb::simt::Level1 what, cublasHandle_t h, int n,     \
                                                      const T* x, int incx, int* out,                        \
                                                      plumb::simt::Here here) {                              \
    return plumb::simt::blas_vectors(h, {what, type, n, nullptr, x, incx, nullptr, 1, out}, here);           \
  }
PLUMB_CUBLAS_PRODUCTS(S, float)
PLUMB_CUBLAS_PRODUCTS(D, double)
#if defined(__CUDACC__)
PLUMB_CUBLAS_PRODUCTS(H, __half)
#endif
PLUMB_CUBLAS(S, float)
PLUMB_CUBLAS(D, double)
PLUMB_CUBLAS_VECTORS(S, float, CUDA_R_32F)
PLUMB_CUBLAS_VECTORS(D, double, CUDA_R_64F)
#undef PLUMB_CUBLAS
#undef PLUMB_CUBLAS_PRODUCTS
#undef PLUMB_CUBLAS_VECTORS
#define PLUMB_CUBLAS_INDEX(name, letter, T, which)                                                       \
  inline cublasStatus_t name(cublasHandle_t h, int n, const T* x, int incx, int* out, PLUMB_SIMT_HERE) { \
    return cublasI##letter##_amax_or_min(plumb::simt::Level1::which, h, n, x, incx, out, here);          \
  }
PLUMB_CUBLAS_INDEX(cublasIsamax, S, float, iamax)
PLUMB_CUBLAS_INDEX(cublasIsamin, S, float, iamin)
PLUMB_CUBLAS_INDEX(cublasIdamax, D, double, iamax)
PLUMB_CUBLAS_INDEX(cublasIdamin, D, double, iamin)
#undef PLUMB_CUBLAS_INDEX

namespace plumb::simt {
/// A product by named types; scalars are of the type that it is computed in.
template <class Compute>
BlasProduct product_as(const char* what, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,
                       const void* alpha, const void* beta, Compute compute) {
  static_assert(std::is_enum<Compute>::value, "a compute type or, as before CUDA 11, a data type");
  auto p = product_of<float>(what, opa, opb, m, n, k, nullptr, nullptr);
  p.alpha = alpha, p.beta = beta;
  const int code = static_cast<int>(compute);
  const bool is_type = std::is_same<Compute, cudaDataType_t>::value;
  if (is_type) p.scalar = static_cast<cudaDataType_t>(code);
  if (code == CUBLAS_COMPUTE_16F || code == CUBLAS_COMPUTE_16F_PEDANTIC) p.scalar = CUDA_R_16F;
  if (code == CUBLAS_COMPUTE_64F) p.scalar = CUDA_R_64F;
  if (code == CUBLAS_COMPUTE_32I) p.scalar = CUDA_R_32I;
  return p;
}
}  // namespace plumb::simt

template <class Compute>
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb,
                                          int m, int n, int k, const void* alpha, const void* a,
                                          cudaDataType_t ta, int lda, long long sa, const void* b,
                                          cudaDataType_t tb, int ldb, long long sb, const void* beta, void* c,
                                          cudaDataType_t tc, int ldc, long long sc, int count,
                                          Compute compute, cublasGemmAlgo_t, PLUMB_SIMT_HERE) {
  auto p = plumb::simt::product_as("cublasGemmEx", opa, opb, m, n, k, alpha, beta, compute);
  p.a = {a, ta, lda, sa};
  p.b = {b, tb, ldb, sb};
  p.c = p.d = {c, tc, ldc, sc};
  p.count = count;
  return plumb::simt::blas_gemm(h, p, here);
}
template <class Compute>
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m,
                                   int n, int k, const void* alpha, const void* const a[], cudaDataType_t ta,
                                   int lda, const void* const b[], cudaDataType_t tb, int ldb,
                                   const void* beta, void* const c[], cudaDataType_t tc, int ldc, int count,
                                   Compute compute, cublasGemmAlgo_t, PLUMB_SIMT_HERE) {
  auto p = plumb::simt::product_as("cublasGemmBatchedEx", opa, opb, m, n, k, alpha, beta, compute);
  p.a = {nullptr, ta, lda};
  p.b = {nullptr, tb, ldb};
  p.c = p.d = {nullptr, tc, ldc};
  p.a_list = a, p.b_list = b, p.d_list = c;
  p.count = count;
  return plumb::simt::blas_gemm(h, p, here);
}
template <class Compute>
cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n,
                            int k, const void* alpha, const void* a, cudaDataType_t ta, int lda,
                            const void* b, cudaDataType_t tb, int ldb, const void* beta, void* c,
                            cudaDataType_t tc, int ldc, Compute compute, cublasGemmAlgo_t algo,
                            PLUMB_SIMT_HERE) {
  return cublasGemmStridedBatchedEx(h, opa, opb, m, n, k, alpha, a, ta, lda, 0, b, tb, ldb, 0, beta, c, tc,
                                    ldc, 0, 1, compute, algo, here);
}
/// Of elements and a result of one type.
inline cublasStatus_t cublasDotEx(cublasHandle_t h, int n, const void* x, cudaDataType_t tx, int incx,
                                  const void* y, cudaDataType_t ty, int incy, void* out, cudaDataType_t t,
                                  cudaDataType_t, PLUMB_SIMT_HERE) {
  if (tx != t || ty != t || plumb::simt::bytes_of(t) == 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  return plumb::simt::blas_vectors(h, {plumb::simt::Level1::dot, t, n, nullptr, x, incx, y, incy, out}, here);
}

#include "gpu/simt/host/api/blas/cublas_not_offered.hpp"
