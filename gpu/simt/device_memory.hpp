// The CPU executor's side of gpu/runtime/device_memory.hpp, which includes it.
#pragma once
#include <chrono>
#include <cstdlib>
#include <new>

#include "gpu/runtime/device_memory.hpp"
#include "gpu/simt/executor.hpp"

namespace plumb {

inline void* device_allocate(std::size_t bytes, const char* what) {
  void* const p = std::aligned_alloc(256, (bytes + 511) / 256 * 256);
  if (p == nullptr) throw std::bad_alloc();
  simt::add_array(what, p, bytes, false, true);
  return p;
}
inline void device_release(void* p) noexcept {
  simt::remove_array(p);
  std::free(p);
}
inline std::int64_t device_memory_free() { return std::int64_t{1} << 34; }
inline void require_device_memory(std::int64_t, const std::string&) {}
inline const char* no_device() { return nullptr; }

inline DeviceStream::DeviceStream() = default;
inline DeviceStream::~DeviceStream() = default;
inline void DeviceStream::wait() const { simt::order_all(); }

inline DeviceNumber::DeviceNumber() : host_(new std::int32_t(0)) {}
inline DeviceNumber::~DeviceNumber() { delete host_; }
inline void DeviceNumber::fetch(const std::int32_t* from, void* stream) {
  device_read(host_, from, sizeof(std::int32_t), stream);
}
inline std::int32_t DeviceNumber::value() const { return *host_; }

inline DeviceMarks::DeviceMarks(std::int64_t most) { events_.reserve(static_cast<std::size_t>(most)); }
inline DeviceMarks::~DeviceMarks() = default;
inline void DeviceMarks::mark(void*) {
  events_.push_back(
      reinterpret_cast<void*>(std::chrono::steady_clock::now().time_since_epoch().count()));  // nanoseconds
}
inline std::vector<double> DeviceMarks::seconds() const {
  std::vector<double> between;
  for (std::size_t i = 1; i < events_.size(); ++i) {
    between.push_back(1e-9 * static_cast<double>(reinterpret_cast<std::intptr_t>(events_[i]) -
                                                 reinterpret_cast<std::intptr_t>(events_[i - 1])));
  }
  return between;
}

}  // namespace plumb
