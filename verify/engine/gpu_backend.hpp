// The two backends of a GPU, of builds that have one, and what they share.
#pragma once
#include <memory>
#include <vector>

#include "verify/engine/backend.hpp"

namespace plumb {

/// Everything staged in one guarded image, with poison wherever a kernel could find an answer.
[[nodiscard]] std::unique_ptr<Backend> make_gpu_backend();

/// The kernels launched since start_launch_log(), in the engine's words.
[[nodiscard]] std::vector<KernelUse> kernels_watched();

}  // namespace plumb
