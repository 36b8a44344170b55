// Sparse DNN on the device: tiles of whole rows in shared memory; neurons that share their inputs are
// computed 16 at a time.
//
// Idea      as whole_rows.cu, but a lane has 8 neurons of a group and 8 rows: a line is read once for 16
//           neurons. One tile is read and another written, so that a layer ends in one barrier; where tiles
//           follow each other, the next rows are loaded into a third tile meanwhile. Bulk copies bring lines
//           and weights into a ring that belongs to the warp, in the order in which the warp reads them,
//           across groups, layers and tiles.
// Traffic   shared memory: 4 bytes per 16 edges and row, and the layer's weights. L2: the layer's weights per
//           16 rows. Global memory: each row is read and written once per launch.
// Limits    Issue slots: of the 186 instructions of a step (2 inputs), 128 are products.
// Fails at  chips before sm_90; neurons that share no input: groups of one, where 15 of 16 products are
//           wasted; more than 1024 neurons.
#include "gpu/models/sparse_dnn/whole_rows.hpp"

#include <algorithm>

namespace plumb {
namespace sdnn {
namespace {

constexpr int kGroupThreads = 32 * kGroupWarps;
constexpr Index kPrefetchLayers = 16;  // layers whose prefetch is requested together

constexpr int kParts = kTileRows / 4;  // 16-byte parts of a line

/// A thread's share of an input. The first entries, which are all entries of nine inputs in ten, are fetched
/// before the tile that they are added to is free.
struct Early {
  static constexpr int kEntries = 10;
  Entries<kEntries> entries;
  Index begin, end;  // of the thread's row
};

/// Begins to fill a tile with rows [r0, r0 + kTileRows) of the source; zeros from `rows` on.
PLUMB_DEVICE void begin_tile(const TileSource& source, const Layout& layout, Index r0, Index rows,
                             float4* lines /* (neurons + 1, kParts) */, Early& early) {
  float* const words = reinterpret_cast<float*>(lines);
  const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int neurons = static_cast<int>(layout.neurons);
  if (source.y == nullptr) {
    const int per_row = threads / kTileRows, row = t / per_row;  // threads are a multiple of 32
    early.begin = early.end = 0;
    if (r0 + row < rows) {
      early.begin = source.row_ptr[r0 + row] + t % per_row;
      early.end = source.row_ptr[r0 + row + 1];
    }
    early.entries.fetch(source, early.begin, per_row, early.end);
    for (int i = t; i < neurons * kParts; i += threads) lines[i] = {0, 0, 0, 0};
  } else if (r0 + kTileRows <= rows) {
    const float* const from = source.y + layout.row(r0);
    for (int i = t; i < neurons * kParts; i += threads)
      cp_async16(lines + i, from + i / kParts * kPanel + i % kParts * 4);
  } else {
    const int row = t % kTileRows;
    const float* const from = source.y + layout.row(r0 + row < rows ? r0 + row : r0);
    for (int f = t / kTileRows; f < neurons; f += threads / kTileRows)
      words[f * kTileRows + row] = r0 + row < rows ? from[f * kPanel] : 0.0f;
  }
  cp_async_commit();
}

/// Completes begin_tile(), after a barrier. Sets the bits of inputs with a non-zero in `active_inputs`.
PLUMB_DEVICE void finish_tile(const TileSource& source, float4* lines, const Early& early,
                              unsigned* active_inputs) {
  if (source.y != nullptr) {
    cp_async_wait_all();
    return;
  }
  float* const words = reinterpret_cast<float*>(lines);
  const int per_row = static_cast<int>(blockDim.x) / kTileRows, row = static_cast<int>(threadIdx.x) / per_row;
  bool any = early.entries.put(words, row);
  Entries<4> some;
  for (Index k = early.begin + Early::kEntries * per_row; k < early.end; k += 4 * per_row) {
    some.fetch(source, k, per_row, early.end);
    any |= some.put(words, row);
  }
  if (any) atomicOr(active_inputs, 1u << row);
}

/// A lane has 8 of a group's neurons and two parts, 8 rows; four lanes have a group and all 16 rows; a warp
/// has 8 groups. Steps are copied into a ring that belongs to the warp, kStepsPerCopy at a time, kStages of
/// them ahead, across groups, layers and tiles.
template <int kStages>
class EveryGroup {
 public:
  static constexpr Index kBytes =
      kGroupWarps * kStages * (kStepsPerCopy * sizeof(GroupStep) + sizeof(Mbarrier));

