// Sparse DNN on the device: tiles of whole rows in shared memory, several layers per launch.
//
// Idea      a block holds a tile of 16 rows (64 KiB at 1024 neurons). Lanes gather from it, keep their sums in
//           registers until all have read, and overwrite it: layers follow each other with two barriers between
//           them. Rows that survive the last layer of a launch are appended to the rows of the next. While there
//           are many tiles, two blocks of 256 threads share a multiprocessor, so that one computes while the
//           other waits for its rows; once there is a tile per multiprocessor, one block of 512 threads has it.
// Traffic   shared memory: 4 bytes per edge and row, and 6 bytes of edge per 16 rows, from L2. Global: a row in
//           and out per launch.
// Limits    shared memory at 128 bytes a cycle and multiprocessor: 8.4 us a layer for a full tile. H200: 11.6 us
//           (12.0 with 1024 threads, or before the next chunk was fetched across barriers); what is above is
//           the edges, which come through the same pipe. 1024 x 120: 3.0 ms; 3.1 where the many tiles have 32
//           rows and a multiprocessor each, which halves the edges but leaves nothing to do while a tile is filled.
// Fails at  more than 1024 neurons: the sums of a wider layer do not fit the registers.
#include "gpu/models/sparse_dnn/resident.hpp"

#include <algorithm>

#include "gpu/runtime/async_copy.hpp"

namespace plumb {
namespace sdnn {
namespace {

constexpr int kParts = kTileRows / 4;  // 16-byte parts of a line
constexpr int kTiles = 3;              // read, written, and under way

/// Chunks of a warp's bundle in one layer.
struct Range {
  std::int32_t begin, end;
};

PLUMB_DEVICE Range chunks_of(const ResidentLayers& w, Index layer, int bundle) {
  if (bundle >= w.bundles) return {0, 0};
  const std::int32_t* const begin = w.chunk_begin + layer * (w.bundles + 1) + bundle;
  return {__ldg(begin), __ldg(begin + 1)};
}

/// Asks for a block's share of some bytes, which all blocks will want at once.
PLUMB_DEVICE void bring(const void* at, Index bytes) {
  constexpr Index kLine = 128;
  for (Index i = blockIdx.x + static_cast<Index>(gridDim.x) * threadIdx.x; i * kLine < bytes;
       i += static_cast<Index>(gridDim.x) * blockDim.x)
    prefetch_l2(static_cast<const char*>(at) + i * kLine);
}

/// Class A: a lane is a neuron and reads a line for each of its edges. Lanes have the neurons of bundles
/// warp, warp + warps ...; the next chunk of edges is under way across neurons, barriers, layers and tiles.
class EveryEdge {
 public:
  using Layers = ResidentLayers;
  static constexpr int kThreads = 512;

