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
constexpr int kResidentThreads = 512;

/// Chunks of a warp's bundle in one layer.
struct Range {
  std::int32_t begin, end;
};

PLUMB_DEVICE Range chunks_of(const ResidentLayers& w, Index layer, int bundle) {
  if (bundle >= w.bundles) return {0, 0};
  const std::int32_t* const begin = w.chunk_begin + layer * (w.bundles + 1) + bundle;
  return {__ldg(begin), __ldg(begin + 1)};
}

/// Asks for a block's share of a layer's edges, which all blocks will want at once.
PLUMB_DEVICE void bring_layer(const ResidentLayers& w, Index layer) {
  constexpr Index kLine = 128;
  const std::int32_t* const at = w.chunk_begin + layer * (w.bundles + 1);
  const Index begin = __ldg(at), chunks = __ldg(at + w.bundles) - begin;
  const Index lines = chunks * (kLanes * kChunk * 2 / kLine), values = 2 * lines;
  for (Index i = blockIdx.x + static_cast<Index>(gridDim.x) * threadIdx.x; i < lines + values;
       i += static_cast<Index>(gridDim.x) * blockDim.x) {
    prefetch_l2(i < lines ? reinterpret_cast<const char*>(w.line + begin * kLanes) + i * kLine
                          : reinterpret_cast<const char*>(w.value + begin * 2 * kLanes) + (i - lines) * kLine);
  }
}

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

// A lane has the neurons of bundles warp, warp + warps ...; the next chunk of edges is under way across neurons,
// barriers, layers and tiles.
__global__ void __launch_bounds__(kResidentThreads, 1)
    sdnn_resident_layers(ResidentLayers w, Index first, Index last, Layout layout, TileSource source,
                         std::int32_t* counts, float bias, float cap, float* out, std::int32_t* ids_out) {
  PLUMB_DYNAMIC_SHARED(float4, tiles);  // kTiles of (neurons + 1, kParts)
  __shared__ unsigned alive[3], living_inputs[2];
  __shared__ std::int32_t base;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int warps = static_cast<int>(blockDim.x) / 32, neurons = static_cast<int>(layout.neurons);
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
  Range range = chunks_of(w, first, warp);
  Chunk<uint4> ahead = {};
  if (range.begin < range.end) ahead = load_chunk(w.line, w.value, range.begin, lane);
  __syncthreads();
  finish_tile(source, lines, early, &living_inputs[0]);
  __syncthreads();
  int at = 0;  // which of `alive`: one further with every layer
  for (int tile = 0;; ++tile) {
    if (r0 + stride < rows) begin_tile(source, layout, r0 + stride, rows, coming, early);
    unsigned living = 0;
    for (Index l = first; l < last; ++l) {
      if (l + 1 < last && tile == 0) bring_layer(w, l + 1);
      unsigned bits = 0;
      for (int bundle = warp; bundle < w.bundles; bundle += warps) {
        const std::int32_t j = __ldg(w.neuron + (l * w.bundles + bundle) * kLanes + lane);
        const Range next = bundle + warps < w.bundles ? chunks_of(w, l, bundle + warps)
                                                      : chunks_of(w, l + 1 < last ? l + 1 : first, warp);
        float4 sum[kParts];
#pragma unroll
        for (int t = 0; t < kParts; ++t) sum[t] = {0, 0, 0, 0};
        if (range.begin >= range.end && next.begin < next.end)
          ahead = load_chunk(w.line, w.value, next.begin, lane);
        // Two chunks by turns: were it one, the compiler would fetch the next only when this one has been used.
        const std::int32_t beyond = next.begin < next.end ? next.begin : range.begin;
        for (std::int32_t c = range.begin; c < range.end; c += 2) {
          const Chunk<uint4> second = load_chunk(w.line, w.value, c + 1 < range.end ? c + 1 : beyond, lane);
          gather_chunk<kParts>(ahead, lines, lane, sum);
          if (c + 1 == range.end) {
            ahead = second;
            break;
          }
          ahead = load_chunk(w.line, w.value, c + 2 < range.end ? c + 2 : beyond, lane);
          gather_chunk<kParts>(second, lines, lane, sum);
        }
        range = next;
        if (j >= 0) {
#pragma unroll
          for (int t = 0; t < kParts; ++t) {
            const int part = part_of<kParts>(lane, t);
            const float4 y = activate4(sum[t], bias, cap);
            bits |= nonzeros(y) << (4 * part);
            other[j * kParts + part] = y;
          }
        }
      }
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
        if (l + 1 < last) {
          range = chunks_of(w, first, warp);
          if (range.begin < range.end) ahead = load_chunk(w.line, w.value, range.begin, lane);
        }
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

ResidentNet::ResidentNet(const SparseDnn& net, void* stream)
    : neurons_(net.neurons),
      bias_(net.bias),
      cap_(net.cap),
      bundles_(static_cast<int>(ceil_div(net.neurons, kLanes))) {
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

void ResidentNet::run(Index first, Index last, const TileSource& source, std::int32_t* counts,
                      float* out, std::int32_t* ids_out, void* stream) const {
  const ResidentLayers w{bundles_,
                         neuron_.data(),
                         chunk_begin_.data(),
                         reinterpret_cast<const uint4*>(line_.data()),
                         reinterpret_cast<const float4*>(value_.data())};
  launch(sdnn_resident_layers, device_multiprocessors(), std::min(bundles_ * kLanes, kResidentThreads),
         static_cast<std::size_t>(kTiles * tile_bytes(neurons_)), stream, w, first, last,
         Layout{neurons_, kPanel}, source, counts, bias_, cap_, out, ids_out);
}

}  // namespace sdnn
}  // namespace plumb
