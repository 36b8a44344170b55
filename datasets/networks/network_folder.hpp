// A sparse network of any shape, read from files that a network.json lists.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reference/core/matrix.hpp"

namespace plumb {

struct NetworkFiles {
  std::string file;                        // the network.json
  std::vector<std::int64_t> widths;        // (layers + 1): of the inputs, and of each layer
  std::vector<Csr<float>> gather;          // (layers) of (outputs, inputs): row j holds what neuron j reads
  std::vector<std::vector<float>> biases;  // (layers) of (outputs)
  std::optional<float> bias_at_nonzeros;   // in place of `biases`: one, only where a sum is not 0
  float cap = 0;                           // infinity: none
  Csr<float> images;                       // (inputs, widths[0])
  std::string images_from;                 // the file they were read from
};

/// `path`: a folder with a network.json, or such a file by any name; files are looked for beside it. `images`:
/// a file of inputs in place of those that it names.
///
/// Formats   weights: all that load_matrix reads (.mtx, .npz of SciPy, .npy with its zeros left out, ...),
///           each also as .gz. Biases: .npy of one dimension. Inputs: the same as weights, and .tsv[.gz] lines
///           `input neuron value`, counted from 1.
/// Values    rounded once, to fp32. Weights, biases and inputs are finite.
/// Errors    those of the readers (network_json.hpp, load_matrix.hpp, npy.hpp); a file that does not exist,
///           shapes that do not chain, and biases of another length, all with their key.
[[nodiscard]] NetworkFiles read_network_files(const std::string& path, const std::string& images = "");

}  // namespace plumb
