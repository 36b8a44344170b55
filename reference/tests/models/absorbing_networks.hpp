// Networks in which rows reach an absorbing state, or nearly: drawn from a seed, for the tests of plans without such rows.
#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "reference/core/random.hpp"
#include "reference/models/sparse_dnn/absorbing.hpp"
#include "reference/models/sparse_dnn/sparse_dnn.hpp"
#include "reference/tests/models/sparse_dnn_inputs.hpp"

namespace plumb::test {

struct AbsorbingNetwork {
  std::string kind;
  SparseDnn net;
  Csr<float> y;
};

/// `seed` draws the network; its remainder by 6 says what is in the way of a row that stays at the cap.
inline AbsorbingNetwork absorbing_network(std::uint64_t seed, std::int64_t neurons, std::int64_t layers,
                                          std::int64_t rows) {
  const char* const kinds[] = {"nothing",       "one_weight",     "one_bias",
                               "layer_without", "lifting_biases", "each_bias"};
  AbsorbingNetwork drawn{kinds[seed % 6], {}, {}};
  const std::string& kind = drawn.kind;
  std::uint64_t at = 0;
  const auto unit = [&] { return random_unit(seed, 11, at++); };
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random_below(seed, 12, at++, static_cast<std::uint64_t>(n)));
  };
  const std::int64_t special = below(layers);
  std::vector<Csr<float>> gather;
  std::vector<std::vector<float>> biases;
  for (std::int64_t l = 0; l < layers; ++l) {
    const bool here = l == special;
    std::vector<std::vector<std::pair<int, float>>> edges(static_cast<std::size_t>(neurons));
    for (std::int64_t j = 0; j < neurons; ++j) {
      const std::int64_t degree = 2 + below(4);
      for (std::int64_t k = 0; k < degree; ++k)  // sums of weights from 1.3 to 2.1; columns may repeat
        edges[static_cast<std::size_t>(j)].emplace_back(
            static_cast<int>(below(neurons)),
            static_cast<float>((1.3 + 0.8 * unit()) / static_cast<double>(degree)));
    }
    if (here && kind == "one_weight") edges.front().front().second -= 3;
    if (here && kind == "layer_without") edges[static_cast<std::size_t>(below(neurons))].clear();
    gather.push_back(csr(neurons, edges));
    std::vector<float>& layer = biases.emplace_back(static_cast<std::size_t>(neurons), -0.3F);
    if (kind == "one_bias" && here) layer[static_cast<std::size_t>(below(neurons))] = -8;
    if (kind == "each_bias")
      for (float& b : layer) b = static_cast<float>(-0.4 * unit());
    if (kind == "lifting_biases" && here) layer[static_cast<std::size_t>(below(neurons))] = 0.75F;
  }
  drawn.net = square_network(std::move(gather), std::move(biases), 4);
  std::vector<std::vector<std::pair<int, float>>> in(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < in.size(); ++i) {  // from rows that soon are zeros to rows that soon are caps
    const double scale = std::ldexp(1.0, static_cast<int>(i % 9) - 5);
    for (int j = 0; j < static_cast<int>(neurons); ++j)
      if (i % 11 != 7) in[i].emplace_back(j, static_cast<float>(scale * (0.5 + unit())));
  }
  drawn.y = csr(neurons, in);
  return drawn;
}

/// A network whose last layer alone takes rows from the cap.
inline AbsorbingNetwork losing_network(std::int64_t neurons, std::int64_t layers, std::int64_t rows) {
  for (std::uint64_t seed = 1;; seed += 6) {
    AbsorbingNetwork drawn = absorbing_network(seed, neurons, layers, rows);  // of one weight
    if (find_absorbing_states(drawn.net).caps_until.front() == layers - 1) return drawn;
  }
}

/// Rows of y whose values are all `value`.
inline std::int64_t rows_at(const Csr<float>& y, float value) {
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(y.rows); ++i) {
    std::int64_t equal = 0;
    for (auto k = static_cast<std::size_t>(y.row_ptr[i]); k < static_cast<std::size_t>(y.row_ptr[i + 1]); ++k)
      equal += y.val[k] == value && value != 0;
    rows += value == 0 ? y.row_ptr[i] == y.row_ptr[i + 1] : equal == y.cols;
  }
  return rows;
}

/// How many rows may have left before each layer and at the end, by a run of `plan` layer by layer.
inline std::vector<std::int64_t> rows_that_may_leave(const SparseDnn& net, const AbsorbingStates& states,
                                                     SdnnPlan& plan, const Csr<float>& images) {
  const std::int64_t layers = net.layers();
  std::vector<std::int64_t> left(static_cast<std::size_t>(layers) + 1, 0);
  Csr<float> y = images;
  for (std::int64_t l = 1; l <= layers; ++l) {
    y = plan.run(y, l - 1, l).y;
    std::int64_t& here = left[static_cast<std::size_t>(l)];
    here = left[static_cast<std::size_t>(l) - 1];
    if (l == layers) break;
    here = states.caps_stay(l, layers) ? rows_at(y, net.cap) : 0;
    if (states.zeros_stay(l, layers)) here += rows_at(y, 0);
  }
  return left;
}

}  // namespace plumb::test
