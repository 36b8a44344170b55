// What the device reaches at best, measured here and now: the roofs that shares are of and that no honest time is above.
// With them the two kernels of a timing loop: emptying L2, and holding a stream until the host has queued what is timed.
#pragma once
#include <cstdint>

namespace plumb {

/// Bytes and operations per second; 0 where the device lacks the unit. An fma counts as two.
struct DeviceRoofs {
  double read = 0;       // memory, 16-byte loads
  double copy = 0;       // memory, both directions counted
  double l2_read = 0;    // from a buffer of a third of L2
  double l2_gather = 0;  // 128-byte rows in random order from 18 MB
  double fp32 = 0, fp64 = 0;
  double fp64_tensor = 0;   // mma.sync
  double tf32_tensor = 0;   // mma.sync; wgmma reaches up to twice that
  double empty_launch = 0;  // seconds between two events around a kernel that does nothing
};

/// Takes about a second. Errors: throws Error where there is no device or not 1 GiB of memory.
[[nodiscard]] DeviceRoofs measure_device_roofs();

/// Reads `bytes` (a multiple of 16) in stream order, so that L2 holds them and nothing else, clean. `sink` (device) takes the sum.
void read_through(const void* from, std::int64_t bytes, unsigned* sink, void* stream);
/// Keeps the stream busy for about `microseconds`.
void hold_stream(int microseconds, void* stream);

}  // namespace plumb
