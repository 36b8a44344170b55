// Sparse DNN on the device: tiles of whole rows in shared memory, neurons that share their inputs 16 at a time.
//
// Idea      as resident.cu, but a lane has 16 neurons of one group and 4 rows: a line is read once for 16
//           neurons. Three tiles: one is read, one written, so that a layer ends in one barrier; the next rows
//           come into the third meanwhile. Weights pass from L2 to registers a step ahead; while a layer is
//           computed, blocks share in asking for the next one's.
// Traffic   shared memory: 4 bytes per 16 edges and row. L2: the layer's weights per 16 rows. Global: a row in
//           and out per launch.
// Limits    252 registers, no spills, 197 KB shared: one block of 256 threads per multiprocessor (sm_90, nvcc
//           13.0, ptxas -v). H200, 1024 x 120: 2.19 ms (3.57 where each layer went through memory); 6.9 us a
//           layer from the eleventh on, of which products are 2.1. The first ten layers take 1.40 ms.
// Fails at  strangers: groups of one, and then 15 of 16 products are for nothing; more than 1024 neurons.
#include "gpu/models/sparse_dnn/resident.hpp"

#include <algorithm>

#include "gpu/runtime/async_copy.hpp"

namespace plumb {
namespace sdnn {
namespace {

constexpr int kParts = kTileRows / 4;  // 16-byte parts of a line
constexpr int kTiles = 3;              // read, written, and under way
constexpr int kGroupThreads = 256;

/// Asks for a block's share of some bytes, which all blocks will want at once.
PLUMB_DEVICE void bring(const void* at, Index bytes) {
  constexpr Index kLine = 128;
  for (Index i = blockIdx.x + static_cast<Index>(gridDim.x) * threadIdx.x; i * kLine < bytes;
       i += static_cast<Index>(gridDim.x) * blockDim.x)
    prefetch_l2(static_cast<const char*>(at) + i * kLine);
}

/// A lane has 16 neurons with the same inputs and 4 rows; a warp has 8 such groups and all 16 rows.
class EveryGroup {
 public:
  PLUMB_DEVICE EveryGroup(const GroupLayers& w, int warp, int lane)
      : w_(w),
        warp_(warp),
        warps_(static_cast<int>(blockDim.x) / 32),
        group_(lane / kParts),
        part_(lane % kParts) {}
  PLUMB_DEVICE void bring_layer(Index layer) const {
    const Index begin = w_.step_begin[w_.first_bundle[layer]],
                end = w_.step_begin[w_.first_bundle[layer + 1]];
    bring(w_.line + begin * kTogether, (end - begin) * kTogether * 16);
    bring(w_.weight + begin * kWeights, (end - begin) * kWeights * 16);
  }
  /// other = the layer's answer to lines. Returns the bits of the lane's rows that are not 0.
  PLUMB_DEVICE unsigned run(Index l, const float4* lines, float4* other, float bias, float cap) {
    unsigned bits = 0;
    const std::int32_t end = w_.first_bundle[l + 1];
    for (std::int32_t bundle = w_.first_bundle[l] + warp_; bundle < end; bundle += warps_) {
      float4 sum[kGroup];
#pragma unroll
      for (int n = 0; n < kGroup; ++n) sum[n] = {0, 0, 0, 0};
      const std::int32_t last = __ldg(w_.step_begin + bundle + 1);
      std::int32_t s = __ldg(w_.step_begin + bundle);
      if (s < last) {
        Step now = load(s);
        for (; s < last; s += 2) {
          const Step second = load(s + 1 < last ? s + 1 : s);
          add(now, lines, sum);
          if (s + 1 == last) break;
          now = load(s + 2 < last ? s + 2 : s);
          add(second, lines, sum);
        }
      }
      const std::int32_t* const neuron =
          w_.neuron + (static_cast<Index>(bundle) * kTogether + group_) * kGroup;
#pragma unroll
      for (int n = 0; n < kGroup; ++n) {
        const std::int32_t j = __ldg(neuron + n);
        if (j < 0) continue;
        const float4 y = activate4(sum[n], bias, cap);
        bits |= nonzeros(y);
        other[j * kParts + part_] = y;
      }
    }
    return bits << (4 * part_);
  }

 private:
  static constexpr int kWeights = kTogether * kAtOnce * kGroup / 4;  // float4 of a step

