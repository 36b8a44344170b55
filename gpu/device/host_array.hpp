// Arrays on the host for the analysis of an operand in prepare() and supports(): owned, copied from a device,
// copied to one. No <vector>: it would triple the compile time of a rung. What copies waits for the device.
#pragma once
#include "gpu/device/memory.hpp"
#include "reference/core/abi.hpp"

namespace plumb {

/// An array on the host, freed with its owner; uninitialised.
template <class E>
class HostArray {
 public:
  explicit HostArray(std::int64_t size)
      : data_(new E[static_cast<std::size_t>(size > 0 ? size : 1)]), size_(size) {}
  HostArray(const HostArray&) = delete;
  HostArray& operator=(const HostArray&) = delete;
  ~HostArray() { delete[] data_; }
  E& operator[](std::int64_t i) { return data_[i]; }
  const E& operator[](std::int64_t i) const { return data_[i]; }
  E* data() { return data_; }
  [[nodiscard]] const E* data() const { return data_; }
  std::int64_t size() const { return size_; }
  std::int64_t bytes() const { return size_ * static_cast<std::int64_t>(sizeof(E)); }
  void fill(E value) {
    for (std::int64_t i = 0; i < size_; ++i) data_[i] = value;
  }

 private:
  E* data_;
  std::int64_t size_;
};

/// A copy of a device array.
template <class E>
class HostCopy : public HostArray<E> {
 public:
  HostCopy(const E* device, std::int64_t size, void* stream) : HostArray<E>(size) {
    device_read(this->data(), device, static_cast<std::size_t>(this->bytes()), stream);
  }
};

/// Workspace for `count` elements.
template <class E>
E* workspace_of(std::int64_t count, Context& context) {
  return static_cast<E*>(context.workspace(count * static_cast<std::int64_t>(sizeof(E))));
}

/// Workspace that holds a copy of a host array.
template <class E>
E* upload(HostArray<E>& host, Context& context) {
  E* device = workspace_of<E>(host.size(), context);
  device_write(device, host.data(), static_cast<std::size_t>(host.bytes()), context.stream);
  return device;
}

}  // namespace plumb
