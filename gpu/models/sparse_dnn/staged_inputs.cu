// Sparse DNN on the device: layers of any width, inputs staged by the warp that needs them.
//
// Idea      a warp takes a neuron tile of 32 neurons and a panel of 32 rows. Neurons with common inputs are
//           in one neuron tile (neuron_tiles.cpp), so that a line is fetched once and read many times from
//           shared memory. Neuron tiles of a panel go to neighbouring warps, so that lines are found in L2.
//           Lines are copied without passing through registers: element by element through the list of rows
//           where rows are inactive; once hardly a row becomes inactive, rows stay where they are, are copied
//           16 bytes at a time, and one launch runs all remaining layers (steady_state.hpp).
// Traffic   shared memory: 4 bytes per edge and row. L2: each line about as often as neuron tiles use it, 5
//           bytes per edge and panel. Global memory: each row is read and written once per layer.
// Limits    the load and store units: for a neuron tile and a panel they spend 1024 cycles on lines, and more
//           on edges, staging and the answer. 4 blocks of 4 warps per multiprocessor, as many as 128
//           registers a lane allow. Before copies and work indices, 5 blocks made listed layers 4 % faster
//           and steady-state layers 3 % slower; 6 lost a quarter to spills.
// Fails at  tiles of neurons that share no input: a line is fetched for every edge.
#include "gpu/models/sparse_dnn/staged_inputs.hpp"

#include <algorithm>

#include "gpu/models/sparse_dnn/steady_state.hpp"

