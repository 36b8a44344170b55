// Sparse DNN on the device, tuned, neurons that share their inputs.
//
// Class     B: neurons with the very same inputs are found when the network is made ready, by comparison, and
//           computed 16 at a time; their weights are read as they are. Any CSR runs: strangers are groups of one,
//           and then 15 of 16 products are for nothing.
// Idea      an input is fetched once for 16 neurons and stays in a register: a warp takes a group and 128 rows,
//           a lane 4 of them, one in each of 4 panels, so that rows are fetched through their list or as they
//           lie at the same cost. 64 sums per lane.
// Traffic   an activation is read once per group that wants it (twice in the challenge's networks), written once.
// Limits    loads: 4 of inputs and 4 of weights per 64 multiplications, and how many are under way. H200, 120
//           layers: 3.6 ms at 1024 neurons and 11.3 at 4096; with 4 blocks of 128 registers and two inputs under
//           way 4.8 and 12.7, and then 50 at 16,384.
// Fails at  few rows: 128 per warp leave multiprocessors idle at 1024 neurons, where gpu_tiled is faster.
#include <algorithm>

#include "gpu/models/sparse_dnn/tiled.hpp"
#include "gpu/runtime/groups.hpp"

namespace plumb {
namespace {

using namespace sdnn;

constexpr int kSharedThreads = 128;
constexpr int kWarps = kSharedThreads / 32;
constexpr int kSharedBlocks = 3;  // per multiprocessor: 168 registers, and four inputs under way
constexpr int kPanels = 4;        // of a warp

/// One layer in device memory.
struct SharedLayer {
  Index groups;
  const std::int32_t* neuron;       // (groups, 16)
  const std::int32_t* input_begin;  // (groups + 1)
  const std::int32_t* input;
  const float4* weight;  // (inputs, 4)
};

/// What a lane reads of 4 rows: through L2, since other multiprocessors may have written them in this launch.
struct FourRows {
  const float* row[kPanels];
  bool valid[kPanels];
};

PLUMB_DEVICE void group_of_panels(const SharedLayer& w, Index group, Index panel, Index panels, Index neurons,
                                  const FourRows& rows, float bias, float cap, int lane, float* out,
                                  unsigned* alive) {
  float sum[kPanels][kGroup];
#pragma unroll
  for (int p = 0; p < kPanels; ++p) {
#pragma unroll
    for (int n = 0; n < kGroup; ++n) sum[p][n] = 0;
  }
  const std::int32_t end = w.input_begin[group + 1];
#pragma unroll 4
  for (std::int32_t k = w.input_begin[group]; k < end; ++k) {
    const Index at = static_cast<Index>(__ldg(w.input + k)) * kPanel;
    float y[kPanels];
#pragma unroll
    for (int p = 0; p < kPanels; ++p) y[p] = rows.valid[p] ? __ldcg(rows.row[p] + at) : 0.0f;
#pragma unroll
    for (int q = 0; q < kGroup / 4; ++q) {
      const float4 v = __ldg(w.weight + static_cast<Index>(k) * (kGroup / 4) + q);
#pragma unroll
      for (int p = 0; p < kPanels; ++p) {
#pragma unroll
        for (int i = 0; i < 4; ++i) sum[p][4 * q + i] += element(v, i) * y[p];
      }
    }
  }
#pragma unroll
  for (int p = 0; p < kPanels; ++p) {
    if (panel + p >= panels) break;  // the same in all lanes
    bool any = false;
    float* const to = out + (panel + p) * neurons * kPanel + lane;
#pragma unroll
    for (int n = 0; n < kGroup; ++n) {
      const Index j = __ldg(w.neuron + group * kGroup + n);
      const float y = activate(sum[p][n], bias, cap);
      if (j < 0) continue;
      any |= y != 0;
      to[j * kPanel] = y;
    }
    const unsigned bits = __ballot_sync(kAllLanes, any);
    if (lane == 0 && bits != 0) atomicOr(alive + panel + p, bits);
  }
}

__global__ void __launch_bounds__(kSharedThreads, kSharedBlocks)
    sdnn_shared_layer(SharedLayer w, Layout layout, const float* in, const std::int32_t* place,
                      const std::int32_t* count, float bias, float cap, float* out, unsigned* alive) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const Index rows = *count, panels = ceil_div(rows, kPanel), items = ceil_div(panels, kPanels) * w.groups;
  for (Index item = static_cast<Index>(blockIdx.x) * kWarps + warp; item < items;
       item += static_cast<Index>(gridDim.x) * kWarps) {
    const Index panel = item / w.groups * kPanels;
    FourRows four;
#pragma unroll
    for (int p = 0; p < kPanels; ++p) {
      const Index r = (panel + p) * kPanel + lane;
      four.valid[p] = r < rows;
      four.row[p] = in + layout.row(r < rows ? (place != nullptr ? place[r] : r) : 0);
    }
    group_of_panels(w, item % w.groups, panel, panels, layout.neurons, four, bias, cap, lane, out, alive);
  }
}

__global__ void __launch_bounds__(kSharedThreads, kSharedBlocks)
    sdnn_shared_settled_layers(const SharedLayer* layers, Index first, Index last, Index neurons,
                               Index panels, float bias, float cap, float* in, float* out,
                               unsigned* alive /* (layers, panels) */) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  for (Index l = first; l < last; ++l) {
    const SharedLayer w = layers[l];
    const Index items = ceil_div(panels, kPanels) * w.groups;
    for (Index item = static_cast<Index>(blockIdx.x) * kWarps + warp; item < items;
         item += static_cast<Index>(gridDim.x) * kWarps) {
      const Index panel = item / w.groups * kPanels;
      FourRows four;
#pragma unroll
      for (int p = 0; p < kPanels; ++p) {
        four.valid[p] = panel + p < panels;
        four.row[p] = in + (panel + p < panels ? panel + p : 0) * neurons * kPanel + lane;
      }
      group_of_panels(w, item % w.groups, panel, panels, neurons, four, bias, cap, lane, out,
                      alive + (l - first) * panels);
    }
    float* const written = out;
    out = in;
    in = written;
    if (l + 1 < last) cooperative_groups::this_grid().sync();
  }
}

