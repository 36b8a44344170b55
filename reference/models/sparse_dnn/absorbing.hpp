// Sparse DNN: rows at an absorbing state, which need no computation any more. Which layers leave such a row as it is
// follows from the weights alone; what this page says of a layer holds for fp32 sums in any order.
#pragma once
#include <cstdint>
#include <vector>

#include "reference/models/sparse_dnn/sparse_dnn.hpp"

namespace plumb {

/// A row is at an absorbing state where its first `neurons` values are all 0, or all the cap, and every layer that is
/// left leaves it so.
///
/// Zeros     of a network with a bias for each neuron stay where no bias is above 0. With one bias for all neurons
///           pipelines drop such rows in any case, and they count as no state.
/// Caps      stay where for every neuron the sum of cap * weight, with its bias, is at least the cap by more than
///           rounding can change, and no partial sum can leave fp32. A bias above 0 that is added only where
///           Z is not 0 counts as 0. Sums that come out as the cap itself, or less than the bound above it, are not
///           decided: such a layer counts as one that may change the row.
struct AbsorbingStates {
  std::int64_t neurons = 0;  // of the network; a neuron more, which carries biases, is not part of the state
  float cap = 0;
  // (layers): the first layer from this one on that may change such a row; the number of layers: none does.
  std::vector<std::int64_t> zeros_until, caps_until;

  /// Rows of zeros, or of caps, that enter layer l may leave a run that ends before layer `last`.
  [[nodiscard]] bool zeros_stay(std::int64_t l, std::int64_t last) const {
    return l < last && zeros_until[static_cast<std::size_t>(l)] >= last;
  }
  [[nodiscard]] bool caps_stay(std::int64_t l, std::int64_t last) const {
    return l < last && caps_until[static_cast<std::size_t>(l)] >= last;
  }
};

/// Reads every weight once: 2 flop per edge, in fp64, on all threads.
[[nodiscard]] AbsorbingStates find_absorbing_states(const SparseDnn& net);

/// Turns the numbers of rows that left before each layer, and at the end, into `run.absorbed`, and adds them to
/// `run.active`, which counted the computed rows.
void count_absorbed(SdnnRun& run, std::vector<std::int64_t> left);

}  // namespace plumb
