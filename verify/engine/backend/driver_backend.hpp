// A GPU by the CUDA driver alone: for workers in which a framework of another language runs kernels (tools/python). Arrays lie in guarded device
// memory, and the stream of the call has an order of its own, which is tested: work that does not keep it is a finding.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "verify/engine/backend/backend.hpp"
#include "verify/engine/backend/cuda_driver.hpp"

namespace plumb {

/// The backend of Device::gpu in such a worker. One at a time in a process. why_not() says where there is no driver, or no device.
[[nodiscard]] std::unique_ptr<Backend> make_driver_backend();

/// Whether this process has that backend, and a device.
[[nodiscard]] bool is_driver_backend_here();

/// What a framework allocates during a call: guarded, poisoned in the stream's order, checked at the end of each run as long as it is not
/// freed. Null where there is no backend, or no memory; the run then says nothing.
[[nodiscard]] void* allocate_during_call(std::int64_t bytes, CudaDriver::Handle stream);
void free_during_call(void*);

/// Rows of bytes, so far apart.
struct RowsOfDevice {
  void* at = nullptr;
  std::int64_t pitch = 0;
};
struct RowsToCopy {
  const void* at = nullptr;
  std::int64_t pitch = 0;
  bool on_host = false;
};
/// In the stream's order; waits for it where the rows lie on the host. Throws Error.
void copy_rows_to_device(const RowsOfDevice& to, const RowsToCopy& from, std::int64_t row_bytes,
                         std::int64_t rows, CudaDriver::Handle stream);

/// Work that is given to `second` from now on waits for what `first` has been given so far. Throws Error.
void order_streams(CudaDriver::Handle first, CudaDriver::Handle second);

}  // namespace plumb
