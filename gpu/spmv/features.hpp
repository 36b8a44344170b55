// Features of a matrix by which a rung chooses or refuses: row lengths on the host, and their extent and
// spread from the device. For supports() and prepare() only: both wait for the device.
#pragma once
#include "gpu/runtime/transfer.hpp"
#include "gpu/spmv/common.hpp"

namespace plumb {
namespace spmv {

/// An array on the host, freed with its owner; uninitialised. (No <vector>: it would triple the compile time
/// of a rung.)
template <class E>
class HostArray {
 public:
  explicit HostArray(Index size) : data_(new E[static_cast<std::size_t>(size > 0 ? size : 1)]), size_(size) {}
  HostArray(const HostArray&) = delete;
  HostArray& operator=(const HostArray&) = delete;
  ~HostArray() { delete[] data_; }
  E& operator[](Index i) { return data_[i]; }
  const E& operator[](Index i) const { return data_[i]; }
  E* data() { return data_; }
  Index size() const { return size_; }
  Index bytes() const { return size_ * static_cast<Index>(sizeof(E)); }
  void fill(E value) {
    for (Index i = 0; i < size_; ++i) data_[i] = value;
  }

 private:
  E* data_;
  Index size_;
};

/// A copy of a device array.
template <class E>
class HostCopy : public HostArray<E> {
 public:
  HostCopy(const E* device, Index size, void* stream) : HostArray<E>(size) {
    device_read(this->data(), device, static_cast<std::size_t>(this->bytes()), stream);
  }
};

/// Workspace that holds a copy of a host array.
template <class E>
E* upload(HostArray<E>& host, Context& context) {
  auto* device = static_cast<E*>(context.workspace(host.bytes()));
  device_write(device, host.data(), static_cast<std::size_t>(host.bytes()), context.stream);
  return device;
}

template <class E>
E* workspace_of(Index count, Context& context) {
  return static_cast<E*>(context.workspace(count * static_cast<Index>(sizeof(E))));
}

/// Whether a format that stores `slots` entries is refused: more than three times what CSR holds.
inline bool explodes(Index slots, Index rows, Index nnz) { return slots > 3 * (nnz + rows) + 1024; }

/// Length of the longest row, from a host copy of row_ptr.
inline Index longest_row(const HostArray<std::int32_t>& row_ptr) {
  Index longest = 0;
  for (Index i = 0; i + 1 < row_ptr.size(); ++i) {
    const Index length = row_ptr[i + 1] - row_ptr[i];
    if (length > longest) longest = length;
  }
  return longest;
}

}  // namespace spmv
}  // namespace plumb
