// Whole rows on chip: tiles of rows with all their neurons in shared memory, carried through several layers
// without access to global memory. For networks of up to 1024 neurons.
#pragma once
#include "gpu/models/sparse_dnn/lane_gather.hpp"

namespace plumb {
namespace sdnn {

constexpr Index kWholeRowNeurons = 1024;
constexpr Index kTileRows = 16;

/// Layers of neuron tiles in device memory; all have the same number of neuron tiles.
struct WholeRowLayers {
  int neuron_tiles;
  const std::int32_t* neuron;       // (layers, neuron tiles, 32)
  const std::int32_t* chunk_begin;  // (layers, neuron tiles + 1), each layer's from 0
  const Index* first_chunk;         // (layers)
  const uint4* line;                // (chunks, 32): 8 edges each
  const float4* value;              // (chunks, 2, 32)
};

/// Layers of groups of neurons with the same inputs, kGroupsPerWarp side by side, in device memory. All
/// layers have the same number of neuron tiles, which are dealt to the block's warps in turn. A warp's steps
/// of all layers are contiguous.
struct GroupLayers {
  Index layers;
  int neuron_tiles;
  const std::int32_t* neuron;      // (layers, neuron tiles, kGroupsPerWarp, kGroup)
  const std::int32_t* steps;       // (layers, neuron tiles)
  const std::int32_t* step_begin;  // (kGroupWarps, layers + 1)
  const GroupStep* step;
};

/// Where tiles come from: rows side by side in panels, or the inputs themselves, whose columns are distinct.
struct TileSource {
  const std::int32_t* rows;  // how many there are
  const float* y;            // panels of 32 rows; null: the inputs
  const std::int32_t* ids;   // of the rows; null: they count from 0
  const std::int32_t* row_ptr;
  const std::int32_t* col;
  const float* val;
};

/// How many tiles there are per multiprocessor: the launch is shaped for it. Any number gives correct
/// results.
enum class Tiles { many, few };

/// Appends the thread's share of a tile's `row` to rows that start at `to`. All loads come first, so that
/// their latencies overlap.
PLUMB_DEVICE void write_row(const float* words /* (neurons, kTileRows) */, int row, int neurons, float* to) {
  constexpr int kBatch = 8;
  const int step = static_cast<int>(blockDim.x) / kTileRows;
  int f = static_cast<int>(threadIdx.x) / kTileRows;
  for (; f + (kBatch - 1) * step < neurons; f += kBatch * step) {
    float y[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) y[i] = words[(f + i * step) * kTileRows + row];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) to[(f + i * step) * kPanel] = y[i];
  }
  for (; f < neurons; f += step) to[f * kPanel] = words[f * kTileRows + row];
}

/// Some of the entries that a thread adds to a tile: those at, at + step ... below end.
template <int kBatch>
struct Entries {
  std::int32_t col[kBatch];
  float val[kBatch];
  PLUMB_DEVICE void fetch(const TileSource& source, Index at, Index step, Index end) {
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      col[i] = at + i * step < end ? __ldg(source.col + at + i * step) : -1;
      val[i] = at + i * step < end ? __ldg(source.val + at + i * step) : 0.0f;
    }
  }
  /// Returns whether there was a non-zero.
  PLUMB_DEVICE bool put(float* words /* (neurons, kTileRows) */, int row) const {
    bool any = false;
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      if (col[i] < 0) continue;
      words[col[i] * kTileRows + row] = val[i];
      any |= val[i] != 0;
    }
    return any;
  }
};

/// A network's layers, for tiles of whole rows.
class WholeRowKernels {
 public:
  WholeRowKernels() = default;
  WholeRowKernels(const WholeRowKernels&) = delete;
  WholeRowKernels& operator=(const WholeRowKernels&) = delete;
  virtual ~WholeRowKernels() = default;

  /// Carries rows through layers [first, last) in tiles of kTileRows. counts[i], 0 before, becomes the number
  /// of rows that enter layer first + i; i is 0 only if the source is the inputs. Rows active after the last
  /// layer are appended to `out`, side by side in panels, their ids to `ids_out`, in any order.
  virtual void run(Index first, Index last, Tiles tiles, const TileSource& source, std::int32_t* counts,
                   float* out, std::int32_t* ids_out, void* stream) const = 0;
  /// Bytes of device memory that the weights take.
  [[nodiscard]] virtual Index device_bytes() const = 0;
};

/// general (A): every edge separately.
class WholeRowNet final : public WholeRowKernels {
 public:
  /// Whether a tile of rows of so many neurons fits the chip.
  [[nodiscard]] static bool fits(Index neurons, const DeviceLimits& limits);
  /// device_bytes() of a network.
  [[nodiscard]] static Index bytes_for(const SparseDnn& net);

  WholeRowNet(const SparseDnn& net, void* stream);
  void run(Index first, Index last, Tiles tiles, const TileSource& source, std::int32_t* counts, float* out,
           std::int32_t* ids_out, void* stream) const override;
  [[nodiscard]] Index device_bytes() const override {
    return neuron_.bytes() + chunk_begin_.bytes() + first_chunk_.bytes() + line_.bytes() + value_.bytes();
  }

 private:
  Index neurons_;
  float bias_, cap_;
  int neuron_tiles_;
  DeviceArray<std::int32_t> neuron_, chunk_begin_;
  DeviceArray<Index> first_chunk_;
  DeviceArray<std::uint16_t> line_;
  DeviceArray<float> value_;
};

/// shared_inputs (B): neurons with the same inputs together.
class WholeRowGroups final : public WholeRowKernels {
 public:
  [[nodiscard]] static bool fits(Index neurons, const DeviceLimits& limits);
  [[nodiscard]] static Index bytes_for(const SparseDnn& net);

  WholeRowGroups(const SparseDnn& net, void* stream);
  void run(Index first, Index last, Tiles tiles, const TileSource& source, std::int32_t* counts, float* out,
           std::int32_t* ids_out, void* stream) const override;
  [[nodiscard]] Index device_bytes() const override {
    return neuron_.bytes() + steps_.bytes() + step_begin_.bytes() + step_.bytes();
  }

 private:
  Index neurons_;
  float bias_, cap_;
  Index layers_;
  int neuron_tiles_ = 0;
  DeviceArray<std::int32_t> neuron_, steps_, step_begin_;
  DeviceArray<GroupStep> step_;
};

}  // namespace sdnn
}  // namespace plumb
