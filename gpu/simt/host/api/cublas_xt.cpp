// cuBLASXt, whose header is the toolkit's: products of matrices in the host's memory or the device's, on the one device, done when the call
// returns. Other calls are linked, and end the program with exit code 3.
#include "gpu/simt/host/api/cublas_calls.hpp"

namespace {

/// The handle is a cuBLAS handle.
struct Xt {
  cublasHandle_t handle = nullptr;
  int tile = 1024;  // elements; a product is not cut here
};

template <class T>
cublasStatus_t multiply(const char* what, Xt* xt, cublasOperation_t opa, cublasOperation_t opb,
                        plumb::simt::BlasProduct p, const T* a, std::size_t lda, const T* b, std::size_t ldb,
                        T* c, std::size_t ldc) {
  if (xt == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  constexpr cudaDataType_t kType = plumb::simt::blas_type<T>();
  p.what = what;
  p.transpose_a = opa != CUBLAS_OP_N;
  p.transpose_b = opb != CUBLAS_OP_N;
  p.scalar = kType;
  p.a = {a, kType, static_cast<long long>(lda)};
  p.b = {b, kType, static_cast<long long>(ldb)};
  p.c = p.d = {c, kType, static_cast<long long>(ldc)};
  const cublasStatus_t status = plumb::simt::blas_gemm(xt->handle, p, {"", 0});
  return status == CUBLAS_STATUS_SUCCESS ? plumb::simt::status_of(cudaStreamSynchronize(nullptr)) : status;
}

plumb::simt::BlasProduct extents(std::size_t m, std::size_t n, std::size_t k, const void* alpha,
                                 const void* beta) {
  plumb::simt::BlasProduct p;
  p.m = static_cast<long long>(m), p.n = static_cast<long long>(n), p.k = static_cast<long long>(k);
  p.alpha = alpha, p.beta = beta;
  return p;
}

}  // namespace

extern "C" {

cublasStatus_t cublasXtCreate(Xt** xt) {
  *xt = new Xt;
  return cublasCreate(&(*xt)->handle);
}
cublasStatus_t cublasXtDestroy(Xt* xt) {
  if (xt == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const cublasStatus_t status = cublasDestroy(xt->handle);
  delete xt;
  return status;
}
cublasStatus_t cublasXtDeviceSelect(Xt* xt, int count, const int* devices) {
  if (xt == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  return count == 1 && devices[0] == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasXtSetBlockDim(Xt* xt, int elements) {
  if (xt == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (elements <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  xt->tile = elements;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasXtGetBlockDim(Xt* xt, int* elements) {
  if (xt == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  *elements = xt->tile;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasXtSgemm(Xt* xt, cublasOperation_t opa, cublasOperation_t opb, std::size_t m,
                             std::size_t n, std::size_t k, const float* alpha, const float* a,
                             std::size_t lda, const float* b, std::size_t ldb, const float* beta, float* c,
                             std::size_t ldc) {
  return multiply("cublasXtSgemm", xt, opa, opb, extents(m, n, k, alpha, beta), a, lda, b, ldb, c, ldc);
}
cublasStatus_t cublasXtDgemm(Xt* xt, cublasOperation_t opa, cublasOperation_t opb, std::size_t m,
                             std::size_t n, std::size_t k, const double* alpha, const double* a,
                             std::size_t lda, const double* b, std::size_t ldb, const double* beta, double* c,
                             std::size_t ldc) {
  return multiply("cublasXtDgemm", xt, opa, opb, extents(m, n, k, alpha, beta), a, lda, b, ldb, c, ldc);
}

}  // extern "C"
