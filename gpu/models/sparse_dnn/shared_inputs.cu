// Sparse DNN on the device, tuned, neurons that share their inputs.
//
// Class     shared_inputs (B): neurons with exactly the same inputs are found by comparison when the network
//           is prepared, and computed 16 at a time; every weight is read. Any CSR runs: neurons that share no
//           input are groups of one, and then 15 of 16 products are wasted.
// Narrow    up to 1024 neurons: whole_rows_shared.cu. Wide: this file.
// Idea      a block takes a team of four groups and 128 rows, a warp a group of 16 neurons, a lane 4 of these
//           rows, 64 sums. Groups of a team share inputs where any of the layer's do (group_teams()), and an
//           input is fetched once for the team. Inputs pass through a ring of the block in shared memory,
//           some stages ahead, weights through one of each warp; copies read rows through their list, or 16
//           bytes of a panel as it lies.
// Traffic   an activation is read once per team that uses it, and written once. In the challenge's layers
//           four groups in a row have 80 or 64 inputs, not 128: 1.2 reads of an activation, where groups by
//           themselves make 2.
// Limits    the registers of 64 sums; a barrier of the block for each stage of 12 inputs.
// Before    a warp fetched the inputs of its group alone. H200, 120 layers: 5.75 ms at 4096 neurons, 24.0 at
//           16,384, 109 at 65,536 (7.1, 28.8 and 123 with loops that were not unrolled by the ring's stages,
//           fences for the steady-state order, and 4-byte stores; 11.3 and 41.5 where a lane loaded its rows
//           into registers). A steady-state layer at 4096: 21.4 us, second-level cache 85 % busy, issue
//           slots 67 %. Copies through L1 instead of past it: the same.
// Fails at  few rows: a block takes 128.
#include "gpu/models/sparse_dnn/shared_inputs.hpp"

#include <algorithm>

#include "gpu/models/sparse_dnn/steady_state.hpp"
#include "gpu/models/sparse_dnn/tuned_loop.hpp"

