// Which device there is, or why there is none; in words, for reports. Needs no device, and no driver.
#pragma once
#include <cstdint>
#include <string>

namespace plumb {

/// The current device. Sizes in bytes, clocks in MHz (the chip's maximum), versions as CUDA numbers them
/// (13000: 13.0).
struct DeviceInfo {
  std::string name;
  int sm = 0;  // compute capability * 10: 90 for sm_90
  int multiprocessors = 0;
  std::int64_t memory_bytes = 0, l2_bytes = 0, shared_per_block_bytes = 0;
  int clock_mhz = 0, memory_clock_mhz = 0;
  int driver_version = 0, runtime_version = 0;
};

/// Why no kernel can run here: "no CUDA device", "driver too old: ..."; "" where one can. Never throws.
[[nodiscard]] std::string device_unavailable();

/// Errors: throws Error where device_unavailable() has a reason, or a query fails.
[[nodiscard]] DeviceInfo device_info();

/// One line: "NVIDIA H200, sm_90, 132 SMs, 139.7 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0".
[[nodiscard]] std::string describe(const DeviceInfo&);

}  // namespace plumb
