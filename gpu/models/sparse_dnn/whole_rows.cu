// Sparse DNN on the device: tiles of whole rows in shared memory, several layers per launch.
//
// Idea      a block holds a tile of 16 rows (64 KiB at 1024 neurons). Lanes gather from it, keep their sums
//           in registers until all have read, and overwrite it: two barriers separate layers. Rows that are
//           active after the last layer of a launch are appended to the rows of the next. While there are
//           many tiles, two blocks of 256 threads share a multiprocessor, so that one computes while the
//           other waits for its rows; once there is one tile per multiprocessor, one block of 512 threads
//           takes it.
// Traffic   shared memory: 4 bytes per edge and row, and 6 bytes of edge per 16 rows, from L2. Global memory:
//           each row is read and written once per launch.
// Limits    shared memory at 128 bytes a cycle and multiprocessor: 8.4 us a layer for a full tile.
// Fails at  more than 1024 neurons: the sums of a wider layer do not fit the registers.
#include "gpu/models/sparse_dnn/whole_rows.hpp"

#include <algorithm>

namespace plumb {
namespace sdnn {
namespace {

constexpr int kParts = kTileRows / 4;  // 16-byte parts of a line

/// Chunks of a warp's neuron tile in one layer.
struct Range {
  Index begin, end;
};

PLUMB_DEVICE Range chunks_of(const WholeRowLayers& w, Index layer, int neuron_tile) {
  if (neuron_tile >= w.neuron_tiles) return {0, 0};
  const std::int32_t* const begin = w.chunk_begin + layer * (w.neuron_tiles + 1) + neuron_tile;
  return {w.first_chunk[layer] + begin[0], w.first_chunk[layer] + begin[1]};
}

/// Fills the tile with rows [r0, r0 + kTileRows) of the source; rows from `rows` on are zeros. Sets the bits
/// of inputs with a non-zero in `active_inputs`, which is 0 before. Ends in a barrier.
PLUMB_DEVICE void fill_tile(const TileSource& source, const Layout& layout, Index r0, Index rows,
                            float4* lines /* (neurons + 1, kParts) */, unsigned* active_inputs) {
  float* const words = reinterpret_cast<float*>(lines);
  const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int neurons = static_cast<int>(layout.neurons);
  if (source.y == nullptr) {
    for (int i = t; i < neurons * kParts; i += threads) lines[i] = {0, 0, 0, 0};
    __syncthreads();
    const int per_row = threads / kTileRows, row = t / per_row;  // threads are a multiple of 32
    if (r0 + row < rows) {
      bool any = false;
      const Index end = source.row_ptr[r0 + row + 1];
      Entries<8> some;
      for (Index k = source.row_ptr[r0 + row] + t % per_row; k < end; k += 8 * per_row) {
        some.fetch(source, k, per_row, end);
        any |= some.put(words, row);
      }
      if (any) atomicOr(active_inputs, 1u << row);
    }
  } else if (r0 + kTileRows <= rows) {
    const float* const from = source.y + layout.row(r0);
    for (int i = t; i < neurons * kParts; i += threads)
      cp_async16(lines + i, from + i / kParts * kPanel + i % kParts * 4);
    cp_async_commit();
    cp_async_wait_all();
  } else {
    const int row = t % kTileRows;
    const float* const from = source.y + layout.row(r0 + row < rows ? r0 + row : r0);
    for (int f = t / kTileRows; f < neurons; f += threads / kTileRows)
      words[f * kTileRows + row] = r0 + row < rows ? from[f * kPanel] : 0.0f;
  }
  __syncthreads();
}

// A lane has the neurons of neuron tiles warp, warp + warps ...
// kAhead: the next chunk is fetched across neurons, barriers and layers. It pays where a tile has many layers
// to run, and where there are registers for it.
template <int kThreads, int kBlocks, bool kAhead>
__global__ void __launch_bounds__(kThreads, kBlocks)
    sdnn_whole_row_layers(WholeRowLayers w, Index first, Index last, Layout layout, TileSource source,
                          std::int32_t* counts, float bias, float cap, float* out, std::int32_t* ids_out) {
  constexpr int kSlots = static_cast<int>(kWholeRowNeurons) / kThreads;  // neurons of a lane, at most
  PLUMB_DYNAMIC_SHARED(float4, lines);                                   // (neurons + 1, kParts)
  __shared__ unsigned active_bits[2], active_inputs;
  __shared__ std::int32_t base;
  float* const words = reinterpret_cast<float*>(lines);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int warps = static_cast<int>(blockDim.x) / 32, neurons = static_cast<int>(layout.neurons);
  const Index rows = *source.rows;
  if (threadIdx.x < kTileRows) words[neurons * kTileRows + static_cast<int>(threadIdx.x)] = 0;
  if (threadIdx.x == 0) active_bits[0] = active_bits[1] = active_inputs = 0;
  for (Index r0 = static_cast<Index>(blockIdx.x) * kTileRows; r0 < rows;
       r0 += static_cast<Index>(gridDim.x) * kTileRows) {
    Range range = chunks_of(w, first, warp);
    Chunk<uint4> ahead = {};
    if (kAhead && range.begin < range.end) ahead = load_chunk(w.line, w.value, range.begin, lane);
    __syncthreads();  // the tile before is written out
    fill_tile(source, layout, r0, rows, lines, &active_inputs);
    unsigned active = 0;
    for (Index l = first; l < last; ++l) {
      float4 result[kSlots][kParts];
      unsigned bits = 0;
#pragma unroll
      for (int k = 0; k < kSlots; ++k) {
        const bool last_slot = k + 1 == kSlots;
        const Range next = !last_slot     ? chunks_of(w, l, warp + (k + 1) * warps)
                           : l + 1 < last ? chunks_of(w, l + 1, warp)
                                          : Range{0, 0};
        float4 sum[kParts];
#pragma unroll
        for (int t = 0; t < kParts; ++t) sum[t] = {0, 0, 0, 0};
        if (kAhead && range.begin >= range.end && next.begin < next.end)
          ahead = load_chunk(w.line, w.value, next.begin, lane);
        for (Index c = range.begin; c < range.end; ++c) {
          if (kAhead) {
            const Chunk<uint4> chunk = ahead;
            const Index then = c + 1 < range.end ? c + 1 : next.begin;
            if (c + 1 < range.end || next.begin < next.end) ahead = load_chunk(w.line, w.value, then, lane);
            gather_chunk<kParts>(chunk, lines, lane, sum);
          } else {
            gather_chunk<kParts>(load_chunk(w.line, w.value, c, lane), lines, lane, sum);
          }
        }
        range = next;
#pragma unroll
        for (int t = 0; t < kParts; ++t) {
          result[k][t] = activate4(sum[t], bias, cap);
          bits |= nonzeros(result[k][t]) << (4 * part_of<kParts>(lane, t));
        }
      }
      bits = __reduce_or_sync(kAllLanes, bits);
      if (lane == 0 && bits != 0) atomicOr(&active_bits[l & 1], bits);
      __syncthreads();  // all lines have been read, all bits set
#pragma unroll
      for (int k = 0; k < kSlots; ++k) {
        const int neuron_tile = warp + k * warps;
        const std::int32_t j =
            neuron_tile < w.neuron_tiles ? w.neuron[(l * w.neuron_tiles + neuron_tile) * kLanes + lane] : -1;
        if (j >= 0) {
#pragma unroll
          for (int t = 0; t < kParts; ++t) lines[j * kParts + part_of<kParts>(lane, t)] = result[k][t];
        }
      }
      active = active_bits[l & 1];
      if (threadIdx.x == 0) {
        active_bits[(l + 1) & 1] = 0;
        if (active != 0) {
          const std::int32_t before = atomicAdd(counts + (l - first + 1), __popc(active));
          if (l + 1 == last) base = before;
        }
      }
      __syncthreads();
      if (active == 0) break;
    }
    if (threadIdx.x == 0) {  // set again when the next tile is filled
      if (active_inputs != 0) atomicAdd(counts, __popc(active_inputs));
      active_bits[0] = active_bits[1] = active_inputs = 0;
    }
    const int row = static_cast<int>(threadIdx.x) % kTileRows;
    if ((active >> row & 1u) != 0) {
      const Index to = base + __popc(active & ((1u << row) - 1));
      write_row(words, row, neurons, out + layout.row(to));
      if (threadIdx.x < kTileRows)
        ids_out[to] = source.ids != nullptr ? source.ids[r0 + row] : static_cast<std::int32_t>(r0 + row);
    }
  }
}

Index tile_bytes(Index neurons) { return (neurons + 1) * kTileRows * 4; }

Index bytes_of(const std::vector<WholeRowNeuronTiles>& parts) {
  Index bytes = 0;
  for (const WholeRowNeuronTiles& b : parts) {
    bytes += static_cast<Index>(4 * (b.neuron.size() + b.chunk_begin.size() + b.value.size()) +
                                2 * b.line.size() + sizeof(Index));
  }
  return bytes;
}

}  // namespace

bool WholeRowNet::fits(Index neurons, const DeviceLimits& limits) {
  return neurons > 0 && neurons <= kWholeRowNeurons && tile_bytes(neurons) + 64 <= limits.shared_bytes;
}

Index WholeRowNet::bytes_for(const SparseDnn& net) {
  return bytes_of(make_parts<WholeRowNeuronTiles>(net, whole_row_neuron_tiles));
}

WholeRowNet::WholeRowNet(const SparseDnn& net, void* stream)
    : neurons_(net.neurons),
      bias_(net.bias),
      cap_(net.cap),
      neuron_tiles_(static_cast<int>(ceil_div(net.neurons, kLanes))) {
  const auto parts = make_parts<WholeRowNeuronTiles>(net, whole_row_neuron_tiles);
  std::vector<Index> first;
  Index chunks = 0;
  for (const WholeRowNeuronTiles& b : parts) {
    first.push_back(chunks);
    chunks += b.chunk_begin.back();
  }
  require_device_memory(bytes_of(parts),
                        "sparse DNN: weights of " + std::to_string(net.layers()) + " layers");
  neuron_ = concatenate<std::int32_t>(
      parts, "neuron tiles, neurons", stream, [](const WholeRowNeuronTiles& b) -> auto& { return b.neuron; });
  chunk_begin_ = concatenate<std::int32_t>(
      parts, "neuron tiles, chunks", stream,
      [](const WholeRowNeuronTiles& b) -> auto& { return b.chunk_begin; });
  first_chunk_ = DeviceArray<Index>(first, "layers, chunks", stream);
  line_ = concatenate<std::uint16_t>(
      parts, "edges, lines", stream, [](const WholeRowNeuronTiles& b) -> auto& { return b.line; });
  value_ = concatenate<float>(
      parts, "edges, values", stream, [](const WholeRowNeuronTiles& b) -> auto& { return b.value; });
}

void WholeRowNet::run(Index first, Index last, Tiles tiles, const TileSource& source, std::int32_t* counts,
                      float* out, std::int32_t* ids_out, void* stream) const {
  const WholeRowLayers w{neuron_tiles_,
                         neuron_.data(),
                         chunk_begin_.data(),
                         first_chunk_.data(),
                         reinterpret_cast<const uint4*>(line_.data()),
                         reinterpret_cast<const float4*>(value_.data())};
  const bool many = tiles == Tiles::many;
  const auto kernel = many ? sdnn_whole_row_layers<256, 2, false> : sdnn_whole_row_layers<512, 1, true>;
  const int threads = std::min(neuron_tiles_ * kLanes, many ? 256 : 512);
  launch(kernel, device_multiprocessors() * (many ? 2 : 1), threads,
         static_cast<std::size_t>(tile_bytes(neurons_)), stream, w, first, last, Layout{neurons_, kPanel},
         source, counts, bias_, cap_, out, ids_out);
}

}  // namespace sdnn
}  // namespace plumb
