// Queries of the current device; attributes rather than cudaDeviceProp, which changes its layout between CUDA
// versions.
#include "gpu/runtime/device_info.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "gpu/runtime/check.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

constexpr int kOldestSm = 80;  // of the machine code and PTX in this build

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  PLUMB_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

int capability(int device) {
  return 10 * attribute(cudaDevAttrComputeCapabilityMajor, device) +
         attribute(cudaDevAttrComputeCapabilityMinor, device);
}

}  // namespace

std::string device_unavailable() {
  try {
    int driver = 0, runtime = 0, count = 0;
    PLUMB_CUDA(cudaDriverGetVersion(&driver));
    PLUMB_CUDA(cudaRuntimeGetVersion(&runtime));
    if (driver == 0) return "no CUDA device (no driver is installed)";
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaErrorInsufficientDriver || (status != cudaSuccess && driver / 1000 < runtime / 1000)) {
      (void)cudaGetLastError();
      return fmt::format("driver too old: it offers CUDA {}, this build needs {}", version_text(driver),
                         version_text(runtime));
    }
    if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) {
      (void)cudaGetLastError();
      return "no CUDA device";
    }
    if (status != cudaSuccess) {
      (void)cudaGetLastError();
      return fmt::format("no usable CUDA device: {}: {}", cudaGetErrorName(status),
                         cudaGetErrorString(status));
    }
    int device = 0;
    PLUMB_CUDA(cudaGetDevice(&device));
    if (const int sm = capability(device); sm < kOldestSm) {
      return fmt::format("the device is sm_{}, this build needs sm_{} or later", sm, kOldestSm);
    }
  } catch (const Error& e) { return fmt::format("no usable CUDA device: {}", e.what()); }
  return {};
}

DeviceInfo device_info() {
  if (const std::string reason = device_unavailable(); !reason.empty()) throw Error(reason);
  DeviceInfo info;
  int device = 0;
  PLUMB_CUDA(cudaGetDevice(&device));
  cudaDeviceProp properties{};
  PLUMB_CUDA(cudaGetDeviceProperties(&properties, device));
  info.name = properties.name;
  info.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  info.sm = capability(device);
  info.multiprocessors = attribute(cudaDevAttrMultiProcessorCount, device);
  info.l2_bytes = attribute(cudaDevAttrL2CacheSize, device);
  info.shared_per_block_bytes = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  info.clock_mhz = attribute(cudaDevAttrClockRate, device) / 1000;
  info.memory_clock_mhz = attribute(cudaDevAttrMemoryClockRate, device) / 1000;
  PLUMB_CUDA(cudaDriverGetVersion(&info.driver_version));
  PLUMB_CUDA(cudaRuntimeGetVersion(&info.runtime_version));
  return info;
}

std::string describe(const DeviceInfo& d) {
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  return fmt::format("{}, sm_{}, {} SMs, {:.1f} GiB, L2 {} MiB, {} MHz, driver CUDA {}, runtime {}", d.name,
                     d.sm, d.multiprocessors, static_cast<double>(d.memory_bytes) / kGiB, d.l2_bytes >> 20,
                     d.clock_mhz, version_text(d.driver_version), version_text(d.runtime_version));
}

}  // namespace plumb
