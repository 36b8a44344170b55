// Sparse DNN on the device, tuned, neurons that share their inputs.
//
// Class     shared_inputs (B): neurons with exactly the same inputs are found by comparison when the network
//           is prepared, and computed 16 at a time; every weight is read. Any CSR runs: neurons that share no
//           input are groups of one, and then 15 of 16 products are wasted.
// Narrow    up to 1024 neurons: whole_rows_shared.cu. Wide: this file.
// Idea      an input is fetched once for 16 neurons: a warp takes a group and 128 rows, a lane 4 of these
//           rows, 64 sums. Inputs and their weights pass through a ring in shared memory that belongs to the
//           warp, some steps ahead; copies read rows through their list, or 16 bytes of a panel as it lies.
// Traffic   an activation is read once per group that uses it (twice in the challenge's networks), and
//           written once.
// Fails at  few rows: a warp takes 128.
#include "gpu/models/sparse_dnn/shared_inputs.hpp"

#include <algorithm>

#include "gpu/models/sparse_dnn/steady_state.hpp"
#include "gpu/models/sparse_dnn/tuned_loop.hpp"

namespace plumb {
namespace {

using namespace sdnn;

constexpr int kSharedThreads = 128;
constexpr int kWarps = kSharedThreads / 32;

constexpr int kSharedBlocks = 4;                        // per multiprocessor: 128 registers
constexpr int kPanels = 4;                              // of a warp
constexpr int kStages = 4, kStep = 4, kListedStep = 2;  // inputs in flight: a step's times (kStages - 1)

/// One layer in device memory.
struct SharedLayer {
  Index groups;
  const std::int32_t* neuron;       // (groups, 16)
  const std::int32_t* input_begin;  // (groups + 1)
  const std::int32_t* input;
  const float4* weight;  // (inputs, 4)
};

/// What a warp holds of the inputs in flight: their rows, and their weights.
template <int kStep, int kStages>
struct Ring {
  float4 y[kStages][kStep][32];
  float4 weight[kStages][kStep][kGroup / 4];
};

/// Where 128 rows are read: a lane copies one row of each of 4 panels through the list of rows, or 16 bytes
/// of one panel as it lies.
template <bool kListed>
struct Rows {
  static constexpr int kPointers = kListed ? kPanels : 1;
  const float* from[kPointers];
  /// Line f of all rows, to 32 lanes' shares side by side.
  PLUMB_DEVICE void copy(unsigned f, int lane, float4* to) const {
    const Index at = static_cast<Index>(f) * kPanel;
    if (kListed) {
#pragma unroll
      for (int p = 0; p < kPointers; ++p)
        cp_async<4>(reinterpret_cast<float*>(to) + p * kPanel + lane, from[p] + at);
    } else {
      cp_async16(to + lane, from[0] + at);
    }
  }
};

/// One group of neurons over panels [panel, panel + kPanels); panels from `panels` on do not exist. A lane
/// has the four rows 4 * (lane % 8) of panel lane / 8. `active` has a bit for each of them that is a row, and
/// is 0 where there is no panel.
template <bool kListed, int kStep, int kStages>
PLUMB_DEVICE void group_of_panels(const SharedLayer& w, int group, int panel, int panels, Index neurons,
                                  const Rows<kListed>& rows, unsigned active, float bias, float cap, int lane,
                                  Ring<kStep, kStages>& ring, float* out, unsigned* active_bits) {
  static_assert(32 % kStep == 0, "a step's inputs are of one 32");
  static_assert(32 / kStep % kStages == 0, "which begins in stage 0");
  constexpr int kLineParts = kPanel / 4, kWeights = kGroup / 4;
  static_assert(kStep * kWeights <= 32, "a weight to a lane");
  const std::int32_t begin = __ldg(w.input_begin + group);
  const int inputs = __ldg(w.input_begin + group + 1) - begin, whole = inputs / kStep;
  const std::int32_t* const input = opaque(w.input + begin + lane);
  const float4* const weight = opaque(w.weight + static_cast<Index>(begin) * kWeights + lane);
  std::int32_t mine = 0;  // of 32 inputs
  const auto fetch = [&](int step, int stage /* step % kStages, known when this is compiled */) {
    const int k = step * kStep, here = inputs - k;
    if (stage == 0 && k % 32 == 0) mine = lane < here ? __ldg(input + k) : 0;
    if (here >= kStep) {
#pragma unroll
      for (int u = 0; u < kStep; ++u)
        rows.copy(static_cast<unsigned>(__shfl_sync(kAllLanes, mine, k % 32 + u)), lane, ring.y[stage][u]);
      if (lane < kStep * kWeights) cp_async16(&ring.weight[stage][0][0] + lane, weight + k * kWeights);
    } else if (here > 0) {
#pragma unroll 1
      for (int u = 0; u < here; ++u)
        rows.copy(static_cast<unsigned>(__shfl_sync(kAllLanes, mine, k % 32 + u)), lane, ring.y[stage][u]);
      if (lane < here * kWeights) cp_async16(&ring.weight[stage][0][0] + lane, weight + k * kWeights);
    }
    cp_async_commit();
  };
  float4 sum[kGroup];
#pragma unroll
  for (int n = 0; n < kGroup; ++n) sum[n] = {0, 0, 0, 0};
  const auto add = [&](int stage, int u) {
    const float4 y = ring.y[stage][u][lane];
#pragma unroll
    for (int q = 0; q < kWeights; ++q) {
      const float4 v = ring.weight[stage][u][q];
#pragma unroll
      for (int i = 0; i < 4; ++i) add_scaled(sum[4 * q + i], element(v, i), y);
    }
  };
  __syncwarp();  // the last reads of the ring are done
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) fetch(s, s);
  for (int first = 0; first < whole; first += kStages) {
#pragma unroll
    for (int s = 0; s < kStages; ++s) {
      if (first + s >= whole) break;
      cp_async_wait<kStages - 2>();
      __syncwarp();
      fetch(first + s + kStages - 1, (s + kStages - 1) % kStages);
#pragma unroll
      for (int u = 0; u < kStep; ++u) add(s, u);
    }
  }
  cp_async_wait_all();
  if (whole * kStep < inputs) {
    __syncwarp();
#pragma unroll 1
    for (int u = 0; u < inputs - whole * kStep; ++u) add(whole % kStages, u);
  }