namespace plumb {
namespace sdnn {
namespace {

/// One layer of staged neuron tiles in device memory.
struct StagedLayer {
  Index neuron_tiles;
  const std::int32_t* neuron;       // (neuron tiles, 32)
  const std::int32_t* stage_begin;  // (neuron tiles + 1)
  const Stage* stages;
  const std::int32_t* feature;
  const uint2* line;    // (chunks, 32): 8 edges each
  const float4* value;  // (chunks, 2, 32)
};

constexpr int kParts = kPanel / 4;  // 16-byte parts of a line
constexpr int kStagedThreads = 128;
constexpr int kWarps = kStagedThreads / 32;
constexpr int kStagedBlocks = 4;                                    // per multiprocessor
constexpr Index kStagedBytes = kWarps * (kLines + 1) * kPanel * 4;  // of lines, per block

/// The stage's inputs, two to a lane.
struct Wanted {
  std::int32_t low, high;
};
PLUMB_DEVICE Wanted wanted(const StagedLayer& w, const Stage& stage, int lane) {
  static_assert(kLines == 64, "two inputs to a lane");
  const std::int32_t* const f = w.feature + stage.feature_begin;
  return {lane < stage.features ? __ldg(f + lane) : 0, lane + 32 < stage.features ? __ldg(f + lane + 32) : 0};
}

/// The stage's lines, element by element, through the lane's own row.
PLUMB_DEVICE void stage_listed(const StagedLayer& w, const Stage& stage, const float* row, bool valid,
                               int lane, float* words /* (kLines, 32) */) {
  const Wanted want = wanted(w, stage, lane);
  for (int begin = 0; begin < stage.features; begin += 32) {
    const std::int32_t mine = begin == 0 ? want.low : want.high;
    const int here = min(32, stage.features - begin);
#pragma unroll 8
    for (int u = 0; u < here; ++u) {
      const unsigned f = static_cast<unsigned>(__shfl_sync(kAllLanes, mine, u));
      const Index at = static_cast<Index>(f) * kPanel;
      cp_async_zfill<4>(words + (begin + u) * kPanel + lane, row + at, valid ? 4 : 0);
    }
  }
  cp_async_commit();
  cp_async_wait_all();
}

/// The stage's lines as they lie: four to a copy.
PLUMB_DEVICE void stage_whole(const StagedLayer& w, const Stage& stage, const float* panel, int lane,
                              float4* lines) {
  const Wanted want = wanted(w, stage, lane);
#pragma unroll 4
  for (int begin = 0; begin < stage.features; begin += 32 / kParts) {
    const int i = begin + lane / kParts;
    const unsigned f =
        static_cast<unsigned>(__shfl_sync(kAllLanes, begin < 32 ? want.low : want.high, i % 32));
    const Index at = static_cast<Index>(f) * kPanel;
    if (i < stage.features) cp_async16(lines + i * kParts + lane % kParts, panel + at + lane % kParts * 4);
  }
  cp_async_commit();
  cp_async_wait_all();
}

/// The work of a warp on a neuron tile and a panel. kListed: lanes fetch their own rows; otherwise the panel
/// as it lies.
template <bool kListed>
PLUMB_DEVICE void neuron_tile_of_panel(const StagedLayer& w, Index neuron_tile, Index panel, Index neurons,
                                       const float* source, bool valid, float bias, float cap, int lane,
                                       float4* lines /* (kLines + 1, kParts) */, float* out,
                                       unsigned* active_bits) {
  float4 sum[kParts];
#pragma unroll
  for (int t = 0; t < kParts; ++t) sum[t] = {0, 0, 0, 0};
  const std::int32_t last_stage = w.stage_begin[neuron_tile + 1];
  for (std::int32_t s = w.stage_begin[neuron_tile]; s < last_stage; ++s) {
    const Stage stage = w.stages[s];
    Chunk<uint2> ahead = {};
    if (stage.chunks > 0) ahead = load_chunk(w.line, w.value, stage.chunk_begin, lane);
    __syncwarp();  // earlier reads of the lines are done
    if (kListed) {
      stage_listed(w, stage, source, valid, lane, reinterpret_cast<float*>(lines));
    } else {
      stage_whole(w, stage, source, lane, lines);
    }
    __syncwarp();
    const Index end = stage.chunk_begin + stage.chunks;
    for (Index c = stage.chunk_begin; c < end; ++c) {
      const Chunk<uint2> chunk = ahead;
      if (c + 1 < end) ahead = load_chunk(w.line, w.value, c + 1, lane);
      gather_chunk<kParts>(chunk, lines, lane, sum);
    }
  }
  unsigned bits = 0;
  __syncwarp();
#pragma unroll
  for (int t = 0; t < kParts; ++t) {
    const int part = part_of<kParts>(lane, t);
    const float4 y = activate4(sum[t], bias, cap);
    bits |= nonzeros(y) << (4 * part);
    lines[lane * kParts + part] = y;
  }
  bits = __reduce_or_sync(kAllLanes, bits);
  if (lane == 0 && bits != 0) atomicOr(active_bits + panel, bits);
  __syncwarp();
  // Whole lines to global memory, four at a time.
  const std::int32_t mine = w.neuron[neuron_tile * kLanes + lane];
#pragma unroll
  for (int s = 0; s < kLanes; s += 32 / kParts) {
    const int l = s + lane / kParts;
    const Index j = __shfl_sync(kAllLanes, mine, l);
    if (j >= 0) {
      reinterpret_cast<float4*>(out + (panel * neurons + j) * kPanel)[lane % kParts] =
          lines[l * kParts + lane % kParts];
    }
  }
}

// kListed: rows are read through the list; otherwise as they lie.
template <bool kListed>
__global__ void __launch_bounds__(kStagedThreads, kStagedBlocks)
    sdnn_staged_layer(StagedLayer w, Layout layout, const float* in, const std::int32_t* place,
                      const std::int32_t* count, float bias, float cap, float* out, unsigned* active_bits) {
  __shared__ float4 shared_lines[kWarps][(kLines + 1) * kParts];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  float4* const lines = shared_lines[warp];
  reinterpret_cast<float*>(lines)[kLines * kPanel + lane] = 0;
  const Index rows = *count, items = ceil_div(rows, kPanel) * w.neuron_tiles;
  for (Index item = static_cast<Index>(blockIdx.x) * kWarps + warp; item < items;
       item += static_cast<Index>(gridDim.x) * kWarps) {
    const Index panel = item / w.neuron_tiles, r = panel * kPanel + lane;
    const bool valid = r < rows;
    const float* const source =
        kListed ? in + layout.row(valid ? place[r] : 0) : in + panel * layout.neurons * kPanel;
    neuron_tile_of_panel<kListed>(w, item % w.neuron_tiles, panel, layout.neurons, source, valid, bias, cap,
                                  lane, lines, out, active_bits);
  }
}

__global__ void __launch_bounds__(kStagedThreads, kStagedBlocks)
    sdnn_steady_layers(const StagedLayer* layers, SteadyOrder order, Index neurons, float bias, float cap,
                       float* y, float* other, unsigned* active_bits /* (layers, panels) */) {
  __shared__ float4 shared_lines[kWarps][(kLines + 1) * kParts];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  float4* const lines = shared_lines[warp];
  reinterpret_cast<float*>(lines)[kLines * kPanel + lane] = 0;
  in_steady_order(
      order, lane, [&](int) { return order.items; },
      [&](int l, int panel, int neuron_tile) {
        const bool even = (l - order.first) % 2 == 0;
        neuron_tile_of_panel<false>(layers[l], neuron_tile, panel, neurons,
                                    (even ? y : other) + panel * neurons * kPanel, true, bias, cap, lane,
                                    lines, even ? other : y,
                                    active_bits + static_cast<Index>(l - order.first) * order.units);
      });
}

/// Blocks that are resident at once on a multiprocessor.
int blocks_per_multiprocessor() {
  constexpr Index kReserved = 1024;  // per block, by the driver
  const Index fit = device_shared_bytes() / (kStagedBytes + kReserved);
  return static_cast<int>(std::clamp<Index>(fit, 1, kStagedBlocks));
}

StagedLayer describe(const PieceShape& shape, const char* base) {
  return {shape.items,
          shape.array<std::int32_t>(base, 0),
          shape.array<std::int32_t>(base, 1),
          shape.array<Stage>(base, 2),
          shape.array<std::int32_t>(base, 3),
          shape.array<uint2>(base, 4),
          shape.array<float4>(base, 5)};
}

Piece pack(const Csr<float>& gather, bool pinned) {
  const StagedNeuronTiles b = staged_neuron_tiles(gather);
  return pack_piece(b.neuron_tiles(), pinned, b.neuron, b.stage_begin, b.stages, b.feature, b.line, b.value);
}

}  // namespace

PieceShape staged_shape(const Csr<float>& gather) { return pack(gather, false).shape; }

namespace {

class StagedNet final : public WindowKernels<StagedLayer> {
 public:
  StagedNet(const SparseDnn& net, WindowBound bound, MakeWindow make, void* stream)
      : WindowKernels(net, bound, make, pack, describe, stream) {}

