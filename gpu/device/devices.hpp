// Several devices in one process: how many there are, which one a thread of the host works on, and how much of its memory the thread has
// taken. gpu/runtime/resources.cpp defines these for GPUs, gpu/simt/host/device.cpp for the CPU executor, whose devices are logical ones
// that share it and take turns.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace plumb {

/// Devices that this process sees; asked only where no_device() is null.
[[nodiscard]] int device_count();
/// From here on this thread of the host works on `device`: its memory, streams and marks are there. A thread that never calls it works on
/// device 0. Errors: throws Error where there is no such device, or this build has no code for it.
void use_device(int device);
/// Lets copies between this thread's device and `other` go from one to the other. False: they go through the host's memory.
[[nodiscard]] bool connect_devices(int other);
/// Of this thread's device.
[[nodiscard]] std::string device_name();
/// The most bytes that this thread has held at a time, of those that device_allocate() gave it.
[[nodiscard]] std::int64_t device_peak_bytes();

/// The bytes that a thread holds. A thread releases what it has allocated itself; of other threads' memory nothing is known here.
class HeldBytes {
 public:
  void add(const void* p, std::int64_t bytes) {
    sizes_[p] = bytes;
    now_ += bytes;
    peak_ = std::max(peak_, now_);
  }
  void remove(const void* p) noexcept {
    const auto found = sizes_.find(p);
    if (found == sizes_.end()) return;
    now_ -= found->second;
    sizes_.erase(found);
  }
  [[nodiscard]] std::int64_t peak() const { return peak_; }

 private:
  std::unordered_map<const void*, std::int64_t> sizes_;
  std::int64_t now_ = 0, peak_ = 0;
};

}  // namespace plumb
