// Device memory as the host half of a variant sees it (supports, prepare): bytes to and from host memory, and what a kernel is fitted to.
// Synchronous, so never part of a run. One of the three headers in which kernels meet a world: gpu/runtime/memory.cpp defines these
// functions for a GPU, gpu/simt/host/device.cpp for the CPU executor, where both memories are one. Rungs include this: no standard
// library. Arrays and streams with owners: resources.hpp.
#pragma once
#include "gpu/device/launch.hpp"

namespace plumb {

/// Copies device memory to `host` after everything queued to `stream`, and waits. Errors: throws Error with the caller's line.
void device_read(void* host, const void* device, std::size_t bytes, void* stream,
                 const char* file = __builtin_FILE(), int line = __builtin_LINE());
/// Copies `host` to device memory in stream order, and waits: `host` may be freed at once. Errors: as device_read().
void device_write(void* device, const void* host, std::size_t bytes, void* stream,
                  const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// What device_sm() says on the executor, which runs whatever it can be built with.
constexpr int kAnySm = 1000;
/// Compute capability * 10 of the current device: 90 for sm_90.
int device_sm();
/// Bytes of the current device's second-level cache.
long long device_l2_bytes();
/// Bytes of shared memory that one block may have on the current device.
long long device_shared_bytes();
/// Whether times taken on this device say what is fast. On the executor they do not.
bool device_has_clock();

}  // namespace plumb