  hold_zeros(sum, bias);
  uint4 any = {};
  const int part = lane % kLineParts, own = panel + lane / kLineParts;
  float* const to = opaque(out + static_cast<Index>(own) * neurons * kPanel + part * 4);
  const int4* const neuron = reinterpret_cast<const int4*>(w.neuron) + static_cast<Index>(group) * kWeights;
#pragma unroll
  for (int q = 0; q < kWeights; ++q) {
    const int4 j = __ldg(neuron + q);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::int32_t to_neuron = i == 0 ? j.x : i == 1 ? j.y : i == 2 ? j.z : j.w;
      const float4 y = activate_held(sum[4 * q + i], bias, cap);
      if (to_neuron < 0) continue;
      collect(any, y);
      // by its own word: an assignment compiled to four stores of 4 bytes
      if (own < panels) __stwb(reinterpret_cast<float4*>(to + static_cast<Index>(to_neuron) * kPanel), y);
    }
  }
  unsigned bits = (nonzeros(any) & active) << (4 * part);
#pragma unroll
  for (int d = 1; d < kLineParts; d *= 2) bits |= __shfl_xor_sync(kAllLanes, bits, d);
  if (part == 0 && bits != 0) atomicOr(active_bits + own, bits);
}

// A row beyond the last repeats another one; its results are not used.
template <bool kListed, int kStep, int kStages>
__global__ void __launch_bounds__(kSharedThreads, kSharedBlocks)
    sdnn_shared_layer(SharedLayer w, Layout layout, const float* in, const std::int32_t* place,
                      const std::int32_t* count, float bias, float cap, float* out, unsigned* active_bits) {
  using R = Ring<kStep, kStages>;
  PLUMB_DYNAMIC_SHARED(R, rings);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int many = *count, panels = static_cast<int>(ceil_div(many, kPanel));
  const Index items = ceil_div(panels, kPanels) * w.groups;
  for (Index item = static_cast<Index>(blockIdx.x) * kWarps + warp; item < items;
       item += static_cast<Index>(gridDim.x) * kWarps) {
    const int panel = static_cast<int>(item / w.groups) * kPanels;
    Rows<kListed> rows;
    if (kListed) {
#pragma unroll
      for (int p = 0; p < kPanels; ++p) {
        const int r = (panel + p) * static_cast<int>(kPanel) + lane;
        rows.from[p % Rows<kListed>::kPointers] = opaque(in + layout.row(place[r < many ? r : 0]));
      }
    } else {
      const int own = panel + lane / 8;
      rows.from[0] = opaque(in + (own < panels ? own : panel) * layout.neurons * kPanel + lane % 8 * 4);
    }
    const int first = (panel * static_cast<int>(kPanel)) + lane * 4;  // of this lane's four
    const unsigned active = first >= many ? 0u : first + 4 <= many ? 15u : (1u << (many - first)) - 1;
    group_of_panels(w, static_cast<int>(item % w.groups), panel, panels, layout.neurons, rows, active, bias,
                    cap, lane, rings[warp], out, active_bits);
  }
}

