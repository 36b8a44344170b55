// What a device takes per launch without being asked, and with: arithmetic only, so that both worlds refuse alike and a test
// needs no device. Apart from launch.hpp because kernel files need none of it.
#pragma once
#include <cstddef>
#include <string>

namespace plumb {
namespace launching {

/// Bytes of shared memory, static and dynamic together, that a block may have without
/// cudaFuncAttributeMaxDynamicSharedMemorySize; the same on every chip.
constexpr std::size_t kSharedWithoutAsking = 48 * 1024;

/// Whether the kernel's attribute must be set before a launch with so much shared memory, in bytes per block.
constexpr bool must_ask_for_shared_memory(std::size_t static_bytes, std::size_t dynamic_bytes) {
  return dynamic_bytes > 0 && static_bytes + dynamic_bytes > kSharedWithoutAsking;
}

/// Why no block can have so much shared memory where the device gives `most` bytes; empty: it can.
inline std::string shared_memory_refusal(std::size_t static_bytes, std::size_t dynamic_bytes,
                                         std::size_t most) {
  if (static_bytes + dynamic_bytes <= most) return {};
  return std::to_string(static_bytes) + " bytes of static and " + std::to_string(dynamic_bytes) +
         " of dynamic shared memory, but the device gives a block " + std::to_string(most);
}

}  // namespace launching
}  // namespace plumb
