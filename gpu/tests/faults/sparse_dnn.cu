// One gather kernel, right or with one planted fault, in the loop of the layer-by-layer pipelines.
#include "gpu/tests/faults/sparse_dnn.hpp"

#include "gpu/models/sparse_dnn/layer_by_layer.hpp"
#include "gpu/models/sparse_dnn/shared_inputs.hpp"
#include "gpu/models/sparse_dnn/staged_inputs.hpp"
#include "gpu/models/sparse_dnn/tuned_loop.hpp"

#include <algorithm>

namespace plumb::sdnn_faults {
namespace {

using namespace sdnn;

template <Fault kFault>
__global__ void faulty_layer(const std::int32_t* row_ptr, const std::int32_t* col, const float* val,
                             Layout layout, const float* in, const std::int32_t* place, Index count,
                             float bias, float cap, float* out, unsigned* active_bits) {
  const Index r = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  const bool computed = kFault == Fault::whole_tiles_only ? r < count / 32 * 32 : r < count;
  bool any = false;
  if (r < count) {
    const float* const y = in + layout.row(place != nullptr ? place[r] : r);
    for (Index j = 0; j < layout.neurons; ++j) {
      float z = 0;
      for (Index k = row_ptr[j]; k < row_ptr[j + 1] - (kFault == Fault::last_edge_dropped ? 1 : 0); ++k)
        z += val[k] * y[col[k] * layout.panel];
      float a = activate(z, bias, cap);
      if (kFault == Fault::cap_before_bias) {
        a = z > cap ? cap : z;
        a = z != 0 ? a + bias : 0;
        a = a <= 0 ? 0 : a;
      }
      if (kFault == Fault::bias_everywhere) {
        a = z + bias;
        a = a <= 0 ? 0 : a;
        a = a > cap ? cap : a;
      }
      if (kFault == Fault::nan_lost) a = a > 0 ? a : 0;
      if (!computed) a = 0;
      out[layout.at(r, j)] = a;
      any |= a != 0 && (kFault != Fault::dead_rows_listed || j == 0);
    }
  }
  const unsigned bits = __ballot_sync(kAllLanes, any);
  if (bits != 0 && threadIdx.x % 32 == 0) atomicOr(active_bits + r / kRowsPerWord, bits);
}

template <Fault kFault>
class Faulty final : public LayerByLayerPlan {
 public:
  explicit Faulty(const SparseDnn& net)
      : LayerByLayerPlan(net, Compaction::listed), weights_(net, stream_.get()) {}

 private:
  Layout layout_of(Index rows) const override {
    return {net_.neurons, std::max<Index>(ceil_div(rows, 32) * 32, 32)};
  }
  void begin(const Layout&, Index rows) override {
    std::vector<std::int32_t> own(static_cast<std::size_t>(rows) + 1);
    for (std::size_t r = 0; r < own.size(); ++r) own[r] = static_cast<std::int32_t>(r);
    stale_ = DeviceArray<std::int32_t>(own, "stale places", stream_.get());
  }
  void layer(Index l, const Layout& layout, const float* in, const std::int32_t* place, Index count,
             float* out, unsigned* active_bits) override {
    launch(faulty_layer<kFault>, ceil_div(count, 64), 64, 0, stream_.get(), weights_.row_ptr(l),
           weights_.col(l), weights_.val(l), layout, in,
           kFault == Fault::stale_places && place != nullptr ? stale_.data() : place, count, net_.bias,
           net_.cap, out, active_bits);
    if (kFault == Fault::stale_places && place != nullptr) {
      device_copy(stale_.data(), place, static_cast<std::size_t>(count) * sizeof(std::int32_t),
                  stream_.get());
    }
  }

  DeviceWeights weights_;
  DeviceArray<std::int32_t> stale_;
};

template <StreamFault kFault>
class FaultyWindow final : public LayerWindow {
 public:
  using LayerWindow::LayerWindow;
  static std::unique_ptr<LayerWindow> make(std::vector<Piece> layers, WindowBound bound, void* stream) {
    return std::make_unique<FaultyWindow>(std::move(layers), bound, stream);
  }

 private:
  void wait_arrived(const DeviceEvent& event, void* stream) const override {
    if (kFault != StreamFault::arrival_not_awaited) event.wait(stream);
  }
  void wait_released(const DeviceEvent& event, void* stream) const override {
    if (kFault != StreamFault::overwritten_before_computed) event.wait(stream);
  }
  [[nodiscard]] Index piece_to_copy(Index l) const override {
    return kFault == StreamFault::layer_before && l > 0 ? l - 1 : l;
  }
  [[nodiscard]] Index number_to_read(Index number) const override {
    return kFault == StreamFault::place_next_door ? number + 1 : number;
  }
};

template <Fault kFault>
std::unique_ptr<SdnnPlan> make(const SparseDnn& net) {
  return std::make_unique<Faulty<kFault>>(net);
}

}  // namespace

std::unique_ptr<SdnnPlan> faulty_plan(const SparseDnn& net, Fault fault) {
  switch (fault) {
    case Fault::none:
      return make<Fault::none>(net);
    case Fault::cap_before_bias:
      return make<Fault::cap_before_bias>(net);
    case Fault::bias_everywhere:
      return make<Fault::bias_everywhere>(net);
    case Fault::nan_lost:
      return make<Fault::nan_lost>(net);
    case Fault::stale_places:
      return make<Fault::stale_places>(net);
    case Fault::whole_tiles_only:
      return make<Fault::whole_tiles_only>(net);
    case Fault::last_edge_dropped:
      return make<Fault::last_edge_dropped>(net);
    case Fault::dead_rows_listed:
      return make<Fault::dead_rows_listed>(net);
  }
  return nullptr;
}

std::unique_ptr<SdnnPlan> faulty_streamed_plan(const SparseDnn& net, std::int64_t memory, StreamFault fault) {
  const auto with = [&](MakeWindow windows) {
    return TunedPlan::streamed<WholeRowNet>(net, staged_kernels, memory, windows);
  };
  switch (fault) {
    case StreamFault::none:
      return with(FaultyWindow<StreamFault::none>::make);
    case StreamFault::arrival_not_awaited:
      return with(FaultyWindow<StreamFault::arrival_not_awaited>::make);
    case StreamFault::overwritten_before_computed:
      return with(FaultyWindow<StreamFault::overwritten_before_computed>::make);
    case StreamFault::layer_before:
      return with(FaultyWindow<StreamFault::layer_before>::make);
    case StreamFault::place_next_door:
      return with(FaultyWindow<StreamFault::place_next_door>::make);
  }
  return nullptr;
}

namespace {

/// No chip holds whole rows.
struct NoWholeRows final : WholeRowKernels {
  NoWholeRows(const SparseDnn&, void*) {}
  static bool fits(Index, const DeviceLimits&) { return false; }
  void run(Index, Index, Tiles, const TileSource&, std::int32_t*, float*, std::int32_t*,
           void*) const override {}
  [[nodiscard]] Index device_bytes() const override { return 0; }
};

}  // namespace

std::unique_ptr<SdnnPlan> wide_plan(const SparseDnn& net, SdnnStructure structure) {
  const auto kernels = structure == SdnnStructure::shared_inputs ? shared_kernels : staged_kernels;
  if (net.biases.empty()) return TunedPlan::with<NoWholeRows>(net, kernels);
  throw Error("a network with one bias is needed");
}

}  // namespace plumb::sdnn_faults
