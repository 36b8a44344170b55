// The message of a failed CUDA call; out of line, so that a checked call costs its caller one comparison.
#include "gpu/runtime/check.hpp"

#include <string>

#include "reference/core/error.hpp"

namespace plumb {

void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // a refused call is not sticky: leave nothing for the next check to trip over
  throw input_error(file, line, call,
                    std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status));
}

void ignore_cuda(cudaError_t status) noexcept {
  if (status != cudaSuccess) (void)cudaGetLastError();
}

}  // namespace plumb
