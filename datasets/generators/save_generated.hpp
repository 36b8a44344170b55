// Writes generated data to files: networks, inputs, GCNs. Every regular file and folder appears whole or not at all.
#pragma once
#include <string>

#include "datasets/generators/gcn.hpp"
#include "datasets/generators/mnist.hpp"
#include "datasets/generators/radixnet.hpp"

namespace plumb {

/// A network: .plumb (binary cache of weights), .tar or .tar.gz (the challenge's archive: neuronN/nN-lK.tsv),
/// or a folder of such .tsv files (any name without one of those endings; it must not exist yet or be empty).
void save_network(const std::string& path, const RadixNet& net);

/// A GCN as a folder of .npy files that read_gcn_folder reads. The folder must not exist yet or be empty.
void save_gcn(const std::string& path, const GcnSet<double>& set);

/// Inputs: .plumb (binary cache of images), .tsv or .tsv.gz (the challenge's: `image feature 1`, sorted by
/// feature, then image).
void save_inputs(const std::string& path, const PixelMask& mask);

}  // namespace plumb
