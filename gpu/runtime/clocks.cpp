// NVML by dlopen: six functions of its stable interface.
#include "gpu/runtime/clocks.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <type_traits>

namespace plumb {
namespace {

using Device = struct nvmlDevice_st*;
constexpr int kSuccess = 0, kClockSm = 1, kClockMemory = 2, kTemperatureGpu = 0;

struct Nvml {
  int (*init)() = nullptr;
  int (*by_bus_id)(const char*, Device*) = nullptr;
  int (*clock)(Device, int, unsigned*) = nullptr;
  int (*temperature)(Device, int, unsigned*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*driver)(char*, unsigned) = nullptr;
  bool ready = false;

  Nvml() {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) return;
    const auto find = [&](auto& f, const char* name) {
      f = reinterpret_cast<std::remove_reference_t<decltype(f)>>(dlsym(library, name));
      return f != nullptr;
    };
    ready = find(init, "nvmlInit_v2") && find(by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2") &&
            find(clock, "nvmlDeviceGetClockInfo") && find(temperature, "nvmlDeviceGetTemperature") &&
            find(power, "nvmlDeviceGetPowerUsage") && find(driver, "nvmlSystemGetDriverVersion") &&
            init() == kSuccess;
  }
};

const Nvml& nvml() {
  static const Nvml library;
  return library;
}

}  // namespace

DeviceClocks device_clocks() {
  DeviceClocks now;
  char bus[32] = {};
  int current = 0;
  Device device = nullptr;
  if (!nvml().ready || cudaGetDevice(&current) != cudaSuccess ||
      cudaDeviceGetPCIBusId(bus, sizeof bus, current) != cudaSuccess ||
      nvml().by_bus_id(bus, &device) != kSuccess) {
    (void)cudaGetLastError();
    return now;
  }
  unsigned value = 0;
  if (nvml().clock(device, kClockSm, &value) == kSuccess) now.sm_mhz = static_cast<int>(value);
  if (nvml().clock(device, kClockMemory, &value) == kSuccess) now.memory_mhz = static_cast<int>(value);
  if (nvml().temperature(device, kTemperatureGpu, &value) == kSuccess)
    now.temperature_c = static_cast<int>(value);
  if (nvml().power(device, &value) == kSuccess) now.watts = value / 1000.0;
  return now;
}

std::string driver_version() {
  char text[96] = {};
  return nvml().ready && nvml().driver(text, sizeof text) == kSuccess ? text : "";
}

}  // namespace plumb