template <int kStep, int kStages>
__global__ void __launch_bounds__(kSharedThreads, kSharedBlocks)
    sdnn_shared_steady_layers(const SharedLayer* layers, SteadyOrder order, Index neurons, int panels,
                              float bias, float cap, float* y, float* other,
                              unsigned* active_bits /* (layers, panels) */) {
  using R = Ring<kStep, kStages>;
  PLUMB_DYNAMIC_SHARED(R, rings);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  in_steady_order(
      order, lane, [&](int l) { return static_cast<int>(layers[l].groups); },
      [&](int l, int unit, int group) {
        const bool even = (l - order.first) % 2 == 0;
        const int panel = unit * kPanels, own = panel + lane / 8;
        Rows<false> rows;
        rows.from[0] =
            opaque((even ? y : other) + (own < panels ? own : panel) * neurons * kPanel + lane % 8 * 4);
        const SharedLayer layer = layers[l];
        group_of_panels(layer, group, panel, panels, neurons, rows, own < panels ? 15u : 0u, bias, cap, lane,
                        rings[warp], even ? other : y,
                        active_bits + static_cast<Index>(l - order.first) * panels);
      });
}

SharedLayer describe(const PieceShape& shape, const char* base) {
  return {shape.items, shape.array<std::int32_t>(base, 0), shape.array<std::int32_t>(base, 1),
          shape.array<std::int32_t>(base, 2), shape.array<float4>(base, 3)};
}

Piece pack(const Csr<float>& gather, bool pinned) {
  const SharedGroups g = shared_groups(gather);
  return pack_piece(g.groups(), pinned, g.neuron, g.input_begin, g.input, g.weight);
}

class SharedNet final : public WindowKernels<SharedLayer> {
 public:
  SharedNet(const SparseDnn& net, WindowBound bound, MakeWindow make, void* stream)
      : WindowKernels(net, bound, make, pack, describe, stream) {}

  void run(Index l, const float* in, const std::int32_t* place, const std::int32_t* count, float* out,
           unsigned* active_bits, void* stream) const override {
    const bool listed = place != nullptr;
    launch(listed ? sdnn_shared_layer<true, kListedStep, kStages> : sdnn_shared_layer<false, kStep, kStages>,
           device_multiprocessors() * kSharedBlocks, kSharedThreads,
           (listed ? sizeof(Ring<kListedStep, kStages>) : sizeof(Ring<kStep, kStages>)) * kWarps, stream,
           layers_[l], Layout{neurons_, kPanel}, in, place, count, bias_, cap_, out, active_bits);
  }

  void run_steady(Index first, Index last, Index rows, float* y, float* other, unsigned* active_bits,
                  unsigned* zeros, void* stream) const override {
    const Index panels = ceil_div(rows, kPanel);
    Index most = 1;  // groups of a layer
    for (Index l = first; l < last; ++l) most = std::max(most, layers_[l].groups);
    launch(sdnn_shared_steady_layers<kStep, kStages>, device_multiprocessors() * kSharedBlocks,
           kSharedThreads, sizeof(Ring<kStep, kStages>) * kWarps, stream, layers_.on_device(),
           steady_order(first, last, ceil_div(panels, kPanels), most, zeros), neurons_,
           static_cast<int>(panels), bias_, cap_, y, other, active_bits);
  }

  [[nodiscard]] double listed_cost() const override { return 1.5; }  // H200, 4096 neurons: 17.2 ns for 11.1
};

}  // namespace

std::unique_ptr<sdnn::LayerKernels> sdnn::shared_kernels(const SparseDnn& net, WindowBound bound,
                                                         MakeWindow make, void* stream) {
  return std::make_unique<SharedNet>(net, bound, make, stream);
}

namespace {

const RegisterSdnnPipeline pipeline{
    {"gpu_shared_inputs", SdnnStructure::shared_inputs, Space::device,
     "neurons with the same inputs, found at load, 16 at a time: an input is fetched once for all of them",
     [](const SparseDnn&) -> const char* { return no_device(); },
     [](const SparseDnn& net) -> std::unique_ptr<SdnnPlan> {
       return TunedPlan::with<WholeRowGroups>(net, shared_kernels);
     },
     10, nullptr,
     [](const SparseDnn& net, AbsorbingStates states) -> std::unique_ptr<SdnnPlan> {
       return TunedPlan::with<WholeRowGroups>(net, shared_kernels, std::move(states));
     },
     [](const SparseDnn& net, const MemoryBound& memory) -> std::unique_ptr<SdnnPlan> {
       return TunedPlan::streamed<WholeRowGroups>(net, shared_kernels, memory.for_data());
     },
     [](const SparseDnn& net, const SdnnDeviceUse& use) {
       return tuned_count<WholeRowGroups>(
           net, [](const Csr<float>& gather) { return pack(gather, false).shape; }, use);
     }}};

}  // namespace
}  // namespace plumb
