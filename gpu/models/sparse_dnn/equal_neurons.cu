// Sparse DNN on the device: one of equal neurons is computed.
//
// Idea      neurons with the same inputs and weights have the same value in every row, and so have those that read equal ones in their
//           place, layer after layer (reference/models/sparse_dnn_equal_neurons.hpp finds them). The different ones of all layers are a
//           network of fewer neurons, whose first layer takes all inputs; it runs as gpu_general would run it. The host copies values
//           to all equal neurons, when the answer has been fetched.
// Class     identical_columns (D): any CSR runs; without equal neurons it is gpu_general.
// Traffic   as general.cu, of a network of the neurons that differ. Its first layer reads the inputs: within tiles on chip up to 1024 neurons,
//           else from panels in global memory, which are written once and read once.
// Limits    those of general.cu. Of the challenge's layers of 1024 neurons 64 or 32 differ, so that a layer of 16 rows keeps 2 warps
//           of a multiprocessor busy. A neuron that reads equal neurons reads their line as often: one weight in place of
//           several would round otherwise.
// Fails at  networks in which few neurons are equal; their plan takes longer, and the layers are held on the host once more.
#include "gpu/models/sparse_dnn/equal_neurons.hpp"

#include <algorithm>
#include <utility>

#include "gpu/models/sparse_dnn/tuned_loop.hpp"

namespace plumb {
namespace sdnn {
namespace {

class EqualNeuronsPlan final : public SdnnPlan {
 public:
  EqualNeuronsPlan(const SparseDnn& net, MergedLayers merged, WindowBound bound,
                   std::optional<AbsorbingStates> states)
      : net_(net), bound_(bound), states_(std::move(states)) {
    for (std::size_t l = 0; l < merged.made.size(); ++l)
      computed_.push_back({merged.widths[l + 1], merged.layer(l).nnz()});
    of_places_ = network_of_places(merged);
    widths_ = std::move(merged.widths);
    place_ = std::move(merged.place);
    plan_ = TunedPlan::with_entry(of_places_.net, of_places_.entry, bound, states_of_places());
    for (Csr<float>& w : of_places_.net.gather) w = {};  // the plan has them
  }

  SdnnRun run(const Csr<float>& y, std::int64_t first, std::int64_t last) override {
    const std::vector<std::int32_t>&of_first = place_at(first), &of_last = place_at(last);
    const bool all_differ = first == 0 || widths_[static_cast<std::size_t>(first)] == net_.neurons;
    if (!all_differ && !has_equal_values(y, of_first)) return all_neurons().run(y, first, last);
    SdnnRun result = first == 0 ? plan_->run(y, first, last)
                                : plan_->run(rows_by_place(y, of_first, of_places_.net.neurons), first, last);
    if (last > 0) result.y = rows_by_neuron(result.y, of_last);
    result.computed.assign(computed_.begin() + first, computed_.begin() + last);
    return result;
  }

 private:
  [[nodiscard]] const std::vector<std::int32_t>& place_at(std::int64_t l) const {
    return place_[static_cast<std::size_t>(l)];
  }

  /// A row is at a state where the lines of the network's neurons are: those of a neuron that carries biases, which is the last, are not
  /// compared unless another neuron shares it.
  [[nodiscard]] std::optional<AbsorbingStates> states_of_places() const {
    if (!states_) return {};
    AbsorbingStates states = *states_;
    for (const std::vector<std::int32_t>& place : place_) {
      const auto end = place.begin() + static_cast<std::ptrdiff_t>(states.neurons);
      states.values.push_back(states.neurons > 0 ? *std::max_element(place.begin(), end) + 1 : 0);
    }
    return states;
  }

  /// The plan for rows that have different values of equal neurons.
  SdnnPlan& all_neurons() {
    if (all_neurons_ == nullptr) {
      all_neurons_ = bound_.streams() ? TunedPlan::streamed<WholeRowNet>(net_, staged_kernels, bound_.memory)
                                      : TunedPlan::with<WholeRowNet>(net_, staged_kernels, states_);
    }
    return *all_neurons_;
  }

  const SparseDnn& net_;
  WindowBound bound_;
  std::optional<AbsorbingStates> states_;
  std::vector<SdnnLayerPart> computed_;           // (layers)
  PlacesNetwork of_places_;                       // before `plan_`, which refers to it
  std::vector<std::int64_t> widths_;              // (layers + 1)
  std::vector<std::vector<std::int32_t>> place_;  // (layers + 1, neurons)
  std::unique_ptr<SdnnPlan> plan_, all_neurons_;
};

}  // namespace

std::unique_ptr<SdnnPlan> equal_neurons_plan(const SparseDnn& net, MergedLayers merged, WindowBound bound,
                                             std::optional<AbsorbingStates> states) {
  return std::make_unique<EqualNeuronsPlan>(net, std::move(merged), bound, std::move(states));
}

namespace {

const RegisterSdnnPipeline pipeline{
    {"gpu_equal_neurons", SdnnStructure::identical_columns, Space::device,
     "as gpu_general, one of equal neurons computed",
     [](const SparseDnn&) -> const char* { return no_device(); },
     [](const SparseDnn& net) -> std::unique_ptr<SdnnPlan> {
       return equal_neurons_plan(net, merge_equal_neurons(net));
     },
     10, nullptr,
     [](const SparseDnn& net, AbsorbingStates states) -> std::unique_ptr<SdnnPlan> {
       return equal_neurons_plan(net, merge_equal_neurons(net), {}, std::move(states));
     },
     [](const SparseDnn& net, const MemoryBound& memory) -> std::unique_ptr<SdnnPlan> {
       return equal_neurons_plan(net, merge_equal_neurons(net), {memory.for_data()});
     },
     [](const SparseDnn& net, const SdnnDeviceUse& use) {
       MergedLayers merged = merge_equal_neurons(net);
       const PlacesNetwork of_places = network_of_places(merged);
       return TunedPlan::count_with_entry(of_places.net, of_places.entry, use);
     }}};

}  // namespace
}  // namespace sdnn
}  // namespace plumb
