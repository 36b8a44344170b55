#include "reference/models/sparse_dnn/packed_layers.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>

#include <sys/mman.h>

namespace plumb {

namespace {

const std::int32_t* inputs_of(const Csr<float>& w, std::int32_t j) {
  return w.col.data() + w.row_ptr[static_cast<std::size_t>(j)];
}
std::int32_t degree_of(const Csr<float>& w, std::int32_t j) {
  const auto i = static_cast<std::size_t>(j);
  return w.row_ptr[i + 1] - w.row_ptr[i];
}
bool same_inputs(const Csr<float>& w, std::int32_t a, std::int32_t b) {
  const std::int32_t degree = degree_of(w, a);
  return degree == degree_of(w, b) && std::equal(inputs_of(w, a), inputs_of(w, a) + degree, inputs_of(w, b));
}

/// Equal for equal lists of inputs; where different ones collide, only the order of neurons suffers.
std::uint64_t hash_of_inputs(const Csr<float>& w, std::int32_t j) {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15U;
  const std::int32_t* const inputs = inputs_of(w, j);
  const std::int32_t degree = degree_of(w, j);
  std::uint64_t h = static_cast<std::uint64_t>(degree);
  for (std::int32_t k = 0; k < degree; k += 2) {
    const std::uint64_t second = k + 1 < degree ? static_cast<std::uint32_t>(inputs[k + 1]) : 0;
    h = (h ^ (static_cast<std::uint32_t>(inputs[k]) | second << 32U)) * kFactor;
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
    const auto [at, is_new] = group_of.try_emplace(hash_of_inputs(w, static_cast<std::int32_t>(j)),
                                                   static_cast<std::int32_t>(group_of.size()));
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
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && same_inputs(w, order[i - 1], order[i])) continue;
    const std::int32_t* const inputs = inputs_of(w, order[i]);
    for (std::int32_t k = 0; k < degree_of(w, order[i]); ++k)
      place(line[static_cast<std::size_t>(inputs[k])]);
  }
  for (std::int32_t& at : line) place(at);
  return line;
}

/// 1 for the first of each kSharers neurons with the same inputs.
std::vector<std::uint8_t> blocks_of(const Csr<float>& w, const std::vector<std::int32_t>& order) {
  constexpr std::size_t kSharers = PackedLayer::kSharers;
  std::vector<std::uint8_t> blocks(order.size(), 0);
  for (std::size_t i = 0; i + kSharers <= order.size(); i += blocks[i] != 0 ? kSharers : 2) {
    const auto first = order.begin() + static_cast<std::ptrdiff_t>(i);
    blocks[i] =
        std::all_of(first + 1, first + kSharers, [&](std::int32_t j) { return same_inputs(w, *first, j); })
            ? 1
            : 0;
  }
  return blocks;
}

/// Words of the edges of a layer.
std::int64_t words_of(const Csr<float>& w, const std::vector<std::int32_t>& order,
                      const std::vector<std::uint8_t>& blocks) {
  std::int64_t words = 2 * w.nnz();
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (blocks[i] != 0) words -= std::int64_t{PackedLayer::kSharers - 1} * degree_of(w, order[i]);
  }
  return words;
}

/// Asks for large pages where an array covers some: first touches and translations of addresses cost less. It may be refused.
void ask_for_huge_pages(void* array, std::size_t bytes) {
  constexpr std::uintptr_t kHuge = std::uintptr_t{2} << 20U;
  const auto begin = reinterpret_cast<std::uintptr_t>(array);
  const std::uintptr_t from = (begin + kHuge - 1) / kHuge * kHuge, to = (begin + bytes) / kHuge * kHuge;
  if (from < to) static_cast<void>(::madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE));
}

}  // namespace

