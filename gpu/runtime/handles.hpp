// Owners of CUDA's handles: stream, event, graph, device memory. Movable, not copyable; destroyed without
// throwing.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "gpu/runtime/check.hpp"

namespace plumb {

/// Owns one handle of a C library; `Traits` names its type and how it is destroyed.
template <class Traits>
class UniqueHandle {
 public:
  using Handle = typename Traits::Handle;
  UniqueHandle() = default;
  explicit UniqueHandle(Handle handle) : handle_(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept : handle_(std::exchange(other.handle_, Handle{})) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  UniqueHandle(const UniqueHandle&) = delete;
  UniqueHandle& operator=(const UniqueHandle&) = delete;
  ~UniqueHandle() {
    if (handle_ != Handle{}) ignore_cuda(Traits::destroy(handle_));
  }
  [[nodiscard]] Handle get() const { return handle_; }

 private:
  Handle handle_{};
};

namespace detail {
struct StreamTraits {
  using Handle = cudaStream_t;
  static cudaError_t destroy(Handle h) { return cudaStreamDestroy(h); }
};
struct EventTraits {
  using Handle = cudaEvent_t;
  static cudaError_t destroy(Handle h) { return cudaEventDestroy(h); }
};
struct PinnedTraits {
  using Handle = void*;
  static cudaError_t destroy(Handle h) { return cudaFreeHost(h); }
};
struct GraphTraits {
  using Handle = cudaGraphExec_t;
  static cudaError_t destroy(Handle h) { return cudaGraphExecDestroy(h); }
};
}  // namespace detail

using UniqueStream = UniqueHandle<detail::StreamTraits>;
using UniqueEvent = UniqueHandle<detail::EventTraits>;
using UniqueGraph = UniqueHandle<detail::GraphTraits>;
using PinnedMemory = UniqueHandle<detail::PinnedTraits>;  // of the host, page-locked

/// A stream that does not wait for the default stream, nor the default stream for it.
[[nodiscard]] UniqueStream make_stream();
/// An event; `timed` ones can be the ends of elapsed_ms().
[[nodiscard]] UniqueEvent make_event(bool timed = true);
/// `bytes` of page-locked host memory.
[[nodiscard]] PinnedMemory make_pinned(std::int64_t bytes);
/// Milliseconds between two recorded events; waits for the later one.
[[nodiscard]] float elapsed_ms(const UniqueEvent& begin, const UniqueEvent& end);

/// What `work` queues to `stream`, recorded once and launched many times. `work` may neither allocate nor
/// synchronise. Errors: whatever `work` throws, with the capture ended; Error where the capture cannot be
/// instantiated.
template <class Work>
[[nodiscard]] UniqueGraph capture_graph(cudaStream_t stream, Work&& work);

/// `size()` elements of T in device memory, uninitialised; 256-byte aligned. Never null, even when empty.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::int64_t size) : size_(size) {
    const auto bytes = static_cast<std::size_t>(size > 0 ? size : 1) * sizeof(T);
    void* p = nullptr;
    PLUMB_CUDA(cudaMalloc(&p, bytes));
    data_ = static_cast<T*>(p);
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_), std::swap(size_, other.size_);
    return *this;
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() {
    if (data_ != nullptr) ignore_cuda(cudaFree(data_));
  }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::int64_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

namespace detail {
[[nodiscard]] UniqueGraph end_capture(cudaStream_t stream);
void abandon_capture(cudaStream_t stream) noexcept;
}  // namespace detail

template <class Work>
UniqueGraph capture_graph(cudaStream_t stream, Work&& work) {
  PLUMB_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  try {
    std::forward<Work>(work)();
  } catch (...) {
    detail::abandon_capture(stream);
    throw;
  }
  return detail::end_capture(stream);
}

}  // namespace plumb