  PLUMB_DEVICE EveryGroup(const GroupLayers& w, Index first, Index last, float4* memory)
      : w_(w),
        first_(first),
        lane_(static_cast<int>(threadIdx.x) % 32),
        warp_(static_cast<int>(threadIdx.x) / 32),
        group_(lane_ / 4),
        half_(lane_ / 2 % 2),
        part_(lane_ % 2 * 2),
        turn_(lane_ / 4 % 2),
        ring_(reinterpret_cast<GroupStep*>(memory) + warp_ * kStages * kStepsPerCopy),
        full_(reinterpret_cast<Mbarrier*>(reinterpret_cast<GroupStep*>(memory) +
                                          kGroupWarps * kStages * kStepsPerCopy) +
              warp_ * kStages),
        pass_(w.step_begin[warp_ * (static_cast<int>(w.layers) + 1) + first]),
        pass_end_(w.step_begin[warp_ * (static_cast<int>(w.layers) + 1) + last]) {
    if (lane_ == 0) {
      for (int i = 0; i < kStages; ++i) mbarrier_init(full_ + i, 1);
      mbarrier_fence_init();
    }
    __syncwarp();
  }

  PLUMB_DEVICE void begin() {
    end();
    to_ = pass_;
    under_way_ = pass_ < pass_end_;
    for (int i = 0; i < kStages && under_way_; ++i) fetch((stage_ + i) % kStages);
    if (warp_ < w_.neuron_tiles) ahead_ = load(first_, warp_);
  }

  PLUMB_DEVICE unsigned run(Index l, Index next_layer, const float4* lines, float4* other, float bias,
                            float cap) {
    unsigned bits = 0;
    for (int neuron_tile = warp_; neuron_tile < w_.neuron_tiles; neuron_tile += kGroupWarps) {
      const NeuronTile now = ahead_;
      if (neuron_tile + kGroupWarps < w_.neuron_tiles) {
        ahead_ = load(l, neuron_tile + kGroupWarps);
      } else if (next_layer >= 0) {
        ahead_ = load(next_layer, warp_);
      }
      float4 sum[kGroup / 2][2];
#pragma unroll
      for (int n = 0; n < kGroup / 2; ++n) sum[n][0] = sum[n][1] = {0, 0, 0, 0};
#pragma unroll 1
      for (int s = 0; s < now.steps; s += kStepsPerCopy) {
        mbarrier_wait(full_ + stage_, parity_);
#pragma unroll
        for (int i = 0; i < kStepsPerCopy; ++i) add(ring_[stage_ * kStepsPerCopy + i], lines, sum);
        bulk_copy_fence();
        __syncwarp();  // earlier reads of the steps are done
        fetch(stage_);
        advance();
      }
      uint4 any[2] = {};
#pragma unroll
      for (int n = 0; n < kGroup / 2; ++n) {
        hold_zeros(sum[n], bias);
        const std::int32_t j = now.neuron[n];
        if (j < 0) continue;
#pragma unroll
        for (int t = 0; t < 2; ++t) {
          const float4 y = activate_held(sum[n][t], bias, cap);
          collect(any[t], y);
          other[j * kParts + part(t)] = y;
        }
      }
#pragma unroll
      for (int t = 0; t < 2; ++t) bits |= nonzeros(any[t]) << (4 * part(t));
    }
    return bits;
  }

  /// Requests the prefetch of layers [begin, end) to the second-level cache; each block requests a share, as
  /// all blocks read them.
  PLUMB_DEVICE void bring(Index begin, Index end) const {
    if (begin >= end) return;
    const std::int32_t* const at = w_.step_begin + warp_ * (w_.layers + 1);
    const char* const from = reinterpret_cast<const char*>(w_.step + at[begin]);
    const Index bytes = (at[end] - at[begin]) * static_cast<Index>(sizeof(GroupStep));
    constexpr Index kLine = 128;
    for (Index i = blockIdx.x + static_cast<Index>(gridDim.x) * lane_; i * kLine < bytes;
         i += static_cast<Index>(gridDim.x) * 32)
      prefetch_l2(from + i * kLine);
  }

