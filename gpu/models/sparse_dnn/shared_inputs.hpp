// One layer at a time for networks of any width, neurons with the same inputs together: a block computes four groups of them and 128
// rows, and fetches an input once for all four.
#pragma once
#include <memory>

#include "gpu/models/sparse_dnn/layer_kernels.hpp"

namespace plumb {
namespace sdnn {

[[nodiscard]] std::unique_ptr<LayerKernels> shared_kernels(const SparseDnn& net, WindowBound bound,
                                                           MakeWindow make, void* stream);
/// Where the arrays of such a layer lie.
[[nodiscard]] PieceShape shared_shape(const Csr<float>& gather);

}  // namespace sdnn
}  // namespace plumb
