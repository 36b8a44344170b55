// Owners of the handles of CUDA that no code for both worlds needs: events, page-locked memory. Movable, not copyable; destroyed
// without throwing. Streams and device memory: gpu/device/resources.hpp.
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
struct EventTraits {
  using Handle = cudaEvent_t;
  static cudaError_t destroy(Handle h) { return cudaEventDestroy(h); }
};
struct PinnedTraits {
  using Handle = void*;
  static cudaError_t destroy(Handle h) { return cudaFreeHost(h); }
};
}  // namespace detail

using UniqueEvent = UniqueHandle<detail::EventTraits>;
using PinnedMemory = UniqueHandle<detail::PinnedTraits>;  // of the host, page-locked

/// An event; `timed` ones can be the ends of elapsed_ms().
[[nodiscard]] UniqueEvent make_event(bool timed = true);
/// `bytes` of page-locked host memory.
[[nodiscard]] PinnedMemory make_pinned(std::int64_t bytes);
/// Milliseconds between two recorded events; waits for the later one.
[[nodiscard]] float elapsed_ms(const UniqueEvent& begin, const UniqueEvent& end);

}  // namespace plumb