PackedLayers::PackedLayers(const SparseDnn& net, std::int64_t lanes) {
  const std::vector<Csr<float>>& gather = net.gather;
  const std::size_t layers = gather.size();
  layers_.resize(layers);
  lines_.resize(layers + 1);
  std::vector<std::vector<std::int32_t>> orders(layers);
  std::vector<std::int64_t> first(layers + 1, 0);
  lines_[layers].resize(static_cast<std::size_t>(net.neurons));
  std::iota(lines_[layers].begin(), lines_[layers].end(), 0);
#pragma omp parallel for schedule(dynamic)
  for (std::size_t l = 0; l < layers; ++l) {
    orders[l] = visiting_order(gather[l]);
    lines_[l] = lines_as_read(gather[l], orders[l]);
    layers_[l].blocks = blocks_of(gather[l], orders[l]);
    first[l + 1] = words_of(gather[l], orders[l], layers_[l].blocks);
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  edges_.reset(
      new std::uint32_t[static_cast<std::size_t>(first[layers])]);  // not set: threads touch it first
  ask_for_huge_pages(edges_.get(), static_cast<std::size_t>(first[layers]) * sizeof(std::uint32_t));
#pragma omp parallel for schedule(dynamic)
  for (std::size_t l = 0; l < layers; ++l)
    pack(gather[l], l, orders[l], static_cast<std::int32_t>(lanes / 16), edges_.get() + first[l]);
}

void PackedLayers::pack(const Csr<float>& w, std::size_t l, const std::vector<std::int32_t>& order,
                        std::int32_t pieces, std::uint32_t* edges) {
  PackedLayer& layer = layers_[l];
  layer.edges = edges;
  for (const std::int32_t j : order) {
    layer.degrees.push_back(degree_of(w, j));
    layer.to.push_back(lines_[l + 1][static_cast<std::size_t>(j)] * pieces);
  }
  std::vector<std::uint32_t>
      at[2];  // where the lines of two neurons' inputs begin: often those of the neuron before
  const auto find = [&](std::size_t i) {
    std::vector<std::uint32_t>& mine = at[i % 2];
    if (i > 0 && same_inputs(w, order[i - 1], order[i])) {
      mine = at[1 - i % 2];
      return;
    }
    mine.clear();
    const std::int32_t* const inputs = inputs_of(w, order[i]);
    for (std::int32_t k = 0; k < layer.degrees[i]; ++k)
      mine.push_back(static_cast<std::uint32_t>(lines_[l][static_cast<std::size_t>(inputs[k])] * pieces));
  };
  const auto weight = [&](std::size_t i, std::int32_t k) {
    return std::bit_cast<std::uint32_t>(
        w.val[static_cast<std::size_t>(w.row_ptr[static_cast<std::size_t>(order[i])] + k)]);
  };
  const auto append = [&](std::size_t i, std::int32_t k) {
    *edges++ = at[i % 2][static_cast<std::size_t>(k)], *edges++ = weight(i, k);
  };
  constexpr std::size_t kSharers = PackedLayer::kSharers;
  for (std::size_t i = 0; i < order.size(); i += layer.blocks[i] != 0 ? kSharers : 2) {
    if (layer.blocks[i] != 0) {
      find(i);
      for (std::int32_t k = 0; k < layer.degrees[i]; ++k) {
        *edges++ = at[i % 2][static_cast<std::size_t>(k)];
        for (std::size_t r = 0; r < kSharers; ++r) *edges++ = weight(i + r, k);
      }
      at[1 - i % 2] = at[i % 2];  // of the last of the block, too
      continue;
    }
    const bool pair = i + 1 < order.size();
    const std::int32_t a = layer.degrees[i], b = pair ? layer.degrees[i + 1] : 0, both = std::min(a, b);
    find(i);
    if (pair) find(i + 1);
    for (std::int32_t k = 0; k < both; ++k) append(i, k), append(i + 1, k);
    for (std::int32_t k = both; k < a; ++k) append(i, k);
    for (std::int32_t k = both; k < b; ++k) append(i + 1, k);
  }
}

}  // namespace plumb
