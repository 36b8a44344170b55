// Synchronous copies for the host halves of variants.
#include "gpu/runtime/transfer.hpp"

#include "gpu/runtime/check.hpp"

namespace plumb {

void device_read(void* host, const void* device, std::size_t bytes, void* stream) {
  if (bytes == 0) return;
  auto* s = static_cast<cudaStream_t>(stream);
  PLUMB_CUDA(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, s));
  PLUMB_CUDA(cudaStreamSynchronize(s));
}

void device_write(void* device, const void* host, std::size_t bytes, void* stream) {
  if (bytes == 0) return;
  auto* s = static_cast<cudaStream_t>(stream);
  PLUMB_CUDA(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, s));
  PLUMB_CUDA(cudaStreamSynchronize(s));
}

namespace {

long long attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  PLUMB_CUDA(cudaGetDevice(&device));
  PLUMB_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

}  // namespace

long long device_l2_bytes() { return attribute(cudaDevAttrL2CacheSize); }
long long device_shared_bytes() { return attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin); }

}  // namespace plumb
