// What a device runs at this moment, for reports of times: clocks, temperature, power, and why it throttles. From NVML,
// which comes with the driver and is loaded when asked for: a build needs neither its header nor its library.
#pragma once
#include <string>

namespace plumb {

/// Of the current device, now. 0 where NVML does not say.
struct DeviceClocks {
  int sm_mhz = 0, memory_mhz = 0, temperature_c = 0;
  double watts = 0;
};

/// All 0 where there is no NVML. Never throws.
[[nodiscard]] DeviceClocks device_clocks();
/// The driver's own version ("580.65.06"), or "". Never throws.
[[nodiscard]] std::string driver_version();

}  // namespace plumb
