// Sparse DNN on the host: tiles of rows, one layer of a tile, and active lanes of one tile brought into another. Separate from the
// pipeline, because it knows no network.
#pragma once
#include <cstdint>
#include <vector>

#include "reference/models/sparse_dnn/packed_layers.hpp"
#include "reference/models/sparse_dnn/parts.hpp"

namespace plumb::sdnn {

inline constexpr std::int64_t kGroup = 16;      // rows per vector
inline constexpr std::int64_t kMostLanes = 64;  // of a tile

/// Groups of lanes that hold so many rows.
[[nodiscard]] constexpr std::int64_t groups_for(std::int64_t rows) { return (rows + kGroup - 1) / kGroup; }

/// Some rows side by side: value of neuron i and lane r at [line of i * lanes + r]. Lanes of a group of 16 that hold no row are 0.
struct Tile {
  explicit Tile(std::int64_t floats) : values(floats) {}
  AlignedFloats values;          // (neurons, lanes)
  std::vector<std::int32_t> id;  // of each lane that holds a row: which of the inputs it is, 0-based
  std::uint64_t active = 0;      // bit r: the row of lane r is computed
};

/// out = activate(in W) for the first groups of lanes of a tile. Bit r of the result: lane r has a non-zero.
using TileKernel = std::uint64_t (*)(const PackedLayer& w, const float* in, float* out, float bias,
                                     float cap);
/// `groups`: 1 to 4. With a bias above 0 it is added only where a sum is not 0.
[[nodiscard]] TileKernel tile_kernel(std::int64_t groups, bool positive_bias);

/// Appends the active rows of `from` to those of `to`; those that it has no lane for begin `more`, which may be null where
/// there are none. All are (neurons, lanes).
void append_active(const Tile& from, std::int64_t neurons, std::int64_t lanes, Tile& to, Tile* more);

/// Bytes that a plan of cache_blocked takes at most for layers that are held, beside the network and rows: tiles of all
/// threads, the layers packed, and what packing takes; of a network with `biases` also the one with the neuron that carries
/// them. sparse_dnn/cache_blocked.cpp.
[[nodiscard]] std::int64_t cache_blocked_bytes(const SparseDnn& net);

}  // namespace plumb::sdnn