  /// Waits for copies in flight.
  PLUMB_DEVICE void end() {
    if (!under_way_) return;
    for (int i = 0; i < kStages; ++i) {
      mbarrier_wait(full_ + stage_, parity_);
      advance();
    }
    __syncwarp();
  }

 private:
  struct NeuronTile {
    std::int32_t steps, neuron[kGroup / 2];
  };
  PLUMB_DEVICE NeuronTile load(Index layer, int neuron_tile) const {
    const Index at = layer * w_.neuron_tiles + neuron_tile;
    const int4* const neuron =
        reinterpret_cast<const int4*>(w_.neuron + (at * kGroupsPerWarp + group_) * kGroup) + 2 * half_;
    const int4 a = __ldg(neuron), b = __ldg(neuron + 1);
    return {__ldg(w_.steps + at), {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
  }
  /// Copies the next steps into a free stage; the steps of a pass are repeated in order.
  PLUMB_DEVICE void fetch(int stage) {
    if (lane_ == 0) {
      mbarrier_arrive_expect(full_ + stage, kStepsPerCopy * sizeof(GroupStep));
      bulk_copy(ring_ + stage * kStepsPerCopy, w_.step + to_, kStepsPerCopy * sizeof(GroupStep),
                full_ + stage);
    }
    to_ += kStepsPerCopy;
    if (to_ >= pass_end_) to_ = pass_;
  }
  PLUMB_DEVICE void advance() {
    if (++stage_ == kStages) stage_ = 0, parity_ ^= 1;
  }
  /// The part that sum[..][t] holds. Neighbouring groups begin with different parts, so that the 8 parts that
  /// half a warp reads lie in different banks where lines of groups two apart have opposite parity.
  PLUMB_DEVICE int part(int t) const { return part_ + (t ^ turn_); }
  PLUMB_DEVICE void add(const GroupStep& step, const float4* lines, float4 (&sum)[kGroup / 2][2]) const {
    static_assert(kInputsPerStep == 2, "lines as a pair");
    const int2 line = *reinterpret_cast<const int2*>(step.line[group_]);
#pragma unroll
    for (int u = 0; u < kInputsPerStep; ++u) {
      const float4* const at = lines + (u == 0 ? line.x : line.y) * kParts;
      const float4 y0 = at[part(0)], y1 = at[part(1)];
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        const float4 v = *reinterpret_cast<const float4*>(step.weight[u][q][group_][half_]);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          add_scaled(sum[4 * q + i][0], element(v, i), y0);
          add_scaled(sum[4 * q + i][1], element(v, i), y1);
        }
      }
    }
  }

