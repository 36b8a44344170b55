// Errors of the CUDA runtime as plumb::Error: the call as written, its place, the error's name and text.
// Apart from launch.hpp because kernel files do not need it: this one brings the standard library.
#pragma once
#include <cuda_runtime_api.h>

namespace plumb {

/// Throws Error `FILE:LINE: CALL: NAME: TEXT` where `status` is not success, and clears an error that is not
/// sticky.
void check_cuda(cudaError_t status, const char* call, const char* file, int line);

/// For destructors: reports nothing, since the error that matters has been thrown already, and clears what
/// can be cleared.
void ignore_cuda(cudaError_t status) noexcept;

}  // namespace plumb

/// PLUMB_CUDA(cudaMalloc(&p, n)): a checked call. Host code makes every call of the CUDA runtime so.
#define PLUMB_CUDA(call) ::plumb::check_cuda((call), #call, __FILE__, __LINE__)
