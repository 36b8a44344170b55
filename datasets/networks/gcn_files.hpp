// A GCN whose graph, features and weights are files of a user's own.
#pragma once
#include "datasets/networks/gcn_data.hpp"

namespace plumb {

/// Reads `request`'s graph, features and weights.
///
/// Graph     any matrix that read_matrix reads, square; with --direction source_to_target it is transposed; loops of 1 are added where there are
///           none; then it is normalised by the sums of its rows (generators/gcn.hpp). Where the file does not tell the number of vertices,
///           it is that of the features' rows, if these are more.
/// Features  one row for each vertex: .npy, raw .bin, or any sparse matrix.
/// Weights   .npy files in order, a vector being the bias of the matrix before it; or .npz and .pt, whose matrices and vectors are taken
///           in the order of their names, numbers by value. Matrices are (inputs, outputs); those of a .pt may be (outputs, inputs).
/// Errors    those of the readers; one of the three is missing; shapes that do not chain: the file and both numbers.
[[nodiscard]] LoadedGcn read_gcn_files(const GcnRequest& request);

/// Its graph and features alone, as above. `inputs` of the first layer: by it raw features are read. `weighted` false: the values of the graph
/// are not looked at.
[[nodiscard]] LoadedGcn read_graph_and_features(const GcnRequest& request, std::int64_t inputs,
                                                bool weighted = true);

/// Names before others as numbers count: "W2" before "W10".
[[nodiscard]] bool is_before(const std::string& a, const std::string& b);
/// Rows as columns.
[[nodiscard]] Dense<double> turned(const Dense<double>& w);

}  // namespace plumb
