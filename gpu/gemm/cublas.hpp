// requires: cublas
// The calls of the vendor rungs, one name for both types. Header only.
#pragma once
#include "gpu/runtime/cublas.hpp"
#include "reference/ops/gemm.hpp"

namespace plumb {
namespace gemm {

inline cublasStatus_t cublas_gemm(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb,
                                  std::int64_t m, std::int64_t n, std::int64_t k, const float* alpha,
                                  const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                                  const float* beta, float* c, std::int64_t ldc) {
  return cublasSgemm_64(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
inline cublasStatus_t cublas_gemm(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb,
                                  std::int64_t m, std::int64_t n, std::int64_t k, const double* alpha,
                                  const double* a, std::int64_t lda, const double* b, std::int64_t ldb,
                                  const double* beta, double* c, std::int64_t ldc) {
  return cublasDgemm_64(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/// 16-bit operands, fp32 sums.
template <class E, class O>
cublasStatus_t cublas_gemm(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, std::int64_t m,
                           std::int64_t n, std::int64_t k, const float* alpha, const E* a, std::int64_t lda,
                           const E* b, std::int64_t ldb, const float* beta, O* c, std::int64_t ldc) {
  return cublasGemmEx_64(h, ta, tb, m, n, k, alpha, a, kCudaType<E>, lda, b, kCudaType<E>, ldb, beta, c,
                         kCudaType<O>, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

inline cublasStatus_t cublas_transpose(cublasHandle_t h, std::int64_t m, std::int64_t n, const float* alpha,
                                       const float* a, std::int64_t lda, const float* beta, const float* b,
                                       std::int64_t ldb, float* c, std::int64_t ldc) {
  return cublasSgeam_64(h, CUBLAS_OP_T, CUBLAS_OP_N, m, n, alpha, a, lda, beta, b, ldb, c, ldc);
}
inline cublasStatus_t cublas_transpose(cublasHandle_t h, std::int64_t m, std::int64_t n, const double* alpha,
                                       const double* a, std::int64_t lda, const double* beta, const double* b,
                                       std::int64_t ldb, double* c, std::int64_t ldc) {
  return cublasDgeam_64(h, CUBLAS_OP_T, CUBLAS_OP_N, m, n, alpha, a, lda, beta, b, ldb, c, ldc);
}

template <class T>
const char* cublas_supports(const Gemm::Problem<T>&, const Gemm::In<T, Space::device>& in,
                            const Gemm::Out<T, Space::device>& out) {
  if (out.C.rows == 0 || out.C.cols == 0 || in.A.cols == 0)
    return "cuBLAS gemm takes no leading dimension of 0";
  return nullptr;
}

template <class T>
void* cublas_prepare(const Gemm::Problem<T>&, const Gemm::In<T, Space::device>&,
                     const Gemm::Out<T, Space::device>&, Context& context) {
  return new Cublas(context, kOwnMath<T>);
}

}  // namespace gemm
}  // namespace plumb
