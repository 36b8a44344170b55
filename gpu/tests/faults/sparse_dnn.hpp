// Planted faults of the sparse DNN's device pipelines: what published codes got wrong, so that the judge is
// seen to notice.
#pragma once
#include <memory>

#include "reference/models/sparse_dnn/sparse_dnn.hpp"

namespace plumb::sdnn_faults {

enum class Fault {
  none,
  cap_before_bias,    // min(cap, z) + bias
  bias_everywhere,    // where Z is 0 too
  nan_lost,           // a maximum made of a comparison that is false for NaN
  stale_places,       // the list of active rows of the layer before
  whole_tiles_only,   // rows beyond a multiple of 32 are not computed
  last_edge_dropped,  // degree - 1 edges
  dead_rows_listed,   // a row's life is that of its first neuron
};

/// A plan that computes as gpu_fused_spmm does, but for the fault.
[[nodiscard]] std::unique_ptr<SdnnPlan> faulty_plan(const SparseDnn& net, Fault fault);

/// As gpu_general or gpu_shared_inputs compute networks too wide to stay on chip, whatever the width.
[[nodiscard]] std::unique_ptr<SdnnPlan> wide_plan(const SparseDnn& net, SdnnStructure structure);

/// Of layers that come and go.
enum class StreamFault {
  none,
  arrival_not_awaited,          // a layer is computed while its weights are still copied
  overwritten_before_computed,  // weights are copied over those of a layer that is still computed
  layer_before,                 // the weights of the layer before are copied
  place_next_door,              // kernels read the place beside the layer's
};

/// gpu_general within `memory` bytes, of more neurons than stay on chip, but for the fault.
[[nodiscard]] std::unique_ptr<SdnnPlan> faulty_streamed_plan(const SparseDnn& net, std::int64_t memory,
                                                             StreamFault fault);

}  // namespace plumb::sdnn_faults