namespace plumb {
namespace sdnn {
namespace {

constexpr int kWarps = kTeamGroups;
constexpr int kSharedThreads = 32 * kWarps;

constexpr int kSharedBlocks = 4;  // per multiprocessor: 128 registers
constexpr int kPanels = 4;        // of a block
constexpr int kStages = 4;        // in flight: one less
constexpr int kWeights = kGroup / 4;
constexpr int kLinesOfWarp = kTeamLines / kWarps;  // that a warp copies of a stage
static_assert(kTeamLines % kWarps == 0);

/// One layer in device memory.
struct SharedLayer {
  Index teams;
  const std::int32_t* neuron;        // (teams, 4, 16)
  const std::int32_t* stage_begin;   // (teams + 1)
  const std::int32_t* line;          // (stages, kTeamLines)
  const std::uint32_t* used;         // (stages, 4)
  const std::int32_t* weight_begin;  // (teams, 4)
  const float4* weight;              // (inputs, 4)
};

/// What a block holds of the stages in flight: their lines in all rows, and each warp's weights for those that it reads.
struct Ring {
  float4 y[kStages][kTeamLines][32];
  float4 weight[kStages][kWarps][kTeamLines][kWeights];
  unsigned used[kStages][kWarps];
  unsigned work_index;
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

/// Activates the sums of a group, and writes them to the panels that there are; `group`, `panel`, `panels` and `active` as below.
PLUMB_DEVICE void finish_group(const SharedLayer& w, int group, int panel, int panels, Index neurons,
                               float4 (&sum)[kGroup], unsigned active, float bias, float cap, int lane,
                               float* out, unsigned* active_bits) {
  constexpr int kLineParts = kPanel / 4;
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

/// A team of groups over panels [panel, panel + kPanels), a warp's group each; panels from `panels` on do not exist. A lane
/// has the four rows 4 * (lane % 8) of panel lane / 8. `active` has a bit for each of them that is a row, and
/// is 0 where there is no panel.
template <bool kListed>
PLUMB_DEVICE void team_of_panels(const SharedLayer& w, int team, int panel, int panels, Index neurons,
                                 const Rows<kListed>& rows, unsigned active, float bias, float cap,
                                 Ring& ring, float* out, unsigned* active_bits) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::int32_t begin = __ldg(w.stage_begin + team);
  const int stages = __ldg(w.stage_begin + team + 1) - begin, group = team * kWarps + warp;
  const std::int32_t* line = opaque(w.line + static_cast<Index>(begin) * kTeamLines + warp);
  const std::uint32_t* used = opaque(w.used + static_cast<Index>(begin) * kWarps + warp);
  const float4* weight =
      opaque(w.weight + static_cast<Index>(__ldg(w.weight_begin + group)) * kWeights + lane);
  std::int32_t next_line[kLinesOfWarp];
  unsigned next_used = 0;
  const auto look_ahead = [&](bool there) {
#pragma unroll
    for (int i = 0; i < kLinesOfWarp; ++i) next_line[i] = there ? __ldg(line + i * kWarps) : -1;
    next_used = there ? __ldg(used) : 0;
    line += kTeamLines, used += kWarps;
  };
  const auto fetch = [&](int place) {
#pragma unroll
    for (int i = 0; i < kLinesOfWarp; ++i) {
      if (next_line[i] >= 0)
        rows.copy(static_cast<unsigned>(next_line[i]), lane, ring.y[place][i * kWarps + warp]);
    }
    const int parts = __popc(next_used) * kWeights;
    float4* const to = &ring.weight[place][warp][0][0];
    for (int p = lane; p < parts; p += 32) cp_async16(to + p, weight + (p - lane));
    weight += parts;
    if (lane == 0) ring.used[place][warp] = next_used;
    cp_async_commit();
  };
  float4 sum[kGroup];
#pragma unroll
  for (int n = 0; n < kGroup; ++n) sum[n] = {0, 0, 0, 0};
  const auto add = [&](int place) {
    const float4* of_line = &ring.weight[place][warp][0][0];
    for (unsigned left = ring.used[place][warp]; left != 0; left &= left - 1, of_line += kWeights) {
      const float4 y = ring.y[place][__ffs(left) - 1][lane];
#pragma unroll
      for (int q = 0; q < kWeights; ++q) {
        const float4 v = of_line[q];
#pragma unroll
        for (int i = 0; i < 4; ++i) add_scaled(sum[4 * q + i], element(v, i), y);
      }
    }
  };
  look_ahead(stages > 0);
  __syncthreads();  // the last reads of the ring are done
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    fetch(s);
    look_ahead(s + 1 < stages);
  }
  int place = 0;
  for (int s = 0; s < stages; ++s) {
    cp_async_wait<kStages - 2>();
    __syncthreads();
    fetch(place == 0 ? kStages - 1 : place - 1);
    look_ahead(s + kStages < stages);
    add(place);
    place = place + 1 < kStages ? place + 1 : 0;
  }
  cp_async_wait_all();
  finish_group(w, group, panel, panels, neurons, sum, active, bias, cap, lane, out, active_bits);
}

// Rows beyond the last repeat the first; their results are not used.
template <bool kListed>
__global__ void __launch_bounds__(kSharedThreads, kSharedBlocks)
    sdnn_shared_layer(SharedLayer w, Layout layout, const float* in, const std::int32_t* place,
                      const std::int32_t* count, float bias, float cap, float* out, unsigned* active_bits) {
  PLUMB_DYNAMIC_SHARED(Ring, ring);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int many = *count, panels = static_cast<int>(ceil_div(many, kPanel));
  const Index items = ceil_div(panels, kPanels) * w.teams;
  for (Index item = blockIdx.x; item < items; item += gridDim.x) {
    const int panel = static_cast<int>(item / w.teams) * kPanels;
    Rows<kListed> rows;
    if (kListed) {
#pragma unroll
      for (int p = 0; p < kPanels; ++p) {
        const int r = (panel + p) * static_cast<int>(kPanel) + lane;
        rows.from[p % Rows<kListed>::kPointers] = opaque(in + layout.row(place[r < many ? r : 0]));
      }
    } else {
      const int own = panel + lane / 8;
      rows.from[0] = opaque(in + (own < panels ? own : 0) * layout.neurons * kPanel + lane % 8 * 4);
    }
    const int first = (panel * static_cast<int>(kPanel)) + lane * 4;  // of this lane's four
    const unsigned active = first >= many ? 0u : first + 4 <= many ? 15u : (1u << (many - first)) - 1;
    team_of_panels(w, static_cast<int>(item % w.teams), panel, panels, layout.neurons, rows, active, bias,
                   cap, ring[0], out, active_bits);
  }
}

__global__ void __launch_bounds__(kSharedThreads, kSharedBlocks)
    sdnn_shared_steady_layers(const SharedLayer* layers, SteadyOrder order, Index neurons, int panels,
                              float bias, float cap, float* y, float* other,
                              unsigned* active_bits /* (layers, panels) */) {
  PLUMB_DYNAMIC_SHARED(Ring, ring);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  in_steady_order(
      order, BlockTeam{&ring[0].work_index}, [&](int l) { return static_cast<int>(layers[l].teams); },
      [&](int l, int unit, int team) {
        const bool even = (l - order.first) % 2 == 0;
        const int panel = unit * kPanels, own = panel + lane / 8;
        Rows<false> rows;
        rows.from[0] =
            opaque((even ? y : other) + (own < panels ? own : 0) * neurons * kPanel + lane % 8 * 4);
        const SharedLayer layer = layers[l];
        team_of_panels(layer, team, panel, panels, neurons, rows, own < panels ? 15u : 0u, bias, cap, ring[0],
                       even ? other : y, active_bits + static_cast<Index>(l - order.first) * panels);
      });
}

SharedLayer describe(const PieceShape& shape, const char* base) {
  return {shape.items,
          shape.array<std::int32_t>(base, 0),
          shape.array<std::int32_t>(base, 1),
          shape.array<std::int32_t>(base, 2),
          shape.array<std::uint32_t>(base, 3),
          shape.array<std::int32_t>(base, 4),
          shape.array<float4>(base, 5)};
}

Piece pack(const Csr<float>& gather, bool pinned) {
  const GroupTeams t = group_teams(gather);
  return pack_piece(t.teams(), pinned, t.neuron, t.stage_begin, t.line, t.used, t.weight_begin, t.weight);
}

class SharedNet final : public WindowKernels<SharedLayer> {
 public:
  SharedNet(const SparseDnn& net, WindowBound bound, MakeWindow make, void* stream)
      : WindowKernels(net, bound, make, pack, describe, stream) {}

