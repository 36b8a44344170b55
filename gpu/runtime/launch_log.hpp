// Which kernels were launched, and what each takes of the device. Apart from gpu/device/launch.hpp because only benches read
// it: kernel files stay lean, and a launch that is not logged costs one load more.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

/// One kernel as it was first launched; sizes in bytes.
struct LaunchedKernel {
  const void* function = nullptr;
  std::string name;
  int registers = 0;     // per thread
  int shared_bytes = 0;  // per block, static and dynamic
  int local_bytes = 0;   // per thread: spills and indexed arrays
  int threads = 0;       // per block
  std::int64_t blocks = 0;
};

/// Starts a new log, of this process. Not thread-safe: one thread launches while a log is kept.
void start_launch_log();
/// Stops, and hands out what was launched, each kernel once.
[[nodiscard]] std::vector<LaunchedKernel> take_launch_log();

[[nodiscard]] bool launch_log_on();
/// Called by the launch seam.
void log_launch(const void* kernel, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes);

}  // namespace plumb
