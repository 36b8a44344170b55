// The two backends of a GPU, of builds that have one, and what they share.
#pragma once
#include <memory>
#include <vector>

#include "verify/engine/backend.hpp"

namespace plumb {

/// One guarded image holds all arrays; every memory that could hold an old answer is poisoned.
[[nodiscard]] std::unique_ptr<Backend> make_gpu_backend();

/// The kernels launched since start_launch_log(), in the engine's words.
[[nodiscard]] std::vector<KernelUse> kernels_watched();

}  // namespace plumb
