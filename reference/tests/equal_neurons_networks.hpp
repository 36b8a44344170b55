// Random networks with neurons that are equal to others, and with some that nearly are: drawn from a seed.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "reference/core/random.hpp"
#include "reference/models/sparse_dnn_drawn.hpp"
#include "reference/tests/sparse_dnn_inputs.hpp"

namespace plumb::test {

/// What a copy of a neuron differs in. `names`: it reads equal neurons in place of the same ones, so it is equal too.
enum class CopyChange { none, names, weight, order, zero_edge, bias };

/// Turns neurons of a network into copies of others, and nearly.
class CopiedNeurons {
 public:
  explicit CopiedNeurons(std::uint64_t seed) : seed_(seed) {}

  /// One of three neurons becomes a copy.
  void plant(SparseDnn& net) {
    std::vector<int> like(static_cast<std::size_t>(net.neurons));
    std::iota(like.begin(), like.end(), 0);
    for (std::size_t l = 0; l < net.gather.size(); ++l)
      like = plant_layer(net.gather[l], like, net.biases.empty() ? nullptr : &net.biases[l]);
  }
  std::map<CopyChange, int> planted;

 private:
  using Row = std::vector<std::pair<int, float>>;

  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(random_below(seed_, 31, at_++, static_cast<std::uint64_t>(n)));
  }
  /// `like` (neurons): of the layer before, the first neuron that each is a copy of. Returns the same of this layer.
  std::vector<int> plant_layer(Csr<float>& w, const std::vector<int>& like, std::vector<float>* biases) {
    std::vector<Row> rows(static_cast<std::size_t>(w.rows));
    for (std::size_t j = 0; j < rows.size(); ++j)
      for (std::int32_t k = w.row_ptr[j]; k < w.row_ptr[j + 1]; ++k)
        rows[j].emplace_back(w.col[static_cast<std::size_t>(k)], w.val[static_cast<std::size_t>(k)]);
    std::vector<int> like_here(rows.size());
    std::iota(like_here.begin(), like_here.end(), 0);
    for (std::size_t j = 1; j < rows.size(); ++j) {
      if (below(3) != 0) continue;
      const std::size_t from = below(j);
      const CopyChange change = applied(static_cast<CopyChange>(below(6)), rows[from], biases != nullptr);
      rows[j] = changed(rows[from], change, like);
      if (biases != nullptr) (*biases)[j] = (*biases)[from];
      if (change == CopyChange::bias) (*biases)[j] = std::nextafter((*biases)[from], -1.0F);
      if (change == CopyChange::none || change == CopyChange::names) like_here[j] = like_here[from];
      ++planted[change];
    }
    w = csr(w.cols, rows);
    return like_here;
  }
  /// `none` where a neuron has not what would change.
  static CopyChange applied(CopyChange change, const Row& row, bool has_biases) {
    if (change == CopyChange::order && (row.size() < 2 || row[0] == row[1])) return CopyChange::none;
    if (change == CopyChange::weight && row.empty()) return CopyChange::none;
    return change == CopyChange::bias && !has_biases ? CopyChange::none : change;
  }
  Row changed(Row row, CopyChange change, const std::vector<int>& like) {
    if (change == CopyChange::weight) {
      float& weight = row[below(row.size())].second;
      weight = std::nextafter(weight, 2.0F);
    }
    if (change == CopyChange::order) std::swap(row[0], row[1]);
    if (change == CopyChange::zero_edge) row.emplace_back(static_cast<int>(below(like.size())), 0.0F);
    if (change == CopyChange::names)
      for (auto& edge : row) edge.first = another_like(edge.first, like);
    return row;
  }
  int another_like(int neuron, const std::vector<int>& like) {
    std::vector<int> all;
    for (std::size_t i = 0; i < like.size(); ++i)
      if (like[i] == like[static_cast<std::size_t>(neuron)]) all.push_back(static_cast<int>(i));
    return all[below(all.size())];
  }

  std::uint64_t seed_, at_ = 0;
};

/// Layers of `neurons` neurons, of which `different` have inputs of their own and the others are copies of the first ones.
inline SparseDnn folded_network(std::int64_t neurons, std::int64_t different, std::int64_t layers) {
  SparseDnn net{neurons, -0.05F, 4, {}};
  std::uint64_t at = 0;
  const auto below = [&](std::int64_t n) {
    return static_cast<int>(random_below(17, 1, at++, static_cast<std::uint64_t>(n)));
  };
  for (std::int64_t l = 0; l < layers; ++l) {
    std::vector<std::vector<std::pair<int, float>>> rows;
    for (std::int64_t j = 0; j < neurons; ++j) {
      if (j >= different) {
        rows.push_back(rows[static_cast<std::size_t>(j - different)]);
        continue;
      }
      auto& row = rows.emplace_back();
      for (int k = 2 + below(3); k > 0; --k)
        row.emplace_back(below(neurons), static_cast<float>(random_unit(17, 2, at++) - 0.25));
    }
    net.gather.push_back(csr(neurons, rows));
  }
  return net;
}

}  // namespace plumb::test