  void run(Index l, const float* in, const std::int32_t* place, const std::int32_t* count, float* out,
           unsigned* active_bits, void* stream) const override;
  void run_steady(Index first, Index last, Index rows, float* y, float* other, unsigned* active_bits,
                  unsigned* zeros, void* stream) const override;
  [[nodiscard]] double listed_cost() const override { return 1.1; }  // H200, 4096 neurons: 23.5 ns for 21.7
};

void StagedNet::run(Index l, const float* in, const std::int32_t* place, const std::int32_t* count,
                    float* out, unsigned* active_bits, void* stream) const {
  launch(place != nullptr ? sdnn_staged_layer<true> : sdnn_staged_layer<false>,
         device_multiprocessors() * blocks_per_multiprocessor(), kStagedThreads, 0, stream, layers_[l],
         Layout{neurons_, kPanel}, in, place, count, bias_, cap_, out, active_bits);
}

void StagedNet::run_steady(Index first, Index last, Index rows, float* y, float* other, unsigned* active_bits,
                           unsigned* zeros, void* stream) const {
  const Index panels = ceil_div(rows, kPanel);
  launch(sdnn_steady_layers, device_multiprocessors() * blocks_per_multiprocessor(), kStagedThreads, 0,
         stream, layers_.on_device(), steady_order(first, last, panels, ceil_div(neurons_, kLanes), zeros),
         neurons_, bias_, cap_, y, other, active_bits);
}

}  // namespace

std::unique_ptr<LayerKernels> staged_kernels(const SparseDnn& net, WindowBound bound, MakeWindow make,
                                             void* stream) {
  return std::make_unique<StagedNet>(net, bound, make, stream);
}

}  // namespace sdnn
}  // namespace plumb
