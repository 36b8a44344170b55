// Device memory between guards, had from the driver (CudaDriver): the image, workspaces, and what a framework allocates during a call.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "verify/engine/backend/cuda_driver.hpp"

namespace plumb {

/// One allocation. Its guards lie before its first byte and behind its last.
struct DeviceBlock {
  CudaDriver::Address memory = 0;
  std::int64_t guard = 0;     // bytes on both sides
  std::int64_t capacity = 0;  // bytes between them; a multiple of 512
  std::int64_t bytes = 0;     // of it in use: the guard behind begins there

  [[nodiscard]] CudaDriver::Address base() const { return memory + static_cast<CudaDriver::Address>(guard); }
};

/// Throws Error where the device has no such memory.
[[nodiscard]] DeviceBlock make_device_block(std::int64_t bytes, std::int64_t guard);
void free_device_block(DeviceBlock&);
/// In the stream's order: writes both guards.
void guard_device_block(const DeviceBlock&, CudaDriver::Handle stream);
/// Waits for the stream. "", or "wrote before the start of", or "wrote past the end of".
[[nodiscard]] std::string damage_of(const DeviceBlock&, CudaDriver::Handle stream);
/// In the stream's order: [at, at + bytes) holds this word over and over, in phase with addresses.
void fill_with_word(CudaDriver::Address at, std::int64_t bytes, std::uint32_t word,
                    CudaDriver::Handle stream);

/// Blocks that are handed out during runs. Several threads may take and give back.
class DeviceBlocks {
 public:
  /// Guarded and full of `poison`, in the stream's order; 512-byte aligned. What is given back is not handed out again before the run has
  /// ended, unless memory runs out. Throws Error where there is none.
  [[nodiscard]] void* take(std::int64_t bytes, std::uint32_t poison, CudaDriver::Handle stream);
  /// Its user is done with it; an address that is no block's is ignored.
  void give_back(void*);
  /// Waits for the device; says of the first block whose guards were written what was wrong, or "". Blocks that were given back may be
  /// handed out again.
  [[nodiscard]] std::string check(CudaDriver::Handle stream);

 private:
  [[nodiscard]] DeviceBlock fresh_or_idle(std::int64_t bytes);
  void trim();

  std::mutex mutex_;
  std::vector<DeviceBlock> used_, given_back_, idle_;
  std::string damage_;  // found where memory ran out during a run
};

}  // namespace plumb
