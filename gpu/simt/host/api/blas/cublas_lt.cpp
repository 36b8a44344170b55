// cuBLASLt: descriptions of a product, handed on to the one of cublas.cpp.
#include "gpu/simt/host/api/blas/cublas_lt.hpp"

#include <cstring>

struct cublasLtContext {};

namespace {

template <class T>
cublasStatus_t take(T& to, const void* value, std::size_t bytes) {
  if (bytes != sizeof to) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&to, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t destroy(T* what) {
  delete what;
  return CUBLAS_STATUS_SUCCESS;
}

plumb::simt::BlasMatrix matrix(const void* data, const cublasLtMatrixLayoutOpaque_t& layout) {
  return {data, layout.type, layout.ld, layout.offset};
}

bool set_epilogue(plumb::simt::BlasProduct& p, const cublasLtMatmulDescOpaque_t& desc) {
  using Activation = plumb::simt::BlasProduct::Activation;
  int rest = desc.epilogue;
  if ((rest & CUBLASLT_EPILOGUE_BIAS) != 0) {
    p.bias = desc.bias;
    rest &= ~CUBLASLT_EPILOGUE_BIAS;
    if (desc.bias == nullptr) return false;
  }
  if (rest == CUBLASLT_EPILOGUE_RELU) p.activation = Activation::relu;
  if (rest == CUBLASLT_EPILOGUE_GELU) p.activation = Activation::gelu;
  return rest == 0 || rest == CUBLASLT_EPILOGUE_DEFAULT || p.activation != Activation::none;
}

}  // namespace

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return destroy(handle); }
cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout, cudaDataType type, std::uint64_t rows,
                                        std::uint64_t cols, std::int64_t ld) {
  *layout = {type, rows, cols, ld, 1, 0};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t cols, std::int64_t ld) {
  *layout = new cublasLtMatrixLayoutOpaque_t;
  return cublasLtMatrixLayoutInit(*layout, type, rows, cols, ld);
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                std::size_t bytes) {
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) return take(layout->count, value, bytes);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) return take(layout->offset, value, bytes);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) { return destroy(layout); }
cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t desc, cublasComputeType_t, cudaDataType_t scale) {
  *desc = {scale, CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT, nullptr, false};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  *desc = new cublasLtMatmulDescOpaque_t;
  return cublasLtMatmulDescInit(*desc, compute, scale);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t attribute, const void* value,
                                              std::size_t bytes) {
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSA) return take(desc->transpose_a, value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSB) return take(desc->transpose_b, value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE) return take(desc->epilogue, value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_BIAS_POINTER) return take(desc->bias, value, bytes);
  desc->other = true;
  return CUBLAS_STATUS_NOT_SUPPORTED;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) { return destroy(desc); }
cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t preference) {
  *preference = {};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = new cublasLtMatmulPreferenceOpaque_t{};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t, const void*,
                                                    std::size_t) {
  return CUBLAS_STATUS_SUCCESS;  // there is one way, and it needs no workspace
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy(preference);
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int wanted,
                                              cublasLtMatmulHeuristicResult_t* results, int* found) {
  if (wanted < 1) return CUBLAS_STATUS_INVALID_VALUE;
  *results = {};
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t*, void*, std::size_t, cudaStream_t stream,
                              plumb::simt::Here here) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  plumb::simt::BlasProduct p;
  if (desc->other || !set_epilogue(p, *desc)) return CUBLAS_STATUS_NOT_SUPPORTED;
  p.what = "cublasLtMatmul";
  p.transpose_a = desc->transpose_a != CUBLAS_OP_N;
  p.transpose_b = desc->transpose_b != CUBLAS_OP_N;
  p.m = static_cast<long long>(d_layout->rows);
  p.n = static_cast<long long>(d_layout->cols);
  p.k = static_cast<long long>(p.transpose_a ? a_layout->rows : a_layout->cols);
  const auto inner = static_cast<long long>(p.transpose_b ? b_layout->cols : b_layout->rows);
  if (inner != p.k) return CUBLAS_STATUS_INVALID_VALUE;
  p.alpha = alpha, p.beta = beta;
  p.scalar = desc->scale;
  p.a = matrix(a, *a_layout);
  p.b = matrix(b, *b_layout);
  p.c = matrix(c, *c_layout);
  p.d = matrix(d, *d_layout);
  p.count = d_layout->count;
  return plumb::simt::blas_product(p, stream, here);
}
