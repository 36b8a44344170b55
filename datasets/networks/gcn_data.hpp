// Finds and loads what one run of a GCN needs: a folder of .npy files, the contest's files, files named one by one, or a
// generated graph.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/formats/load_matrix.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {

/// Which way messages flow along an edge of --graph, entry (i, j) of its matrix: i is the source, j the target. Names as PyTorch
/// Geometric's `flow`. target_to_source: row i sums over its columns; degrees are row sums.
enum class MessageFlow : std::uint8_t { target_to_source, source_to_target };

/// In which form X is kept; by_density: a dense X of few entries in CSR, a sparse one of many dense.
enum class FeaturesForm : std::uint8_t { by_density, sparse, dense };

/// At most one of `data`, `contest`, `twin`, `drawn_case` and the three of `graph`, `features`, `weights`; none: $PLUMB_DATA, the cache
/// folder, else generated.
struct GcnRequest {
  std::string data;                  // folder of .npy files (gcn_folder.hpp)
  std::vector<std::string> contest;  // F0 F1 [F2 ...] GRAPH X W1 [W2 ...]
  std::string graph, features;
  ReadOptions graph_options;
  std::optional<MessageFlow> flow;   // not given: target_to_source, with a note where it makes a difference
  std::vector<std::string> weights;  // matrices, and vectors, which are biases; .npz and .pt hold several
  std::string twin,
      widths = "64-16-8";  // a generated graph with the shape of a real one, and F0-F1-...-Fk on it
  std::string drawn_case;  // an id (drawn_gcn.hpp)
  /// 0: as many as there are weights. The network that is generated where nothing is named has any number.
  std::int64_t layers = 0;
  FeaturesForm features_form = FeaturesForm::by_density;
};

/// What a forward pass takes, in one type; n vertices, as reference/models/gcn/gcn.hpp lays it out.
template <class T>
struct GcnParts {
  Csr<T> a;                            // (n, n), normalised
  bool sparse_features = false;        // which of the two holds X
  Csr<T> x_sparse;                     // (n, F0)
  Dense<T> x_dense;                    // (n, F0)
  std::vector<Dense<T>> weights;       // (F0, F1), (F1, F2), ...
  std::vector<std::vector<T>> biases;  // one per weights, each empty or (columns)
};

struct LoadedGcn {
  std::string from;                // where it comes from, in words
  std::string graph;               // how --graph became A, in words
  std::vector<std::string> notes;  // what was guessed
  GcnParts<double> f64;
  std::optional<GcnParts<float>> f32;  // where the files hold it; else f64 rounded
  double normalise_seconds = 0;        // of the edges, which the contest counts
  bool f64_files = false;              // fp64 is the type of the contest's files, or of the drawn case
  std::vector<std::int32_t> labels, idx_test;
  Dense<double> expected_hidden, expected_logits, expected_log_softmax;  // (0, 0) where there are none
  std::optional<std::int64_t> test_correct;                              // recorded with the weights
};

/// X is brought to the form asked for; by density not that of a drawn case, whose id says it. Where weights are not finite it stays as it was read: the zeros that only a dense X has
/// would turn an infinity into NaN.
///
/// Errors    those of the readers; several sources at once; `layers` beyond the weights; a graph without vertices.
[[nodiscard]] LoadedGcn load_gcn(const GcnRequest& request);

}  // namespace plumb
