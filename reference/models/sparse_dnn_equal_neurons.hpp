// Sparse DNN: neurons that have the same value in every row, found from the weights alone, so that one of them is computed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "reference/models/sparse_dnn.hpp"

namespace plumb {

/// Layers in which equal neurons are one.
///
/// Equal     are neurons of a layer whose inputs are equal, one after the other, with the same weights, bit for bit. Their sums have the
///           same terms in the same order, so their values have the same bits in every row. The network has one bias and one cap; a
///           bias of each neuron is a weight of the neuron that carries them (sparse_dnn_biases.cpp).
/// Inputs    are equal where they are one neuron, or equal neurons of the layer before; those of the first layer all differ. Repeated
///           inputs stay: one weight in place of several would round otherwise.
struct MergedLayers {
  const SparseDnn* net = nullptr;
  std::vector<std::int64_t>
      widths;  // (layers + 1): neurons that differ in what enters a layer, or leaves the last one
  std::vector<std::vector<std::int32_t>>
      place;  // (layers + 1, neurons): which of these each neuron is; the first of each ascend
  std::vector<std::optional<Csr<float>>> made;  // (layers): nothing where all neurons of a held layer differ

  /// (widths[l + 1], widths[l])
  [[nodiscard]] const Csr<float>& layer(std::size_t l) const { return made[l] ? *made[l] : net->gather[l]; }
  /// Bytes that a layer takes where all neurons but one differ.
  [[nodiscard]] static std::int64_t bytes_of_layer(std::int64_t neurons, std::int64_t edges) {
    return 8 * edges + 8 * neurons;
  }
  /// Bytes that finding takes beside the result.
  [[nodiscard]] static std::int64_t bytes_to_find(std::int64_t neurons) { return 64 * neurons; }
};

/// Compares hashes, and neurons of one hash with each other. `net` must outlive the result. Reads every edge twice, on all threads.
/// Of a source as many layers are held at a time as there are threads. `hash_bits`: how many of a hash's 64 are used; fewer cost time,
/// and change nothing else. Errors: those of the source.
[[nodiscard]] MergedLayers merge_equal_neurons(const SparseDnn& net, int hash_bits = 64);

/// A network whose neurons are the places of `merged`. Its first layer takes `entry` values, all others and its answer one for each of
/// `net.neurons`, the most places that a layer behind the first has. Layer l is (net.neurons, entry or net.neurons): places that it
/// lacks have no edge, so they are 0, and none is read.
struct PlacesNetwork {
  SparseDnn net;
  std::int64_t entry = 0;
};
/// Takes the layers that `merged` has made, and copies others.
[[nodiscard]] PlacesNetwork network_of_places(MergedLayers& merged);

/// Columns of `y` (rows, neurons) that are the first of their place, by the places: (rows, `places`). Entries keep their order.
[[nodiscard]] Csr<float> rows_by_place(const Csr<float>& y, const std::vector<std::int32_t>& place,
                                       std::int64_t places);
/// The reverse, for `y` with ascending columns: each neuron has the value of its place. Errors: more than 2^31 - 1 non-zeros.
[[nodiscard]] Csr<float> rows_by_neuron(const Csr<float>& y, const std::vector<std::int32_t>& place);

/// In every row of `y` neurons of one place have one value, bit for bit; those without an entry have 0.
[[nodiscard]] bool has_equal_values(const Csr<float>& y, const std::vector<std::int32_t>& place);

}  // namespace plumb