  const GroupLayers& w_;
  Index first_;
  int lane_, warp_, group_, half_, part_, turn_;
  GroupStep* ring_;
  Mbarrier* full_;
  std::int32_t pass_, pass_end_, to_ = 0;
  int stage_ = 0, parity_ = 0;
  bool under_way_ = false;
  NeuronTile ahead_ = {};
};

/// kTileBuffers: number of tiles. With two, a tile is filled only after the one before is written out.
template <int kTileBuffers, int kStages>
__global__ void __launch_bounds__(kGroupThreads, 1)
    sdnn_whole_row_groups(GroupLayers layers, Index first, Index last, Layout layout, TileSource source,
                          std::int32_t* counts, float bias, float cap, float* out, std::int32_t* ids_out) {
  static_assert(kTileBuffers == 2 || kTileBuffers == 3, "read, written, and under way");
  PLUMB_DYNAMIC_SHARED(float4, tiles);  // kTileBuffers of (neurons + 1, kParts)
  __shared__ unsigned active_bits[3], active_inputs[2];
  __shared__ std::int32_t base;
  const int lane = static_cast<int>(threadIdx.x) % 32, neurons = static_cast<int>(layout.neurons);
  const int tile_parts = (neurons + 1) * kParts;
  const Index rows = *source.rows, stride = static_cast<Index>(gridDim.x) * kTileRows;
  Index r0 = static_cast<Index>(blockIdx.x) * kTileRows;
  if (r0 >= rows) return;
  if (threadIdx.x < kTileBuffers * kParts) {
    tiles[static_cast<int>(threadIdx.x) / kParts * tile_parts + neurons * kParts +
          static_cast<int>(threadIdx.x) % kParts] = {0, 0, 0, 0};
  }
  if (threadIdx.x == 0)
    active_bits[0] = active_bits[1] = active_bits[2] = active_inputs[0] = active_inputs[1] = 0;
  float4 *lines = tiles, *other = tiles + tile_parts, *coming = tiles + (kTileBuffers - 1) * tile_parts;
  Early early = {};
  begin_tile(source, layout, r0, rows, lines, early);
  EveryGroup<kStages> work(layers, first, last, tiles + kTileBuffers * tile_parts);
  __syncthreads();
  finish_tile(source, lines, early, &active_inputs[0]);
  work.bring(first, min(layers.layers, first + kPrefetchLayers));
  work.begin();
  __syncthreads();
  int at = 0;  // index into `active_bits`; advances with every layer
  for (int tile = 0;; ++tile) {
    const bool more = r0 + stride < rows;
    if (kTileBuffers == 3 && more) begin_tile(source, layout, r0 + stride, rows, coming, early);
    const int row = static_cast<int>(threadIdx.x) % kTileRows;
    std::int32_t id = static_cast<std::int32_t>(r0 + row);
    if (source.ids != nullptr && threadIdx.x < kTileRows && r0 + row < rows)
      id = __ldg(source.ids + r0 + row);
    unsigned active = 0;
    for (Index l = first; l < last; ++l) {
      if (tile == 0 && (l - first) % kPrefetchLayers == 0)
        work.bring(l + kPrefetchLayers, min(last, l + 2 * kPrefetchLayers));
      unsigned bits = work.run(l, l + 1 < last ? l + 1 : more ? first : -1, lines, other, bias, cap);
      bits = __reduce_or_sync(kAllLanes, bits);
      if (lane == 0 && bits != 0) atomicOr(&active_bits[at], bits);
      const int then = at == 2 ? 0 : at + 1;
      if (threadIdx.x == 0) active_bits[then] = 0;  // it belongs to two layers ago: all threads have read it
      __syncthreads();
      active = active_bits[at];
      at = then;
      float4* const written = other;
      other = lines;
      lines = written;
      if (threadIdx.x == 0 && active != 0) {
        if (l + 1 < last) {
          atomicAdd(counts + (l - first + 1), __popc(active));  // its result is not used: no wait
        } else {
          base = atomicAdd(counts + (l - first + 1), __popc(active));
        }
      }
      if (active == 0) {
        if (l + 1 < last) work.begin();
        break;
      }
    }
    if (kTileBuffers == 3 && more) finish_tile(source, coming, early, &active_inputs[(tile + 1) % 2]);
    __syncthreads();
    if (threadIdx.x == 0 && active_inputs[tile % 2] != 0) {
      atomicAdd(counts, __popc(active_inputs[tile % 2]));
      active_inputs[tile % 2] = 0;  // set again for the tile after the next
    }
    if ((active >> row & 1u) != 0) {
      const float* const words = reinterpret_cast<const float*>(lines);
      const Index to = base + __popc(active & ((1u << row) - 1));
      write_row(words, row, neurons, out + layout.row(to));
      if (threadIdx.x < kTileRows) ids_out[to] = id;
    }
    if (!more) break;
    __syncthreads();  // the tile is written out
    r0 += stride;
    if (kTileBuffers == 3) {
      float4* const filled = coming;
      coming = lines;
      lines = filled;
    } else {
      begin_tile(source, layout, r0, rows, lines, early);
      __syncthreads();
      finish_tile(source, lines, early, &active_inputs[(tile + 1) % 2]);
      __syncthreads();
    }
  }
  work.end();
}

Index tile_bytes(Index neurons) { return (neurons + 1) * kTileRows * 4; }

constexpr int kManyStages = 2, kFewStages = 5;

template <int kTileBuffers, int kStages>
void launch_groups(const GroupLayers& w, Index first, Index last, Index neurons, const TileSource& source,
                   std::int32_t* counts, float bias, float cap, float* out, std::int32_t* ids_out,
                   void* stream) {
  launch(sdnn_whole_row_groups<kTileBuffers, kStages>, device_multiprocessors(), kGroupThreads,
         static_cast<std::size_t>(kTileBuffers * tile_bytes(neurons) + EveryGroup<kStages>::kBytes), stream,
         w, first, last, Layout{neurons, kPanel}, source, counts, bias, cap, out, ids_out);
}

bool copies_in_bulk(const DeviceLimits& limits) { return limits.sm >= 90; }

int most_neuron_tiles(const std::vector<GroupNeuronTiles>& layers) {
  Index most = 0;
  for (const GroupNeuronTiles& b : layers) most = std::max(most, b.neuron_tiles());
  return static_cast<int>(most);
}

/// All layers have as many neuron tiles as the one that has most.
Index bytes_of(const std::vector<GroupNeuronTiles>& layers) {
  const Index count = static_cast<Index>(layers.size());
  Index steps = 0;
  for (const GroupNeuronTiles& b : layers)
    for (const std::vector<GroupStep>& of_warp : b.step) steps += static_cast<Index>(of_warp.size());
  return 4 * count * most_neuron_tiles(layers) * (kGroupsPerWarp * kGroup + 1) +
         4 * kGroupWarps * (count + 1) + steps * static_cast<Index>(sizeof(GroupStep));
}

}  // namespace

Index WholeRowGroups::bytes_for(const SparseDnn& net) {
  return bytes_of(make_parts<GroupNeuronTiles>(net, group_neuron_tiles));
}

bool WholeRowGroups::fits(Index neurons, const DeviceLimits& limits) {
  return copies_in_bulk(limits) && neurons > 0 && neurons <= kWholeRowNeurons &&
         std::max(3 * tile_bytes(neurons) + EveryGroup<kManyStages>::kBytes,
                  2 * tile_bytes(neurons) + EveryGroup<kFewStages>::kBytes) +
                 64 <=
             limits.shared_bytes;
}

WholeRowGroups::WholeRowGroups(const SparseDnn& net, void* stream)
    : neurons_(net.neurons), bias_(net.bias), cap_(net.cap), layers_(net.layers()) {
  auto parts = make_parts<GroupNeuronTiles>(net, group_neuron_tiles);
  std::vector<std::int32_t> begin;
  std::vector<GroupStep> step;
  neuron_tiles_ = most_neuron_tiles(parts);
  const Index bytes = bytes_of(parts);
  for (GroupNeuronTiles& b : parts) {
    b.neuron.resize(static_cast<std::size_t>(neuron_tiles_ * kGroupsPerWarp * kGroup), -1);
    b.steps.resize(static_cast<std::size_t>(neuron_tiles_), 0);
  }
  for (int warp = 0; warp < kGroupWarps; ++warp) {
    for (const GroupNeuronTiles& b : parts) {
      begin.push_back(static_cast<std::int32_t>(step.size()));
      step.insert(step.end(), b.step[warp].begin(), b.step[warp].end());
    }
    begin.push_back(static_cast<std::int32_t>(step.size()));
  }
  require_device_memory(bytes, "sparse DNN: weights of " + std::to_string(net.layers()) + " layers");
  neuron_ = concatenate<std::int32_t>(
      parts, "groups, neurons", stream, [](const GroupNeuronTiles& b) -> auto& { return b.neuron; });
  steps_ = concatenate<std::int32_t>(
      parts, "groups, steps", stream, [](const GroupNeuronTiles& b) -> auto& { return b.steps; });
  step_begin_ = DeviceArray<std::int32_t>(begin, "layers, steps", stream);
  step_ = DeviceArray<GroupStep>(step, "groups, lines and weights", stream);
}

void WholeRowGroups::run(Index first, Index last, Tiles tiles, const TileSource& source, std::int32_t* counts,
                         float* out, std::int32_t* ids_out, void* stream) const {
  const GroupLayers w{layers_,       neuron_tiles_,      neuron_.data(),
                      steps_.data(), step_begin_.data(), step_.data()};
  const auto run = tiles == Tiles::many ? launch_groups<3, kManyStages> : launch_groups<2, kFewStages>;
  run(w, first, last, neurons_, source, counts, bias_, cap_, out, ids_out, stream);
}

}  // namespace sdnn
}  // namespace plumb
