// What a plan of the tuned loop takes of a device's memory. There is one count: it cuts batches within a bound, it refuses a run before that
// allocates, and it answers `infer --dry-run` for a device that is not there.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/models/sparse_dnn/layer_kernels.hpp"
#include "reference/models/sparse_dnn/sparse_dnn.hpp"

namespace plumb {
namespace sdnn {

/// Of this thread's device.
[[nodiscard]] DeviceLimits limits_of_device();

/// The weights that a plan holds: bytes of device memory.
struct HeldWeights {
  Index weights = 0, descriptions = 0;
  Index layers = 0;         // that are held at a time
  bool whole_rows = false;  // rows stay on chip
};

class TunedMemory {
 public:
  TunedMemory(const SparseDnn& net, const SdnnDeviceUse& use, const HeldWeights& held);

  /// Of a run of layers [first, last) on so many rows, weights included.
  [[nodiscard]] SdnnDeviceMemory of_run(Index rows, Index entries, Index first, Index last) const;
  /// Ends of the batches of `y` that such runs take within the bound. Errors: the least batch does not fit beside the weights.
  [[nodiscard]] std::vector<std::int64_t> batches(const Csr<float>& y, Index first, Index last) const;
  /// Of a run of all layers on `y`, in batches where there is a bound. Errors: as batches().
  [[nodiscard]] SdnnDeviceMemory of_all(const Csr<float>& y) const;

 private:
  Index neurons_, layers_, bound_;
  bool absorbing_;
  HeldWeights held_;
};

/// Where a layer's arrays lie in its piece.
using ShapeOfLayer = PieceShape (*)(const Csr<float>& gather);

/// The weights of layers that are computed one launch each. Errors: two of them take more than the bound.
[[nodiscard]] HeldWeights held_in_window(const SparseDnn& net, ShapeOfLayer shape, WindowBound bound);

/// The count of a plan by TunedPlan::with<WholeRows>() or streamed<WholeRows>(). `shape`: of single layers.
template <class WholeRows>
SdnnDeviceCount tuned_count(const SparseDnn& net, ShapeOfLayer shape, const SdnnDeviceUse& use) {
  const HeldWeights held = WholeRows::fits(net.neurons, use.limits)
                               ? HeldWeights{WholeRows::bytes_for(net), 0, net.layers(), true}
                               : held_in_window(net, shape, {use.memory});
  const TunedMemory memory(net, use, held);
  return [memory](const Csr<float>& y) { return memory.of_all(y); };
}

}  // namespace sdnn
}  // namespace plumb
