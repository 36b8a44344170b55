// The device side, as the models' host code asks for it.
#include "gpu/device/devices.hpp"
#include "gpu/device/resources.hpp"
#include "reference/parallel/devices.hpp"

namespace plumb {
namespace {

constexpr DeviceSide kDeviceSide{no_device, device_count, use_device, device_name, device_peak_bytes};

struct RegisterDeviceSide {
  RegisterDeviceSide() { device_side = &kDeviceSide; }
};
const RegisterDeviceSide registered;

}  // namespace
}  // namespace plumb
