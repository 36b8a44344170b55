// How much memory this process can still take, and a clean refusal before work that needs more.
#pragma once
#include <cstdint>
#include <string>

namespace plumb {

/// Bytes that this process can still take: the least of what the system has available, what its control group leaves,
/// and what is left of its address space (`ulimit -v`). Infinite where nothing limits it or nothing is known.
[[nodiscard]] double available_memory();

/// A bound on bytes, and what of them is not for data: the program's own, and one part in `allocator_share` (0: none; at least 2) that an allocator
/// keeps of what is freed in pieces.
struct MemoryBound {
  MemoryBound(std::int64_t all = 0)
      : bytes(all) {}  // NOLINT(google-explicit-constructor): most bounds are of data alone
  std::int64_t bytes, program = 0, allocator_share = 0;

  [[nodiscard]] std::int64_t for_data() const {
    return bytes - program - (allocator_share > 0 ? bytes / allocator_share : 0);
  }
  /// The least `bytes` of such a bound that leave so many for data.
  [[nodiscard]] std::int64_t least_for(std::int64_t data) const;
};

/// "640 KiB", "8192 MiB": rounded up, as what is needed must be.
[[nodiscard]] std::string show_amount(std::int64_t bytes);

/// Throws Error "WHAT: about X GiB are needed, Y GiB are available", with memory_limit_text(), where `bytes` exceed available_memory().
void require_memory(const std::string& what, double bytes);

}  // namespace plumb
