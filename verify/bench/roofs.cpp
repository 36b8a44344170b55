#include "verify/bench/roofs.hpp"

#include <omp.h>
#include <unistd.h>

#include <algorithm>

#include "reference/core/error.hpp"
#include "verify/bench/host_roofs.hpp"
#include "verify/engine/backend/backend.hpp"

#if defined(PLUMB_WITH_CUDA)
#include "gpu/runtime/device_info.hpp"
#include "gpu/runtime/roofs.hpp"
#endif

namespace plumb {
namespace {

std::int64_t own_cache_bytes(int name, std::int64_t fallback) {
  const long bytes = sysconf(name);
  return bytes > 0 ? static_cast<std::int64_t>(bytes) : fallback;
}
std::int64_t own_l2_bytes() { return own_cache_bytes(_SC_LEVEL2_CACHE_SIZE, 512 << 10); }

std::vector<Roof> host_roofs(double most) {
  const auto threads = static_cast<std::int64_t>(omp_get_max_threads());
  // half of what a level holds: the other half is left for what else a core keeps there
  const std::int64_t l1 = own_cache_bytes(_SC_LEVEL1_DCACHE_SIZE, 32 << 10), l2 = own_l2_bytes();
  const std::int64_t last = last_level_cache_bytes();
  const std::int64_t beyond =
      std::clamp<std::int64_t>(4 * last, std::int64_t{128} << 20, std::int64_t{4} << 30);
  return {
      {"cpu", "read", host_read_rate(beyond / threads, true, most), "B/s"},
      {"cpu", "copy", host_copy_rate(beyond, most), "B/s"},
      {"cpu", "last level read", host_read_rate(last / 2 / threads, true, most), "B/s"},
      {"cpu", "L2 read", host_read_rate(l2 / 2, false, most), "B/s"},
      {"cpu", "L1 read", host_read_rate(l1 / 2, false, most), "B/s"},
      {"cpu", "last level size", static_cast<double>(last), "B"},
      {"cpu", "L2 size", static_cast<double>(l2 * threads), "B"},
      {"cpu", "L1 size", static_cast<double>(l1 * threads), "B"},
      {"cpu", "fp32", host_fma_rate_f32(most), "flop/s"},
      {"cpu", "fp64", host_fma_rate_f64(most), "flop/s"},
  };
}

std::vector<Roof> gpu_roofs() {
#if defined(PLUMB_WITH_CUDA)
  const DeviceInfo info = device_info();
  const DeviceRoofs r = measure_device_roofs();
  return {
      {"gpu", "read", r.read, "B/s"},
      {"gpu", "copy", r.copy, "B/s"},
      {"gpu", "L2 read", r.l2_read, "B/s"},
      {"gpu", "L2 gather", r.l2_gather, "B/s"},
      {"gpu", "L2 size", static_cast<double>(info.l2_bytes), "B"},
      {"gpu", "fp32", r.fp32, "flop/s"},
      {"gpu", "fp64", r.fp64, "flop/s"},
      {"gpu", "fp64 tensor (mma.sync)", r.fp64_tensor, "flop/s"},
      {"gpu", "tf32 tensor (mma.sync)", r.tf32_tensor, "flop/s"},
      {"gpu", "empty launch", r.empty_launch, "s"},
  };
#else
  throw Error(make_backend(Device::gpu)->why_not());
#endif
}

}  // namespace

double RoofSet::rate_of(Format operand, Format accumulate) const {
  const int digits = is_floating(operand) ? facts(operand).digits : 0;
  if (digits > 0 && digits < facts(Format::f32).digits)
    return facts(operand).bytes == 1 ? 2 * reduced : reduced;  // tensor units take bytes at twice the rate
  switch (accumulate) {
    case Format::f32:
      return fp32;
    case Format::f64:
      return fp64;
    default:
      return 0;
  }
}

double floor_seconds(const RoofSet& roofs, Dtype dtype, Arithmetic arithmetic, const Cost& cost,
                     double output_bytes, bool cold) {
  if (roofs.levels.empty()) return 0;
  double near = std::min(cost.bytes, cold ? output_bytes : cost.bytes), seconds = 0, held = 0;
  double far = cost.bytes - near;
  for (std::size_t l = 0; l + 1 < roofs.levels.size(); ++l) {
    const double here = std::min(near, std::max(roofs.levels[l].capacity - held, 0.0));
    seconds += here / roofs.levels[l].rate;
    near -= here;
    held += here;
  }
  far += near;
  seconds += far / roofs.levels.back().rate;
  const Format operand = is_floating(arithmetic.operand) ? arithmetic.operand : facts(dtype).in;
  const double rate = roofs.rate_of(operand, facts(dtype).accumulate);
  // F(2x2, 3x3) makes four outputs of 16 products each where the sum takes 36
  const double flop =
      arithmetic.transform == Arithmetic::Transform::winograd ? cost.flop * 16 / 36 : cost.flop;
  return rate > 0 ? std::max(seconds, flop / rate) : seconds;
}

std::vector<Roof> measure_roofs(Device device, double most) {
  switch (device) {
    case Device::cpu:
      return host_roofs(most);
    case Device::gpu:
      return gpu_roofs();
    case Device::simt:
      break;
  }
  throw Error("the CPU executor has no roofs: nothing is timed there");
}

double second_level_bytes(Device device) {
  if (device == Device::cpu) return static_cast<double>(own_l2_bytes()) * omp_get_max_threads();
#if defined(PLUMB_WITH_CUDA)
  return static_cast<double>(device_info().l2_bytes);
#else
  throw Error(make_backend(device)->why_not());
#endif
}

RoofSet roof_set(const std::vector<Roof>& roofs, Device device) {
  const auto value = [&](const char* roof) {
    for (const Roof& r : roofs) {
      if (r.device == name(device) && r.name == roof) return r.value;
    }
    return 0.0;
  };
  RoofSet set;
  for (const char* level : {"L1", "L2", "last level"}) {
    const double size = value((std::string(level) + " size").c_str());
    double rate = value((std::string(level) + " read").c_str());
    if (std::string(level) == "L2") rate = std::max(rate, value("L2 gather"));
    const double held = set.levels.empty() ? 0 : set.levels.back().capacity;
    if (size > held && rate > 0) set.levels.push_back({size, rate});
  }
  const double memory = std::max(value("read"), value("copy"));
  if (memory > 0) {
    set.levels.push_back({std::numeric_limits<double>::infinity(), memory});
  } else {
    set.levels.clear();
  }
  // a level is at least as fast as the one behind it, whatever disturbed its measurement
  for (std::size_t l = set.levels.size(); l-- > 1;)
    set.levels[l - 1].rate = std::max(set.levels[l - 1].rate, set.levels[l].rate);
  set.fp32 = value("fp32");
  set.fp64 = std::max(value("fp64"), value("fp64 tensor (mma.sync)"));
  // fp16 and bf16 run at twice the rate of tf32, and wgmma at up to twice the rate of mma.sync
  set.reduced = 4 * value("tf32 tensor (mma.sync)");
  return set;
}

std::vector<Roof> better_of(std::vector<Roof> a, const std::vector<Roof>& b) {
  for (const Roof& r : b) {
    const auto same = std::find_if(a.begin(), a.end(),
                                   [&](const Roof& o) { return o.device == r.device && o.name == r.name; });
    if (same == a.end()) {
      a.push_back(r);
    } else if (r.unit == "s") {
      same->value = std::min(same->value, r.value);
    } else {
      same->value = std::max(same->value, r.value);
    }
  }
  return a;
}

}  // namespace plumb
