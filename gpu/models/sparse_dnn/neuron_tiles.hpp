// A layer's weights as the tuned pipelines read them: 32 output neurons at a time, one lane each, their edges
// in chunks of 8. Host code that runs once per network; it decides the order of neurons and edges.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "reference/core/matrix.hpp"

namespace plumb {
namespace sdnn {

constexpr int kLanes = 32;  // neurons of a neuron tile
constexpr int kChunk = 8;   // edges of a lane that are loaded together
constexpr int kLines = 64;  // input neurons that a warp holds at once

/// Input neurons held at once, and the chunks of edges that read them.
struct Stage {
  std::int32_t feature_begin, features;
  std::int32_t chunk_begin, chunks;
};

/// Edges hold the line of shared memory in which their input lies; line kLines holds zeros, for padding.
struct StagedNeuronTiles {
  std::vector<std::int32_t> neuron;       // (neuron tiles, 32): the lane's output neuron, -1: none
  std::vector<std::int32_t> stage_begin;  // (neuron tiles + 1)
  std::vector<Stage> stages;
  std::vector<std::int32_t> feature;  // of all stages: input neurons
  std::vector<std::uint8_t> line;     // (chunks, 32, 8)
  std::vector<float> value;           // (chunks, 2, 32, 4)

  [[nodiscard]] std::int64_t neuron_tiles() const {
    return static_cast<std::int64_t>(neuron.size()) / kLanes;
  }
};

/// Places neurons with the same inputs side by side, then those that share some, so that a neuron tile has
/// few inputs. Any CSR works: a tile of neurons that share no input has more stages.
[[nodiscard]] StagedNeuronTiles staged_neuron_tiles(const Csr<float>& gather);

/// Edges hold the number of the input neuron; all of them lie in shared memory. Neuron `gather.cols` is a
/// line of zeros, for padding.
struct WholeRowNeuronTiles {
  std::vector<std::int32_t> neuron;       // (neuron tiles, 32), -1: none
  std::vector<std::int32_t> chunk_begin;  // (neuron tiles + 1)
  std::vector<std::uint16_t> line;        // (chunks, 32, 8)
  std::vector<float> value;               // (chunks, 2, 32, 4)
};

/// Lanes i and i + 4 of a group of eight read inputs of opposite parity wherever their edges allow it. With
/// lines of 64 bytes, two lanes that read the same 16 bytes of their lines then use different banks.
[[nodiscard]] WholeRowNeuronTiles whole_row_neuron_tiles(const Csr<float>& gather);

constexpr int kGroup = 16;  // neurons of a group

/// Neurons with exactly the same inputs, 16 at a time: their weights are dense blocks.
struct SharedGroups {
  std::vector<std::int32_t> neuron;       // (groups, 16), -1: none
  std::vector<std::int32_t> input_begin;  // (groups + 1)
  std::vector<std::int32_t> input;        // of all groups
  std::vector<float> weight;              // (inputs of all groups, 16); weights of repeated edges added up

  [[nodiscard]] std::int64_t groups() const { return static_cast<std::int64_t>(neuron.size()) / kGroup; }
};

/// The groups of a layer, found by comparing inputs. A neuron that shares its inputs with no other is a group
/// of one.
[[nodiscard]] SharedGroups shared_groups(const Csr<float>& gather);

constexpr int kGroupsPerWarp = 8;  // groups that a warp computes at once
constexpr int kInputsPerStep = 2;  // inputs of a step
constexpr int kStepsPerCopy = 2;   // steps that one copy fetches
constexpr int kGroupWarps = 8;     // of a block

/// What a warp needs for kInputsPerStep inputs of kGroupsPerWarp groups, as one piece of memory.
struct GroupStep {
  std::int32_t line[kGroupsPerWarp][kInputsPerStep];
  float weight[kInputsPerStep][2][kGroupsPerWarp][2]
              [4];  // input, quarter of the half, group, half of its neurons, neuron
};
static_assert(sizeof(GroupStep) == 4 * kGroupsPerWarp * kInputsPerStep * (1 + kGroup) &&
              sizeof(GroupStep) % 16 == 0);

/// Such groups for tiles in shared memory, dealt to the warps of a block. Groups 0 and 1 of four read inputs
/// of opposite parity to groups 2 and 3 where they can, as in WholeRowNeuronTiles. Missing inputs read line
/// `gather.cols`, with weights 0.
struct GroupNeuronTiles {
  std::vector<std::int32_t>
      neuron;  // (neuron tiles, kGroupsPerWarp, kGroup), -1: none; neuron tiles in turn to the warps
  std::vector<std::int32_t> steps;           // (neuron tiles): multiples of kStepsPerCopy
  std::vector<GroupStep> step[kGroupWarps];  // of a warp's neuron tiles, one after another

  [[nodiscard]] std::int64_t neuron_tiles() const { return static_cast<std::int64_t>(steps.size()); }
};

[[nodiscard]] GroupNeuronTiles group_neuron_tiles(const Csr<float>& gather);

/// work(i) for i in [0, count), on all the host's threads. Errors: the first that a call throws, after all.
void make_in_parallel(std::int64_t count, const std::function<void(std::int64_t)>& work);

}  // namespace sdnn
}  // namespace plumb
