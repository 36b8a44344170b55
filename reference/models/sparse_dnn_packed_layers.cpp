#include "reference/models/sparse_dnn_packed_layers.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>

namespace plumb {

namespace {

/// Equal for equal lists of inputs; where different ones collide, only the order of neurons suffers.
std::uint64_t hash_of_inputs(const Csr<float>& w, std::size_t j) {
  std::uint64_t h = 0;
  for (std::int32_t k = w.row_ptr[j]; k < w.row_ptr[j + 1]; ++k) {
    h = (h ^ static_cast<std::uint64_t>(w.col[static_cast<std::size_t>(k)])) * 0x9E3779B97F4A7C15U;
    h ^= h >> 32U;
  }
  return h;
}

/// Neurons, those with the same inputs behind the first of them.
std::vector<std::int32_t> visiting_order(const Csr<float>& w) {
  const auto n = static_cast<std::size_t>(w.rows);
  std::unordered_map<std::uint64_t, std::int32_t> group_of;
  std::vector<std::int32_t> group(n), begin{0};  // begin[g + 1]: at first how many neurons group g has
  for (std::size_t j = 0; j < n; ++j) {
    const auto [at, is_new] =
        group_of.try_emplace(hash_of_inputs(w, j), static_cast<std::int32_t>(group_of.size()));
    if (is_new) begin.push_back(0);
    group[j] = at->second;
    ++begin[static_cast<std::size_t>(group[j]) + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::int32_t> order(n);
  for (std::size_t j = 0; j < n; ++j)
    order[static_cast<std::size_t>(begin[static_cast<std::size_t>(group[j])]++)] =
        static_cast<std::int32_t>(j);
  return order;
}

/// The line of each neuron: first those that the layer reads, as it first reads them.
std::vector<std::int32_t> lines_as_read(const Csr<float>& w, const std::vector<std::int32_t>& order) {
  std::vector<std::int32_t> line(static_cast<std::size_t>(w.cols), -1);
  std::int32_t next = 0;
  const auto place = [&](std::int32_t& at) {
    if (at < 0) at = next++;
  };
  for (const std::int32_t j : order) {
    const auto i = static_cast<std::size_t>(j);
    for (std::int32_t k = w.row_ptr[i]; k < w.row_ptr[i + 1]; ++k)
      place(line[static_cast<std::size_t>(w.col[static_cast<std::size_t>(k)])]);
  }
  for (std::int32_t& at : line) place(at);
  return line;
}

}  // namespace

PackedLayers::PackedLayers(const SparseDnn& net, std::int64_t lanes)
    : layers_(net.gather.size()), lines_(net.gather.size() + 1) {
  const std::size_t layers = net.gather.size();
  std::vector<std::vector<std::int32_t>> orders(layers);
  std::vector<std::int64_t> first(layers + 1, 0);
  for (std::size_t l = 0; l < layers; ++l) first[l + 1] = first[l] + net.gather[l].nnz();
  edges_.reset(
      new std::uint64_t[static_cast<std::size_t>(first[layers])]);  // not set: threads touch it first
  lines_[layers].resize(static_cast<std::size_t>(net.neurons));
  std::iota(lines_[layers].begin(), lines_[layers].end(), 0);
#pragma omp parallel
  {
#pragma omp for schedule(dynamic)
    for (std::size_t l = 0; l < layers; ++l) {
      orders[l] = visiting_order(net.gather[l]);
      lines_[l] = lines_as_read(net.gather[l], orders[l]);
    }
#pragma omp for schedule(dynamic)
    for (std::size_t l = 0; l < layers; ++l)
      pack(net, l, orders[l], static_cast<std::int32_t>(lanes / 16), edges_.get() + first[l]);
  }
}

void PackedLayers::pack(const SparseDnn& net, std::size_t l, const std::vector<std::int32_t>& order,
                        std::int32_t pieces, std::uint64_t* edges) {
  const Csr<float>& w = net.gather[l];
  PackedLayer& layer = layers_[l];
  layer.edges = edges;
  for (const std::int32_t j : order) {
    const auto i = static_cast<std::size_t>(j);
    layer.degrees.push_back(w.row_ptr[i + 1] - w.row_ptr[i]);
    layer.to.push_back(lines_[l + 1][i] * pieces);
  }
  const auto edge = [&](std::int32_t k) {
    const auto e = static_cast<std::size_t>(k);
    const auto at = static_cast<std::uint32_t>(lines_[l][static_cast<std::size_t>(w.col[e])] * pieces);
    return at | std::uint64_t{std::bit_cast<std::uint32_t>(w.val[e])} << 32U;
  };
  for (std::size_t i = 0; i < order.size(); i += 2) {
    const std::size_t pair = std::min<std::size_t>(2, order.size() - i);
    for (std::int32_t k = 0; k < std::max(layer.degrees[i], layer.degrees[i + pair - 1]); ++k) {
      for (std::size_t r = i; r < i + pair; ++r) {
        if (k < layer.degrees[r]) *edges++ = edge(w.row_ptr[static_cast<std::size_t>(order[r])] + k);
      }
    }
  }
}

}  // namespace plumb
