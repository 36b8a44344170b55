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
#include <cstdlib>

#include "gpu/models/sparse_dnn/tiled.hpp"
#include "gpu/runtime/async_copy.hpp"
#include "gpu/runtime/groups.hpp"

namespace plumb {
namespace {

using namespace sdnn;

constexpr int kSharedThreads = 128;
constexpr int kWarps = kSharedThreads / 32;

constexpr int kPanels = 4;        // of a warp

/// One layer in device memory.
struct SharedLayer {
  Index groups;
  const std::int32_t* neuron;       // (groups, 16)
  const std::int32_t* input_begin;  // (groups + 1)
  const std::int32_t* input;
  const float4* weight;  // (inputs, 4)
};

/// What a warp keeps of the inputs under way: their rows, and the weights that go with them.
template <int kStep, int kStages>
struct Ring {
  float4 y[kStages][kStep][32];
  float4 weight[kStages][kStep][kGroup / 4];
};

/// Where a warp's 128 rows lie.
struct Rows {
  const float* in;
  const std::int32_t* place;  // null: as they lie, to the panels' ends
  Index rows, panels, neurons;
};

template <int kStep, int kStages>
PLUMB_DEVICE void group_of_panels(const SharedLayer& w, int group, int panel, const Rows& rows,
                                  float bias, float cap, int lane, Ring<kStep, kStages>& ring, float* out,
                                  unsigned* alive) {
  constexpr int kRowParts = kPanel / 4;
  const int part = lane % kRowParts;
  const int own = panel + lane / kRowParts;  // the panel of this lane's four sums
  const std::int32_t begin = w.input_begin[group];
  const int inputs = w.input_begin[group + 1] - begin, steps = (inputs + kStep - 1) / kStep;
  const float* whole = rows.in + static_cast<Index>(own < rows.panels ? own : 0) * rows.neurons * kPanel + part * 4;
  const float* listed[kPanels];
  if (rows.place != nullptr) {
#pragma unroll
    for (int p = 0; p < kPanels; ++p) {
      const Index r = (panel + p) * kPanel + lane;
      listed[p] = r < rows.rows ? rows.in + Layout{rows.neurons, kPanel}.row(rows.place[r]) : nullptr;
    }
  }
  std::int32_t mine = 0;  // of 32 inputs
  const auto fetch = [&](int step) {
    if (step < steps) {
      const int stage = step % kStages;
      if (step * kStep % 32 == 0)
        mine = step * kStep + lane < inputs ? __ldg(w.input + begin + step * kStep + lane) : 0;
#pragma unroll
      for (int u = 0; u < kStep; ++u) {
        const unsigned at = static_cast<unsigned>(__shfl_sync(kAllLanes, mine, (step * kStep + u) % 32)) * kPanel;
        if (step * kStep + u >= inputs) break;
        float4* const to = ring.y[stage][u];
        if (rows.place == nullptr) {
          cp_async16_zfill(to + lane, whole + at, own < rows.panels ? 16 : 0);
        } else {
#pragma unroll
          for (int p = 0; p < kPanels; ++p)
            cp_async_zfill<4>(reinterpret_cast<float*>(to) + p * kPanel + lane,
                              listed[p] != nullptr ? listed[p] + at : rows.in, listed[p] != nullptr ? 4 : 0);
        }
      }
      for (int i = lane; i < kStep * (kGroup / 4); i += 32) {
        if (step * kStep + i / (kGroup / 4) < inputs)
          cp_async16(&ring.weight[stage][0][0] + i,
                     w.weight + static_cast<Index>(begin + step * kStep) * (kGroup / 4) + i);
      }
    }
    cp_async_commit();
  };
  float4 sum[kGroup];
#pragma unroll
  for (int n = 0; n < kGroup; ++n) sum[n] = {0, 0, 0, 0};
  __syncwarp();  // the ring's last readers
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) fetch(s);
  for (int step = 0; step < steps; ++step) {
    cp_async_wait<kStages - 2>();
    __syncwarp();
    fetch(step + kStages - 1);
    const int stage = step % kStages;
    const auto add = [&](int u) {
      const float4 y = ring.y[stage][u][lane];
#pragma unroll
      for (int q = 0; q < kGroup / 4; ++q) {
        const float4 v = ring.weight[stage][u][q];
#pragma unroll
        for (int i = 0; i < 4; ++i) add_scaled(sum[4 * q + i], element(v, i), y);
      }
    };
    if ((step + 1) * kStep <= inputs) {
#pragma unroll
      for (int u = 0; u < kStep; ++u) add(u);
    } else {
#pragma unroll 1
      for (int u = 0; u < inputs - step * kStep; ++u) add(u);
    }
  }
  cp_async_wait_all();
  unsigned bits = 0;
  float* const to = out + static_cast<Index>(own) * rows.neurons * kPanel + part * 4;
#pragma unroll
  for (int n = 0; n < kGroup; ++n) {
    const std::int32_t j = __ldg(w.neuron + static_cast<Index>(group) * kGroup + n);
    if (j < 0 || own >= rows.panels) continue;
    const float4 y = activate4(sum[n], bias, cap);
    bits |= nonzeros(y);
    *reinterpret_cast<float4*>(to + static_cast<Index>(j) * kPanel) = y;
  }
  bits <<= 4 * part;
#pragma unroll
  for (int d = 1; d < kRowParts; d *= 2) bits |= __shfl_xor_sync(kAllLanes, bits, d);
  if (part == 0 && bits != 0) atomicOr(alive + own, bits);
}

template <int kStep, int kStages, int kBlocks>
__global__ void __launch_bounds__(kSharedThreads, kBlocks)
    sdnn_shared_layer(SharedLayer w, Layout layout, const float* in, const std::int32_t* place,
                      const std::int32_t* count, float bias, float cap, float* out, unsigned* alive) {
  using R = Ring<kStep, kStages>;
  PLUMB_DYNAMIC_SHARED(R, rings);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const Index many = *count;
  const Rows rows{in, place, many, ceil_div(many, kPanel), layout.neurons};
  const Index items = ceil_div(rows.panels, kPanels) * w.groups;
  for (Index item = static_cast<Index>(blockIdx.x) * kWarps + warp; item < items;
       item += static_cast<Index>(gridDim.x) * kWarps) {
    group_of_panels(w, static_cast<int>(item % w.groups), static_cast<int>(item / w.groups) * kPanels, rows, bias, cap, lane, rings[warp], out,
                    alive);
  }
}

template <int kStep, int kStages, int kBlocks>
__global__ void __launch_bounds__(kSharedThreads, kBlocks)
    sdnn_shared_settled_layers(const SharedLayer* layers, Index first, Index last, Index neurons,
                               Index panels, float bias, float cap, float* in, float* out,
                               unsigned* alive /* (layers, panels) */) {
  using R = Ring<kStep, kStages>;
  PLUMB_DYNAMIC_SHARED(R, rings);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  for (Index l = first; l < last; ++l) {
    const SharedLayer w = layers[l];
    const Rows rows{in, nullptr, panels * kPanel, panels, neurons};
    const Index items = ceil_div(panels, kPanels) * w.groups;
    for (Index item = static_cast<Index>(blockIdx.x) * kWarps + warp; item < items;
         item += static_cast<Index>(gridDim.x) * kWarps) {
      group_of_panels(w, static_cast<int>(item % w.groups), static_cast<int>(item / w.groups) * kPanels, rows, bias, cap, lane, rings[warp], out,
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

  template <int kStep, int kStages, int kBlocks, class Use>
  static void as(Use&& use) {
    use(sdnn_shared_layer<kStep, kStages, kBlocks>, sdnn_shared_settled_layers<kStep, kStages, kBlocks>, kBlocks,
        sizeof(Ring<kStep, kStages>) * kWarps);
  }
  template <class Use>
  static void with(Use&& use) {
    const char* const e = std::getenv("PLUMB_B");
    switch (e != nullptr ? std::atoi(e) : 0) {
      case 1: return as<4, 4, 3>(use);
      case 2: return as<8, 3, 4>(use);
      case 3: return as<4, 3, 4>(use);
      case 4: return as<8, 4, 3>(use);
      default: return as<4, 4, 4>(use);
    }
  }

  void run(Index l, const float* in, const std::int32_t* place, const std::int32_t* count, float* out,
           unsigned* alive, void* stream) const override {
    with([&](auto layer, auto, int blocks, std::size_t bytes) {
      launch(layer, device_multiprocessors() * blocks, kSharedThreads, bytes, stream,
             layers_[static_cast<std::size_t>(l)], Layout{neurons_, kPanel}, in, place, count, bias_, cap_, out,
             alive);
    });
  }

  void run_settled(Index first, Index last, Index rows, float* y, float* other, unsigned* alive,
                   void* stream) const override {
    with([&](auto, auto layers, int blocks, std::size_t bytes) {
      launch_cooperative(layers, device_multiprocessors() * blocks, kSharedThreads, bytes, stream,
                         device_layers_.data(), first, last, neurons_, ceil_div(rows, kPanel), bias_, cap_, y,
                         other, alive);
    });
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
