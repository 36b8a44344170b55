// Synchronous copies and what a kernel is fitted to, on a GPU.
#include "gpu/device/memory.hpp"

#include "gpu/runtime/check.hpp"

namespace plumb {

namespace {

void copy_and_wait(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, void* stream,
                   const char* file, int line) {
  if (bytes == 0) return;
  auto* const s = static_cast<cudaStream_t>(stream);
  check_cuda(cudaMemcpyAsync(to, from, bytes, kind, s), "cudaMemcpyAsync", file, line);
  check_cuda(cudaStreamSynchronize(s), "cudaStreamSynchronize", file, line);
}

int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  PLUMB_CUDA(cudaGetDevice(&device));
  PLUMB_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

}  // namespace

void device_read(void* host, const void* device, std::size_t bytes, void* stream, const char* file,
                 int line) {
  copy_and_wait(host, device, bytes, cudaMemcpyDeviceToHost, stream, file, line);
}

void device_write(void* device, const void* host, std::size_t bytes, void* stream, const char* file,
                  int line) {
  copy_and_wait(device, host, bytes, cudaMemcpyHostToDevice, stream, file, line);
}

int device_sm() {
  return 10 * attribute(cudaDevAttrComputeCapabilityMajor) + attribute(cudaDevAttrComputeCapabilityMinor);
}
long long device_l2_bytes() { return attribute(cudaDevAttrL2CacheSize); }
long long device_shared_bytes() { return attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin); }
bool device_has_clock() { return true; }

}  // namespace plumb
