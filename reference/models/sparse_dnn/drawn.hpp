// Networks of no particular structure, drawn from a seed: what the pipelines of the sparse DNN must run beside the challenge's.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "reference/models/sparse_dnn/sparse_dnn.hpp"

namespace plumb {

struct DrawnNetwork {
  std::vector<std::string> classes;  // "degree:all" and so on
  SparseDnn net;
  Csr<float> y;  // inputs
};

/// A class of each property is drawn first, so that two hundred seeds meet all of them: one, two or several layers; widths equal,
/// different, or powers of two, none above `widest`, which is at least 3; degrees from none to all inputs, repeated columns; signs of
/// weights; one bias of either sign, everywhere or where a sum is not 0, or one for each neuron; caps, none and 0 among them; one to
/// `most_inputs` inputs, empty to dense.
[[nodiscard]] DrawnNetwork draw_network(std::uint64_t seed, std::int64_t widest, std::int64_t most_inputs);

}  // namespace plumb
