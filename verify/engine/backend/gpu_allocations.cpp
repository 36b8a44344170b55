// The functions that stand in front of the CUDA runtime's allocations: the linker's --wrap, in every program with the GPU's backend
// (verify/CMakeLists.txt).
#include "verify/engine/backend/gpu_allocations.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <vector>

#include "gpu/runtime/check.hpp"
#include "gpu/runtime/poison.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier): the linker makes these names
extern "C" {
cudaError_t __real_cudaMalloc(void**, std::size_t);
cudaError_t __real_cudaMallocAsync(void**, std::size_t, cudaStream_t);
cudaError_t __real_cudaMallocPitch(void**, std::size_t*, std::size_t, std::size_t);
}

namespace plumb {
namespace {

std::atomic<std::uint64_t> pattern{0};

// In stream order. What is left of the last word has the pattern's lowest byte.
cudaError_t fill(void* memory, std::size_t bytes, std::uint64_t bits, cudaStream_t stream) {
  const std::size_t words = bytes / 8 * 8;
  if (words > 0) fill_pattern(memory, bits, static_cast<std::int64_t>(words), stream);
  if (words == bytes) return cudaSuccess;
  return cudaMemsetAsync(static_cast<char*>(memory) + words, static_cast<int>(bits & 0xff), bytes - words,
                         stream);
}

// Of an allocation that any stream may use at once.
cudaError_t fill_now(void* memory, std::size_t bytes) {
  const std::uint64_t bits = pattern;
  if (bits == 0 || bytes == 0) return cudaSuccess;
  cudaStreamCaptureMode mode =
      cudaStreamCaptureModeRelaxed;  // another stream of the caller's may be captured
  (void)cudaThreadExchangeStreamCaptureMode(&mode);
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (status == cudaSuccess) status = fill(memory, bytes, bits, stream);
  if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
  if (stream != nullptr) (void)cudaStreamDestroy(stream);
  (void)cudaThreadExchangeStreamCaptureMode(&mode);
  return status;
}

}  // namespace

void poison_own_allocations(std::uint64_t bits) { pattern = bits; }

void poison_small_blocks(std::uint64_t bits, void* stream) {
  static constexpr std::size_t kSizes[] = {512, 4 << 10, 32 << 10, 256 << 10, 1 << 20};
  std::vector<void*> blocks;
  for (const std::size_t size : kSizes) {
    void* block = nullptr;
    if (__real_cudaMalloc(&block, size) != cudaSuccess) {
      (void)cudaGetLastError();  // no memory is free, so none is handed out
      break;
    }
    blocks.push_back(block);
    fill_pattern(block, bits, static_cast<std::int64_t>(size), stream);
  }
  PLUMB_CUDA(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
  for (void* block : blocks) PLUMB_CUDA(cudaFree(block));
}

}  // namespace plumb

extern "C" {

cudaError_t __wrap_cudaMalloc(void** memory, std::size_t bytes) {
  const cudaError_t status = __real_cudaMalloc(memory, bytes);
  return status == cudaSuccess ? plumb::fill_now(*memory, bytes) : status;
}

cudaError_t __wrap_cudaMallocPitch(void** memory, std::size_t* pitch, std::size_t width, std::size_t height) {
  const cudaError_t status = __real_cudaMallocPitch(memory, pitch, width, height);
  return status == cudaSuccess ? plumb::fill_now(*memory, *pitch * height) : status;
}

cudaError_t __wrap_cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t stream) {
  const cudaError_t status = __real_cudaMallocAsync(memory, bytes, stream);
  const std::uint64_t bits = plumb::pattern;
  if (status != cudaSuccess || bits == 0) return status;
  return plumb::fill(*memory, bytes, bits, stream);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
