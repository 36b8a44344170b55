// One layer at a time for networks of any width: a warp puts the inputs of its 32 neurons into shared memory,
// 64 lines at a time, and gathers from there.
#pragma once
#include <memory>

#include "gpu/models/sparse_dnn/layer_kernels.hpp"

namespace plumb {
namespace sdnn {

[[nodiscard]] std::unique_ptr<LayerKernels> staged_kernels(const SparseDnn& net, WindowBound bound,
                                                           MakeWindow make, void* stream);
/// Where the arrays of such a layer lie.
[[nodiscard]] PieceShape staged_shape(const Csr<float>& gather);

}  // namespace sdnn
}  // namespace plumb
