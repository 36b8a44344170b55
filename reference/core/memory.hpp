// How much memory this process can still take, and a clean refusal before work that needs more.
#pragma once
#include <string>

namespace plumb {

/// Bytes that this process can still take: the least of what the system has available, what its control group leaves,
/// and what is left of its address space (`ulimit -v`). Infinite where nothing limits it or nothing is known.
[[nodiscard]] double available_memory();

/// Throws Error "WHAT: about X GiB are needed, Y GiB are available" where `bytes` exceed available_memory().
void require_memory(const std::string& what, double bytes);

}  // namespace plumb
