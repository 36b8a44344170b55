// Whole rows on chip: tiles of rows whose every neuron lies in shared memory, carried through layers without
// touching global memory. For networks of up to 1024 neurons.
#pragma once
#include "gpu/models/sparse_dnn/lines.hpp"

namespace plumb {
namespace sdnn {

constexpr Index kResidentNeurons = 1024;
constexpr Index kTileRows = 16;

/// Layers of resident bundles in device memory; all have the same number of bundles.
struct ResidentLayers {
  int bundles;
  const std::int32_t* neuron;       // (layers, bundles, 32)
  const std::int32_t* chunk_begin;  // (layers, bundles + 1), each layer's from 0
  const Index* first_chunk;         // (layers)
  const uint4* line;                // (chunks, 32): 8 edges each
  const float4* value;              // (chunks, 2, 32)
};

/// Layers of groups of neurons with the same inputs, kTogether side by side, in device memory.
struct GroupLayers {
  const std::int32_t* first_bundle;  // (layers + 1)
  const std::int32_t* neuron;        // (bundles, kTogether, kGroup)
  const std::int32_t* step_begin;    // (bundles + 1)
  const int4* line;                  // (steps, kTogether): kAtOnce lines
  const float4* weight;              // (steps, kAtOnce, kGroup / 4, kTogether)
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

/// How many tiles there are for each multiprocessor: what the launch is shaped for. Any number is right.
enum class Tiles { many, one };

/// A network's layers, for tiles of whole rows.
class ResidentKernels {
 public:
  ResidentKernels() = default;
  ResidentKernels(const ResidentKernels&) = delete;
  ResidentKernels& operator=(const ResidentKernels&) = delete;
  virtual ~ResidentKernels() = default;

  /// Carries rows through layers [first, last) in tiles of kTileRows; counts[i], 0 before,
  /// becomes the number entering layer first + i, where i is 0 only if the source is the inputs. Survivors of
  /// the last layer are appended to `out`, side by side in panels, their ids to `ids_out`, in any order.
  virtual void run(Index first, Index last, Tiles tiles, const TileSource& source, std::int32_t* counts,
                   float* out, std::int32_t* ids_out, void* stream) const = 0;
};

/// Class A: every edge by itself.
class ResidentNet final : public ResidentKernels {
 public:
  /// Whether a tile fits the chip.
  [[nodiscard]] static bool fits(const SparseDnn& net);

  ResidentNet(const SparseDnn& net, void* stream);
  void run(Index first, Index last, Tiles tiles, const TileSource& source, std::int32_t* counts, float* out,
           std::int32_t* ids_out, void* stream) const override;

 private:
  Index neurons_;
  float bias_, cap_;
  int bundles_;
  DeviceArray<std::int32_t> neuron_, chunk_begin_;
  DeviceArray<Index> first_chunk_;
  DeviceArray<std::uint16_t> line_;
  DeviceArray<float> value_;
};

/// Class B: neurons with the same inputs together.
class ResidentGroups final : public ResidentKernels {
 public:
  [[nodiscard]] static bool fits(const SparseDnn& net);

  ResidentGroups(const SparseDnn& net, void* stream);
  void run(Index first, Index last, Tiles tiles, const TileSource& source, std::int32_t* counts, float* out,
           std::int32_t* ids_out, void* stream) const override;

 private:
  Index neurons_;
  float bias_, cap_;
  DeviceArray<std::int32_t> neuron_, step_begin_, first_bundle_, line_;
  DeviceArray<float> weight_;
};

}  // namespace sdnn
}  // namespace plumb
