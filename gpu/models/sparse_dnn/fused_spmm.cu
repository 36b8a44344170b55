// Sparse DNN on the device, fused: one gather SpMM per layer that also computes bias, ReLU, cap and the bits
// of active rows. It reads the active rows through their list, so that nothing is moved.
//
// Class     general (A): indices and values are read, any CSR; rows without a non-zero are dropped.
// Layout    feature-major: the 32 rows of a warp lie side by side, an edge is one line of 128 bytes.
// Traffic   4 bytes from L2 or memory per edge and active row; activations written once.
// Limits    one load of 4 bytes per lane and edge, each after its index.
// Fails at  reuse: each of the 32 edges out of a neuron fetches its line again. gpu_general answers that.
#include "gpu/models/sparse_dnn/layer_by_layer.hpp"

namespace plumb {
namespace {

using namespace sdnn;

constexpr Index kNeurons = 16;  // per warp, which issues one atomic for the bits of 32 rows

// A warp: 32 rows, kNeurons neurons. Warps of a block share the rows' lines.
__global__ void __launch_bounds__(kThreads)
    sdnn_gather_layer(const std::int32_t* row_ptr /* (neurons + 1) */, const std::int32_t* col,
                      const float* val, Layout layout, const float* in, const std::int32_t* place,
                      Index count, float bias, float cap, float* out, unsigned* active_bits) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Index first = (static_cast<Index>(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32) * kNeurons;
  const Index last = min(layout.neurons, first + kNeurons);
  for (Index word = blockIdx.y; word * kRowsPerWord < count; word += gridDim.y) {
    const Index r = word * kRowsPerWord + lane;
    bool any = false;
    if (r < count) {
      const float* const y = in + layout.row(place != nullptr ? place[r] : r);
      for (Index j = first; j < last; ++j) {
        float z = 0;
        for (std::int32_t k = row_ptr[j]; k < row_ptr[j + 1]; ++k)
          z += __ldg(val + k) * __ldg(y + __ldg(col + k) * layout.panel);
        const float a = activate(z, bias, cap);
        out[layout.at(r, j)] = a;
        any |= a != 0;
      }
    }
    const unsigned bits = __ballot_sync(kAllLanes, any);
    if (bits != 0 && lane == 0) atomicOr(active_bits + word, bits);
  }
}

class FusedSpmm final : public LayerByLayerPlan {
 public:
  explicit FusedSpmm(const SparseDnn& net)
      : LayerByLayerPlan(net, Compaction::listed), weights_(net, stream_.get()) {}

 private:
  Layout layout_of(Index rows) const override {
    return {net_.neurons, std::max<Index>(ceil_div(rows, 32) * 32, 32)};
  }

  void layer(Index l, const Layout& layout, const float* in, const std::int32_t* place, Index count,
             float* out, unsigned* active_bits) override {
    const auto blocks = static_cast<unsigned>(ceil_div(net_.neurons, kNeurons * (kThreads / 32)));
    const auto words = static_cast<unsigned>(std::min<Index>(ceil_div(count, kRowsPerWord), 65535));
    launch(sdnn_gather_layer, dim3(blocks, words), kThreads, 0, stream_.get(), weights_.row_ptr(l),
           weights_.col(l), weights_.val(l), layout, in, place, count, net_.bias, net_.cap, out, active_bits);
  }

  DeviceWeights weights_;
};

const RegisterSdnnPipeline pipeline{
    {"gpu_fused_spmm", SdnnStructure::general, Space::device,
     "one gather SpMM per layer fused with bias, ReLU and cap, over a list of the active rows",
     [](const SparseDnn&) -> const char* { return no_device(); },
     [](const SparseDnn& net) -> std::unique_ptr<SdnnPlan> { return std::make_unique<FusedSpmm>(net); }, 3}};

}  // namespace
}  // namespace plumb
