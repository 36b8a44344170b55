// Resources that a run needs from the machine and that are not the variant's fault when they run out: memory, address space, threads.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace plumb {

/// Reads how many processes the kernel has killed so far because memory ran out.
using OomCounter = std::function<std::int64_t()>;

/// The sum of the kernel's counters that can be read here: oom_kill of /proc/vmstat (the machine), and that of this process's control
/// group (memory.events of version 2, memory.oom_control of version 1). Only a change of it means something.
[[nodiscard]] std::int64_t oom_kills();

/// Bytes of address space this process may still map under RLIMIT_AS (`ulimit -v`); the largest number where there is no limit.
[[nodiscard]] std::int64_t address_space_left();

/// A thread that does `work`. Throws ResourceError where none can be started.
[[nodiscard]] std::thread start_thread(std::function<void()> work);

/// Tries to get what every variant needs: `threads` threads at once, their stacks, and some address space. Returns ""
/// or one line that names the resource and its limit.
[[nodiscard]] std::string missing_resources(int threads);

}  // namespace plumb
