// What the two backends of a GPU share.
#pragma once
#include <vector>

#include "verify/engine/backend/backend.hpp"

namespace plumb {

/// The kernels launched since start_launch_log(), in the engine's words.
[[nodiscard]] std::vector<KernelUse> kernels_watched();

}  // namespace plumb