  void run(Index l, const float* in, const std::int32_t* place, const std::int32_t* count, float* out,
           unsigned* active_bits, void* stream) const override {
    launch(place != nullptr ? sdnn_shared_layer<true> : sdnn_shared_layer<false>,
           device_multiprocessors() * kSharedBlocks, kSharedThreads, sizeof(Ring), stream, layers_[l],
           Layout{neurons_, kPanel}, in, place, count, bias_, cap_, out, active_bits);
  }

  void run_steady(Index first, Index last, Index rows, float* y, float* other, unsigned* active_bits,
                  unsigned* zeros, void* stream) const override {
    const Index panels = ceil_div(rows, kPanel);
    Index most = 1;  // teams of a layer
    for (Index l = first; l < last; ++l) most = std::max(most, layers_[l].teams);
    launch(sdnn_shared_steady_layers, device_multiprocessors() * kSharedBlocks, kSharedThreads, sizeof(Ring),
           stream, layers_.on_device(), steady_order(first, last, ceil_div(panels, kPanels), most, zeros),
           neurons_, static_cast<int>(panels), bias_, cap_, y, other, active_bits);
  }

  [[nodiscard]] double listed_cost() const override { return 1.5; }  // H200, 4096 neurons: 17.2 ns for 11.1
};

}  // namespace

PieceShape shared_shape(const Csr<float>& gather) { return pack(gather, false).shape; }

std::unique_ptr<LayerKernels> shared_kernels(const SparseDnn& net, WindowBound bound, MakeWindow make,
                                             void* stream) {
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
       return tuned_count<WholeRowGroups>(net, shared_shape, use);
     }}};

}  // namespace
}  // namespace sdnn
}  // namespace plumb