  PLUMB_DEVICE EveryEdge(const ResidentLayers& w, Index first, int warp, int lane)
      : w_(w), warp_(warp), lane_(lane), warps_(static_cast<int>(blockDim.x) / 32) {
    restart(first);
  }
  PLUMB_DEVICE void restart(Index layer) {
    range_ = chunks_of(w_, layer, warp_);
    if (range_.begin < range_.end) ahead_ = load_chunk(w_.line, w_.value, range_.begin, lane_);
  }
  PLUMB_DEVICE void bring_layer(Index layer) const {
    const std::int32_t* const at = w_.chunk_begin + layer * (w_.bundles + 1);
    const Index begin = __ldg(at), chunks = __ldg(at + w_.bundles) - begin;
    bring(w_.line + begin * kLanes, chunks * kLanes * kChunk * 2);
    bring(w_.value + begin * 2 * kLanes, chunks * kLanes * kChunk * 4);
  }
  /// other = the layer's answer to lines; `next` is the layer that follows. Returns the bits of the lane's rows that
  /// are not 0.
  PLUMB_DEVICE unsigned run(Index l, Index next_layer, const float4* lines, float4* other, float bias, float cap) {
    unsigned bits = 0;
    for (int bundle = warp_; bundle < w_.bundles; bundle += warps_) {
      const std::int32_t j = __ldg(w_.neuron + (l * w_.bundles + bundle) * kLanes + lane_);
      const Range next = bundle + warps_ < w_.bundles ? chunks_of(w_, l, bundle + warps_)
                                                      : chunks_of(w_, next_layer, warp_);
      float4 sum[kParts];
#pragma unroll
      for (int t = 0; t < kParts; ++t) sum[t] = {0, 0, 0, 0};
      if (range_.begin >= range_.end && next.begin < next.end)
        ahead_ = load_chunk(w_.line, w_.value, next.begin, lane_);
      // Two chunks by turns: were it one, the compiler would fetch the next only when this one has been used.
      const std::int32_t beyond = next.begin < next.end ? next.begin : range_.begin;
      for (std::int32_t c = range_.begin; c < range_.end; c += 2) {
        const Chunk<uint4> second = load_chunk(w_.line, w_.value, c + 1 < range_.end ? c + 1 : beyond, lane_);
        gather_chunk<kParts>(ahead_, lines, lane_, sum);
        if (c + 1 == range_.end) {
          ahead_ = second;
          break;
        }
        ahead_ = load_chunk(w_.line, w_.value, c + 2 < range_.end ? c + 2 : beyond, lane_);
        gather_chunk<kParts>(second, lines, lane_, sum);
      }
      range_ = next;
      if (j >= 0) {
#pragma unroll
        for (int t = 0; t < kParts; ++t) {
          const int part = part_of<kParts>(lane_, t);
          const float4 y = activate4(sum[t], bias, cap);
          bits |= nonzeros(y) << (4 * part);
          other[j * kParts + part] = y;
        }
      }
    }
    return bits;
  }

 private:
  const ResidentLayers& w_;
  int warp_, lane_, warps_;
  Range range_ = {};
  Chunk<uint4> ahead_ = {};
};

/// Class B: a lane has 16 neurons with the same inputs and 4 rows, so that a line is read once for all 16; a warp
/// has 8 such groups and all 16 rows.
class EveryGroup {
 public:
  using Layers = GroupLayers;
  static constexpr int kThreads = 256;

