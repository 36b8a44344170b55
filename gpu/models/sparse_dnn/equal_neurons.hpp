// One of equal neurons is computed, on the device.
#pragma once
#include <memory>
#include <optional>

#include "gpu/models/sparse_dnn/layer_window.hpp"
#include "reference/models/sparse_dnn_absorbing.hpp"
#include "reference/models/sparse_dnn_equal_neurons.hpp"

namespace plumb {
namespace sdnn {

/// `merged`: of `net`, which must outlive the plan. Rows at one of the `states` leave; none with a bound.
[[nodiscard]] std::unique_ptr<SdnnPlan> equal_neurons_plan(const SparseDnn& net, MergedLayers merged,
                                                           WindowBound bound = {},
                                                           std::optional<AbsorbingStates> states = {});

}  // namespace sdnn
}  // namespace plumb
