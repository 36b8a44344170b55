// Sparse DNN on the host: weights in the order in which a kernel reads them, and activations in the order in which a layer reads
// those. Separate from the pipeline, because it knows no rows.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "reference/models/sparse_dnn/sparse_dnn.hpp"

namespace plumb {

/// A layer for tiles of rows: neuron i of a tile is a line of `lanes` values, one for each row.
///
/// Order     neurons with the same inputs follow each other, so that those inputs are in L1 when they are read again. The edges of a
///           neuron keep their order, and so does its sum.
/// Edge      2 words of 4 bytes: where the line of its input begins, in pieces of 64 bytes, and the bits of the weight. As one number,
///           because a weight that comes from a general register costs no load of a vector.
/// Pairs     edges of two neurons alternate as far as both have some; then come the others of the longer one. Two neurons have twice
///           the independent sums that one has.
/// Blocks    of kSharers neurons with the same inputs: for each input the place of its line, and a weight of each neuron. A vector of
///           an input is loaded once for all of them, and the multiply-adds alone set the pace.
struct PackedLayer {
  static constexpr std::int32_t kSharers = 4;

  const std::uint32_t* edges = nullptr;
  std::vector<std::int32_t> degrees;  // (neurons) in the order of this layer
  std::vector<std::int32_t>
      to;  // (neurons) likewise: where the line of its value begins, in pieces of 64 bytes
  std::vector<std::uint8_t>
      blocks;  // (neurons) likewise: 1 where a block begins; what is in none is of a pair
};

/// All layers of a network that is held. Lines lie in the order in which the next layer first reads them; after the last
/// layer in the order of the neurons.
class PackedLayers {
 public:
  /// `lanes`: a multiple of 16. Reads every edge twice, on all threads.
  PackedLayers(const SparseDnn& net, std::int64_t lanes);

  [[nodiscard]] const PackedLayer& layer(std::int64_t l) const {
    return layers_[static_cast<std::size_t>(l)];
  }
  /// (neurons): the line of each neuron in what enters layer l, or in what leaves the last one.
  [[nodiscard]] const std::vector<std::int32_t>& lines(std::int64_t l) const {
    return lines_[static_cast<std::size_t>(l)];
  }
  /// Bytes that a layer of so many edges takes.
  [[nodiscard]] static std::int64_t bytes_of_layer(std::int64_t neurons, std::int64_t edges) {
    constexpr std::int64_t kPerEdge = 8, kPerNeuron = 4 * 4, kPerLayer = 256;
    return kPerEdge * edges + kPerNeuron * neurons + kPerLayer;
  }
  /// Bytes that a thread needs to pack a layer.
  [[nodiscard]] static std::int64_t bytes_of_thread(std::int64_t neurons) { return 64 * neurons; }

 private:
  void pack(const Csr<float>& w, std::size_t l, const std::vector<std::int32_t>& order, std::int32_t pieces,
            std::uint32_t* edges);

  std::vector<PackedLayer> layers_;
  std::vector<std::vector<std::int32_t>> lines_;  // (layers + 1, neurons)
  std::unique_ptr<std::uint32_t[]> edges_;        // of all layers: what is read ahead of one is the next
};

}  // namespace plumb
