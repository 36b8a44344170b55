// The other door to load_matrix.hpp: a matrix into a file whose name says the format. Every file appears
// whole or not at all.
#pragma once
#include <string>

#include "datasets/graphs.hpp"
#include "datasets/mnist.hpp"
#include "datasets/radixnet.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {

/// Formats by ending:
///   .mtx            Matrix Market, coordinate real general
///   .npz            scipy.sparse, csr (as scipy.sparse.save_npz writes without compression), fp32 or fp64 as
///   T .npy            dense, fp32 or fp64 as T; repeated entries added up; at most 2^31 - 1 elements .plumb
///   binary cache (fp32: fp64 values must fit it exactly, else Error) .tsv, .tsv.gz   `row column value`
///   lines, one-based, as the sparse-DNN challenge: sorted by column, then row .el             edge list `row
///   column value`, zero-based
/// Throws Error on any other ending (the known ones are listed), on a full disk and the like. T is float or
/// double.
template <class T>
void save_matrix(const std::string& path, const Csr<T>& a);

/// The endings save_matrix knows, for help texts.
[[nodiscard]] const char* saved_formats();

/// A network: .plumb (binary cache of weights), .tar or .tar.gz (the challenge's archive: neuronN/nN-lK.tsv),
/// or a folder of such .tsv files (any name without one of those endings; it must not exist yet or be empty).
void save_network(const std::string& path, const RadixNet& net);

/// A GCN as a folder of .npy files that read_gcn_folder reads. The folder must not exist yet or be empty.
void save_gcn(const std::string& path, const GcnSet<double>& set);

/// Inputs: .plumb (binary cache of images), .tsv or .tsv.gz (the challenge's: `image feature 1`, sorted by
/// feature, then image).
void save_inputs(const std::string& path, const PixelMask& mask);

/// Greyscale images as idx3-ubyte, MNIST's format.
void save_idx_images(const std::string& path, const GreyImages& images);

}  // namespace plumb
