#include "gpu/simt/host/api/runtime/not_offered.hpp"

#include "gpu/simt/host/api/blas/cublas_not_offered.hpp"
#include "gpu/simt/host/api/runtime/operations.hpp"

namespace {

template <class T>
T answer_of();
template <>
cudaError_t answer_of() {
  return cudaErrorNotSupported;
}
template <>
CUresult answer_of() {
  return CUDA_ERROR_NOT_SUPPORTED;
}
template <>
cublasStatus_t answer_of() {
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

}  // namespace

extern "C" {
#define PLUMB_DEFINE_NOT_OFFERED(result, name)     \
  result name(...) {                               \
    plumb::simt::call_not_offered(#name, {"", 0}); \
    return answer_of<result>();                    \
  }
PLUMB_CALLS_NOT_OFFERED(PLUMB_DEFINE_NOT_OFFERED)
PLUMB_CUBLAS_NOT_OFFERED(PLUMB_DEFINE_NOT_OFFERED)
}