class SharedNet final : public LayerKernels {
 public:
  SharedNet(const SparseDnn& net, void* stream) : neurons_(net.neurons), bias_(net.bias), cap_(net.cap) {
    const auto parts = make_parts<SharedGroups>(net, shared_groups);
    const auto size = [](const auto& v) { return static_cast<Index>(v.size()); };
    Index bytes = 0;
    for (const SharedGroups& g : parts)
      bytes += 4 * (size(g.neuron) + size(g.input_begin) + size(g.input) + size(g.weight));
    require_device_memory(bytes, "sparse DNN: weights of " + std::to_string(net.layers()) + " layers");
    neuron_ = concatenate<std::int32_t>(
        parts, "groups, neurons", stream, [](const SharedGroups& g) -> auto& { return g.neuron; });
    input_begin_ = concatenate<std::int32_t>(
        parts, "groups, first inputs", stream, [](const SharedGroups& g) -> auto& { return g.input_begin; });
    input_ = concatenate<std::int32_t>(
        parts, "groups, inputs", stream, [](const SharedGroups& g) -> auto& { return g.input; });
    weight_ = concatenate<float>(
        parts, "groups, weights", stream, [](const SharedGroups& g) -> auto& { return g.weight; });
    Index neurons = 0, begins = 0, inputs = 0;
    for (const SharedGroups& g : parts) {
      layers_.push_back({g.groups(), neuron_.data() + neurons, input_begin_.data() + begins,
                         input_.data() + inputs,
                         reinterpret_cast<const float4*>(weight_.data()) + inputs * (kGroup / 4)});
      neurons += size(g.neuron), begins += size(g.input_begin), inputs += size(g.input);
    }
    device_layers_ = DeviceArray<SharedLayer>(layers_, "layers", stream);
  }

  void run(Index l, const float* in, const std::int32_t* place, const std::int32_t* count, float* out,
           unsigned* alive, void* stream) const override {
    launch(sdnn_shared_layer, device_multiprocessors() * kSharedBlocks, kSharedThreads, 0, stream,
           layers_[static_cast<std::size_t>(l)], Layout{neurons_, kPanel}, in, place, count, bias_, cap_, out,
           alive);
  }

  void run_settled(Index first, Index last, Index rows, float* y, float* other, unsigned* alive,
                   void* stream) const override {
    launch_cooperative(sdnn_shared_settled_layers, device_multiprocessors() * kSharedBlocks, kSharedThreads,
                       0, stream, device_layers_.data(), first, last, neurons_, ceil_div(rows, kPanel), bias_,
                       cap_, y, other, alive);
  }

 private:
  Index neurons_;
  float bias_, cap_;
  std::vector<SharedLayer> layers_;
  DeviceArray<SharedLayer> device_layers_;
  DeviceArray<std::int32_t> neuron_, input_begin_, input_;
  DeviceArray<float> weight_;
};

const RegisterSdnnPipeline pipeline{
    {"gpu_shared_inputs", 'B', Space::device,
     "neurons with the same inputs, found at load, 16 at a time: an input is fetched once for all of them",
     [](const SparseDnn&) -> const char* { return no_device(); },
     [](const SparseDnn& net) -> std::unique_ptr<SdnnPlan> {
       return std::make_unique<TiledPlan>(
           net, false, [](const SparseDnn& n, void* stream) -> std::unique_ptr<LayerKernels> {
             return std::make_unique<SharedNet>(n, stream);
           });
     },
     10}};

}  // namespace
}  // namespace plumb
