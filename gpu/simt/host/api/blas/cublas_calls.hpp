// What calls of cuBLAS share: the check of their accesses, and work in a handle's stream.
#pragma once
#include <vector>

#include "gpu/simt/host/api/blas/cublas.hpp"
#include "gpu/simt/host/api/runtime/operations.hpp"
#include "gpu/simt/memory/memory.hpp"

namespace plumb::simt {

/// Checks what a call reads and writes; false where a finding stops the run.
bool touches(const char* what, const void* stream, Here here, const std::vector<HostRange>& ranges);

inline cublasStatus_t status_of(cudaError_t e) {
  return e == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

/// Work in the handle's stream, with the factors: where they lie on the device, they are read when its turn has come.
template <class Work>
cublasStatus_t queue_with(cublasHandle_t handle, const void* alpha, const void* beta, cudaDataType_t type,
                          Work work) {
  cudaStream_t stream = nullptr;
  if (const cublasStatus_t e = cublasGetStream(handle, &stream); e != CUBLAS_STATUS_SUCCESS) return e;
  begin_by_itself();
  const auto lock = enter_engine();
  const auto factor = [type](const void* p) { return p == nullptr ? 0 : load(p, type, 0); };
  const bool later = is_plain_device(alpha);
  const double a = later ? 0 : factor(alpha), b = later ? 0 : factor(beta);
  const cudaError_t e = queue(stream, cudaGraphNodeTypeKernel, [=](const void* key) {
    work(later ? factor(alpha) : a, later ? factor(beta) : b, key);
  });
  return status_of(e);
}

}  // namespace plumb::simt
