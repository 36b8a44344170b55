// One layer at a time for networks of any width, neurons with the same inputs together: a warp computes a group of them and 128 rows.
#pragma once
#include <memory>

#include "gpu/models/sparse_dnn/layer_kernels.hpp"

namespace plumb {
namespace sdnn {

[[nodiscard]] std::unique_ptr<LayerKernels> shared_kernels(const SparseDnn& net, WindowBound bound,
                                                           MakeWindow make, void* stream);

}  // namespace sdnn
}  // namespace plumb
