// The description of a sparse network in files, network.json: which file holds which layer, the biases, the
// cap, the inputs.
//
//   {"inputs": "x.npz", "cap": 32, "activation": "relu", "orientation": "outputs x inputs",
//    "layers": [{"file": "fc1.npy", "bias": "b1.npy"},
//               {"file": "fc2.mtx", "bias": -0.3, "orientation": "inputs x outputs"}]}
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "datasets/io/byte_source.hpp"

namespace plumb {

struct NetworkLayer {
  std::string file;
  bool outputs_first = false;  // "outputs x inputs", as PyTorch has it
  float bias = 0;              // of every neuron, where the next two are empty
  std::vector<float> biases;   // of each neuron
  std::string bias_file;       // .npy
};

struct NetworkDescription {
  std::string inputs;  // "": none are named
  float cap = 0;       // infinity: none
  std::optional<float>
      bias_at_nonzeros;  // one for all neurons, only where a sum is not 0; layers have none then
  std::vector<NetworkLayer> layers;
};

/// Keys of the whole: layers (needed); inputs; cap (a number from 0 on, or null: none, as without the key);
/// activation ("relu", nothing else); bias_where ("everywhere" or "nonzero"); and, for layers that do not
/// say, orientation and bias.
/// Keys of a layer: file (needed); orientation ("inputs x outputs" or "outputs x inputs", here or for the
/// whole); bias: a number, a list of numbers, or the name of a .npy file; 0 where there is none. "nonzero"
/// takes one bias, for the whole. Names are as written.
///
/// Values    rounded once, to fp32.
/// Errors    `FILE:LINE: ...` where it is no JSON; else `FILE: KEY: what: value`: an unknown, repeated or
///           missing key; a value of another kind; a number beyond fp32; a negative cap; no layer.
[[nodiscard]] NetworkDescription read_network_json(ByteSource& source);

}  // namespace plumb