  PLUMB_DEVICE EveryGroup(const GroupLayers& w, Index, int warp, int lane)
      : w_(w), warp_(warp), warps_(static_cast<int>(blockDim.x) / 32), group_(lane / kParts), part_(lane % kParts) {}
  PLUMB_DEVICE void restart(Index) {}
  PLUMB_DEVICE void bring_layer(Index layer) const {
    const Index begin = w_.step_begin[w_.first_bundle[layer]], end = w_.step_begin[w_.first_bundle[layer + 1]];
    bring(w_.line + begin * kTogether, (end - begin) * kTogether * 16);
    bring(w_.weight + begin * kWeights, (end - begin) * kWeights * 16);
  }
  PLUMB_DEVICE unsigned run(Index l, Index, const float4* lines, float4* other, float bias, float cap) {
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
      const std::int32_t* const neuron = w_.neuron + (static_cast<Index>(bundle) * kTogether + group_) * kGroup;
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
      for (int q = 0; q < kGroup / 4; ++q) step.weight[u][q] = __ldg(weight + (u * (kGroup / 4) + q) * kTogether);
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

// Any way of computing a layer of a tile: EveryEdge or EveryGroup.
template <class Way>
__global__ void __launch_bounds__(Way::kThreads, 1)
    sdnn_resident_layers(typename Way::Layers w, Index first, Index last, Layout layout, TileSource source,
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
  Way way(w, first, warp, lane);
  __syncthreads();
  finish_tile(source, lines, early, &living_inputs[0]);
  __syncthreads();
  int at = 0;  // which of `alive`: one further with every layer
  for (int tile = 0;; ++tile) {
    if (r0 + stride < rows) begin_tile(source, layout, r0 + stride, rows, coming, early);
    unsigned living = 0;
    for (Index l = first; l < last; ++l) {
      if (l + 1 < last && tile == 0) way.bring_layer(l + 1);
      unsigned bits = way.run(l, l + 1 < last ? l + 1 : first, lines, other, bias, cap);
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
      if (living == 0) {
        if (l + 1 < last) way.restart(first);
        break;
      }
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

Index tile_bytes(Index neurons) { return (neurons + 1) * kTileRows * 4; }

}  // namespace

bool ResidentNet::fits(const SparseDnn& net) {
  return net.neurons > 0 && net.neurons <= kResidentNeurons &&
         kTiles * tile_bytes(net.neurons) + 64 <= device_shared_bytes();
}

ResidentNet::ResidentNet(const SparseDnn& net, bool shared, void* stream)
    : neurons_(net.neurons),
      bias_(net.bias),
      cap_(net.cap),
      bundles_(static_cast<int>(ceil_div(net.neurons, kLanes))),
      shared_(shared) {
  if (shared) {
    take_groups(net, stream);
    return;
  }
  const auto parts = make_parts<ResidentBundles>(net, resident_bundles);
  std::vector<std::int32_t> begin;
  Index chunks = 0;
  for (const ResidentBundles& b : parts) {
    for (const std::int32_t c : b.chunk_begin) begin.push_back(static_cast<std::int32_t>(chunks + c));
    chunks += b.chunk_begin.back();
  }
  require_device_memory(chunks * kLanes * kChunk * 6,
                        "sparse DNN: weights of " + std::to_string(net.layers()) + " layers");
  neuron_ = concatenate<std::int32_t>(
      parts, "bundles, neurons", stream, [](const ResidentBundles& b) -> auto& { return b.neuron; });
  chunk_begin_ = DeviceArray<std::int32_t>(begin, "bundles, chunks", stream);
  line_ = concatenate<std::uint16_t>(
      parts, "edges, lines", stream, [](const ResidentBundles& b) -> auto& { return b.line; });
  value_ = concatenate<float>(
      parts, "edges, values", stream, [](const ResidentBundles& b) -> auto& { return b.value; });
}

void ResidentNet::take_groups(const SparseDnn& net, void* stream) {
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
  chunk_begin_ = DeviceArray<std::int32_t>(begin, "groups, steps", stream);
  first_bundle_ = DeviceArray<std::int32_t>(first, "layers, groups", stream);
  input_ = concatenate<std::int32_t>(
      parts, "groups, lines", stream, [](const GroupBundles& b) -> auto& { return b.line; });
  value_ = concatenate<float>(
      parts, "groups, weights", stream, [](const GroupBundles& b) -> auto& { return b.weight; });
}

void ResidentNet::run(Index first, Index last, const TileSource& source, std::int32_t* counts,
                      float* out, std::int32_t* ids_out, void* stream) const {
  const auto start = [&](auto kernel, int threads, const auto& w) {
    launch(kernel, device_multiprocessors(), threads, static_cast<std::size_t>(kTiles * tile_bytes(neurons_)), stream,
           w, first, last, Layout{neurons_, kPanel}, source, counts, bias_, cap_, out, ids_out);
  };
  if (shared_) {
    start(sdnn_resident_layers<EveryGroup>, EveryGroup::kThreads,
          GroupLayers{first_bundle_.data(), neuron_.data(), chunk_begin_.data(),
                      reinterpret_cast<const int4*>(input_.data()), reinterpret_cast<const float4*>(value_.data())});
  } else {
    start(sdnn_resident_layers<EveryEdge>, std::min(bundles_ * kLanes, EveryEdge::kThreads),
          ResidentLayers{bundles_, neuron_.data(), chunk_begin_.data(), reinterpret_cast<const uint4*>(line_.data()),
                         reinterpret_cast<const float4*>(value_.data())});
  }
}

}  // namespace sdnn
}  // namespace plumb
