// What a variant's host half (supports, prepare) may ask of the device beyond launching: bytes to and from
// host memory, and the sizes of what a kernel is fitted to. Synchronous, so never part of a run. On the CPU
// executor both memories are one.
#pragma once
#include "gpu/runtime/launch.hpp"

namespace plumb {

#if !defined(PLUMB_SIMT)

/// Copies device memory to `host` after everything queued to `stream`, and waits. Errors: throws Error.
void device_read(void* host, const void* device, std::size_t bytes, void* stream);
/// Copies `host` to device memory in stream order, and waits: `host` may be freed at once. Errors: throws
/// Error.
void device_write(void* device, const void* host, std::size_t bytes, void* stream);
/// Bytes of the current device's second-level cache.
long long device_l2_bytes();
/// Bytes of shared memory that one block may have on the current device.
long long device_shared_bytes();

#else

inline void device_read(void* host, const void* device, std::size_t bytes, void* stream) {
  device_copy(host, device, bytes, stream);
}
inline void device_write(void* device, const void* host, std::size_t bytes, void* stream) {
  device_copy(device, host, bytes, stream);
}
inline long long device_l2_bytes() { return 4LL << 20; }
inline long long device_shared_bytes() { return 227LL << 10; }  // of sm_90

#endif

}  // namespace plumb
