// What a process holds of the system, read between calls of a variant: what grows with every call is leaked.
#pragma once
#include <cstdint>

namespace plumb {

struct ResourceUse {
  std::int64_t calls = 0;              // made so far
  std::int64_t blocks = 0, bytes = 0;  // of the heap, allocated and not freed since counting began
  std::int64_t runtime_bytes = 0;      // likewise of OpenMP's runtime, for itself: no kernel's
  std::int64_t pages = 0;              // of address space, mapped and not given back, as blocks are counted
  std::int64_t descriptors = 0, threads = 0;
};

/// Set by verify/interposed in the programs that are linked with it; null in all others. Counting begins with a call that says true.
inline void (*count_heap)(bool begin) = nullptr;
/// Adds what the heap holds.
inline void (*read_heap)(ResourceUse&) = nullptr;

/// What this process holds now. Allocates nothing that it keeps.
[[nodiscard]] ResourceUse resource_use(std::int64_t calls);

}  // namespace plumb