  struct Step {
    int4 line[kAtOnce / 4];
    float4 weight[kAtOnce][kGroup / 4];
  };
  PLUMB_DEVICE Step load(std::int32_t s) const {
    Step step;
    static_assert(kAtOnce == 4, "one load of lines");
    step.line[0] = __ldg(w_.line + static_cast<Index>(s) * kTogether + group_);
    const float4* const weight = w_.weight + static_cast<Index>(s) * kWeights + group_;
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
#pragma unroll
      for (int q = 0; q < kGroup / 4; ++q)
        step.weight[u][q] = __ldg(weight + (u * (kGroup / 4) + q) * kTogether);
    }
    return step;
  }
  PLUMB_DEVICE void add(const Step& step, const float4* lines, float4 (&sum)[kGroup]) const {
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      const int4& l = step.line[0];
      const float4 y = lines[(u == 0 ? l.x : u == 1 ? l.y : u == 2 ? l.z : l.w) * kParts + part_];
#pragma unroll
      for (int n = 0; n < kGroup; ++n) add_scaled(sum[n], element(step.weight[u][n / 4], n % 4), y);
    }
  }
  const GroupLayers& w_;
  int warp_, warps_, group_, part_;
};

/// An input's entries that a thread fetches before the tile that they go to is free.
constexpr int kEarly = 4;
struct Early {
  std::int32_t col[kEarly];
  float val[kEarly];
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
#pragma unroll
    for (int i = 0; i < kEarly; ++i) {
      const Index k = early.begin + i * per_row;
      if (k < early.end) {
        early.col[i] = __ldg(source.col + k);
        early.val[i] = __ldg(source.val + k);
      }
    }
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

/// After a barrier behind begin_tile(): what is left to do. Bits of inputs with a non-zero are set in
/// `living_inputs`.
PLUMB_DEVICE void finish_tile(const TileSource& source, float4* lines, const Early& early,
                              unsigned* living_inputs) {
  if (source.y != nullptr) {
    cp_async_wait_all();
    return;
  }
  float* const words = reinterpret_cast<float*>(lines);
  const int per_row = static_cast<int>(blockDim.x) / kTileRows, row = static_cast<int>(threadIdx.x) / per_row;
  bool any = false;
  const auto put = [&](std::int32_t col, float y) {
    words[col * kTileRows + row] = y;
    any |= y != 0;
  };
#pragma unroll
  for (int i = 0; i < kEarly; ++i) {
    if (early.begin + i * per_row < early.end) put(early.col[i], early.val[i]);
  }
  for (Index k = early.begin + kEarly * per_row; k < early.end; k += per_row)
    put(__ldg(source.col + k), __ldg(source.val + k));
  if (any) atomicOr(living_inputs, 1u << row);
}

__global__ void __launch_bounds__(kGroupThreads, 1)
    sdnn_resident_groups(GroupLayers w, Index first, Index last, Layout layout, TileSource source,
                         std::int32_t* counts, float bias, float cap, float* out, std::int32_t* ids_out) {
  PLUMB_DYNAMIC_SHARED(float4, tiles);  // kTiles of (neurons + 1, kParts)
  __shared__ unsigned alive[3], living_inputs[2];
  __shared__ std::int32_t base;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int neurons = static_cast<int>(layout.neurons);
  const int tile_parts = (neurons + 1) * kParts;
  const Index rows = *source.rows, stride = static_cast<Index>(gridDim.x) * kTileRows;
  Index r0 = static_cast<Index>(blockIdx.x) * kTileRows;
  if (r0 >= rows) return;
  if (threadIdx.x < kTiles * kParts) {
    tiles[static_cast<int>(threadIdx.x) / kParts * tile_parts + neurons * kParts +
          static_cast<int>(threadIdx.x) % kParts] = {0, 0, 0, 0};
  }
  if (threadIdx.x == 0) alive[0] = alive[1] = alive[2] = living_inputs[0] = living_inputs[1] = 0;
  float4 *lines = tiles, *other = tiles + tile_parts, *coming = tiles + 2 * tile_parts;
  Early early = {};
  begin_tile(source, layout, r0, rows, lines, early);
  EveryGroup groups(w, warp, lane);
  __syncthreads();
  finish_tile(source, lines, early, &living_inputs[0]);
  __syncthreads();
  int at = 0;  // which of `alive`: one further with every layer
  for (int tile = 0;; ++tile) {
    if (r0 + stride < rows) begin_tile(source, layout, r0 + stride, rows, coming, early);
    unsigned living = 0;
    for (Index l = first; l < last; ++l) {
      if (l + 1 < last && tile == 0) groups.bring_layer(l + 1);
      unsigned bits = groups.run(l, lines, other, bias, cap);
      bits = __reduce_or_sync(kAllLanes, bits);
      if (lane == 0 && bits != 0) atomicOr(&alive[at], bits);
      const int then = at == 2 ? 0 : at + 1;
      if (threadIdx.x == 0) alive[then] = 0;  // all have read it: it was of two layers ago
      __syncthreads();
      living = alive[at];
      at = then;
      float4* const written = other;
      other = lines;
      lines = written;
      if (threadIdx.x == 0 && living != 0) {
        const std::int32_t before = atomicAdd(counts + (l - first + 1), __popc(living));
        if (l + 1 == last) base = before;
      }
      if (living == 0) break;
    }
    const bool more = r0 + stride < rows;
    if (more) finish_tile(source, coming, early, &living_inputs[(tile + 1) % 2]);
    __syncthreads();
    if (threadIdx.x == 0 && living_inputs[tile % 2] != 0) {
      atomicAdd(counts, __popc(living_inputs[tile % 2]));
      living_inputs[tile % 2] = 0;  // set again two tiles on
    }
    const int row = static_cast<int>(threadIdx.x) % kTileRows;
    if ((living >> row & 1u) != 0) {
      const float* const words = reinterpret_cast<const float*>(lines);
      const Index to = base + __popc(living & ((1u << row) - 1));
      float* const at_row = out + layout.row(to);
      const int step = static_cast<int>(blockDim.x) / kTileRows;
#pragma unroll 8
      for (int f = static_cast<int>(threadIdx.x) / kTileRows; f < neurons; f += step)
        at_row[f * kPanel] = words[f * kTileRows + row];
      if (threadIdx.x < kTileRows)
        ids_out[to] = source.ids != nullptr ? source.ids[r0 + row] : static_cast<std::int32_t>(r0 + row);
    }
    if (!more) break;
    __syncthreads();  // the tile has been written out
    r0 += stride;
    float4* const filled = coming;
    coming = lines;
    lines = filled;
  }
}

Index tiles_bytes(Index neurons) { return kTiles * (neurons + 1) * kTileRows * 4; }

}  // namespace

bool ResidentGroups::fits(const SparseDnn& net) {
  return net.neurons > 0 && net.neurons <= kResidentNeurons &&
         tiles_bytes(net.neurons) + 64 <= device_shared_bytes();
}

ResidentGroups::ResidentGroups(const SparseDnn& net, void* stream)
    : neurons_(net.neurons), bias_(net.bias), cap_(net.cap) {
  const auto parts = make_parts<GroupBundles>(net, group_bundles);
  std::vector<std::int32_t> first{0}, begin{0};
  Index steps = 0;
  for (const GroupBundles& b : parts) {
    first.push_back(first.back() + static_cast<std::int32_t>(b.bundles()));
    for (std::size_t i = 1; i < b.step_begin.size(); ++i)
      begin.push_back(static_cast<std::int32_t>(steps + b.step_begin[i]));
    steps += b.step_begin.back();
  }
  require_device_memory(steps * kTogether * kAtOnce * (kGroup + 1) * 4,
                        "sparse DNN: weights of " + std::to_string(net.layers()) + " layers");
  neuron_ = concatenate<std::int32_t>(
      parts, "groups, neurons", stream, [](const GroupBundles& b) -> auto& { return b.neuron; });
  step_begin_ = DeviceArray<std::int32_t>(begin, "groups, steps", stream);
  first_bundle_ = DeviceArray<std::int32_t>(first, "layers, groups", stream);
  line_ = concatenate<std::int32_t>(
      parts, "groups, lines", stream, [](const GroupBundles& b) -> auto& { return b.line; });
  weight_ = concatenate<float>(
      parts, "groups, weights", stream, [](const GroupBundles& b) -> auto& { return b.weight; });
}

void ResidentGroups::run(Index first, Index last, Tiles, const TileSource& source, std::int32_t* counts,
                         float* out, std::int32_t* ids_out, void* stream) const {
  const GroupLayers w{first_bundle_.data(), neuron_.data(), step_begin_.data(),
                      reinterpret_cast<const int4*>(line_.data()),
                      reinterpret_cast<const float4*>(weight_.data())};
  launch(sdnn_resident_groups, device_multiprocessors(), kGroupThreads,
         static_cast<std::size_t>(tiles_bytes(neurons_)), stream, w, first, last, Layout{neurons_, kPanel},
         source, counts, bias_, cap_, out, ids_out);
}

}  // namespace sdnn
}  // namespace plumb
