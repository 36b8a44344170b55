#include "datasets/networks/gcn_files.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "datasets/formats/contest.hpp"
#include "datasets/formats/npy.hpp"
#include "datasets/formats/torch_file.hpp"
#include "datasets/generators/gcn.hpp"
#include "reference/core/csr.hpp"
#include "reference/core/error.hpp"

namespace plumb {

bool is_before(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      std::size_t m = i, n = j;
      while (m < a.size() && digit(a[m])) ++m;
      while (n < b.size() && digit(b[n])) ++n;
      while (m - i > 1 && a[i] == '0') ++i;
      while (n - j > 1 && b[j] == '0') ++j;
      if (m - i != n - j) return m - i < n - j;
      if (const int order = a.compare(i, m - i, b, j, n - j); order != 0) return order < 0;
      i = m, j = n;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i, ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

Dense<double> turned(const Dense<double>& w) {
  Dense<double> out{w.cols, w.rows, std::vector<double>(w.data.size())};
  for (std::int64_t i = 0; i < w.rows; ++i) {
    for (std::int64_t j = 0; j < w.cols; ++j)
      out.data[static_cast<std::size_t>(j * w.rows + i)] = w.data[static_cast<std::size_t>(i * w.cols + j)];
  }
  return out;
}

namespace {

using Notes = std::vector<std::string>;

// ---- weights ----------------------------------------------------------------------------------------------

struct Layers {
  std::vector<std::string> names;  // of the weights, with their file
  std::vector<Dense<double>> weights;
  std::vector<std::vector<double>> biases;  // empty, or (outputs)
  std::vector<bool> may_turn;               // (outputs, inputs) is possible
};

void add_weights(const std::string& name, const NpyArray& array, bool may_turn, Layers& to) {
  to.names.push_back(name);
  to.weights.push_back(npy_dense<double>(array));
  to.biases.emplace_back();
  to.may_turn.push_back(may_turn);
}

/// Matrices and vectors of one file, in the order of their names.
void add_all(const std::string& path, std::vector<std::pair<std::string, NpyArray>> arrays, bool may_turn,
             Layers& to, Notes& notes) {
  std::stable_sort(arrays.begin(), arrays.end(),
                   [](const auto& a, const auto& b) { return is_before(a.first, b.first); });
  std::vector<std::string> taken;
  std::vector<const NpyArray*> biases;
  const std::size_t first = to.weights.size();
  for (const auto& [name, array] : arrays) {
    if (array.shape.empty() || array.shape.size() > 2) continue;
    taken.push_back(fmt::format("{} {}", name, array.shape_text()));
    if (array.shape.size() == 1) biases.push_back(&array);
    if (array.shape.size() == 2) add_weights(path + ":" + name, array, may_turn, to);
  }
  const std::size_t layers = to.weights.size() - first;
  if (layers == 0 || (!biases.empty() && biases.size() != layers))
    throw input_error(
        path, 0,
        fmt::format("weights are matrices, with as many vectors of biases or none: {} and {} are there",
                    layers, biases.size()),
        fmt::format("{}", fmt::join(taken, ", ")));
  for (std::size_t l = 0; l < biases.size(); ++l) to.biases[first + l] = npy_values<double>(*biases[l]);
  notes.push_back(
      fmt::format("{}: weights and biases in the order of their names: {}", path, fmt::join(taken, ", ")));
}

void add_file(const std::string& path, Layers& to, Notes& notes) {
  const auto source = open_source(path);
  if (source->peek(2) == "PK" && path.ends_with(".npz")) {
    const NpzArrays arrays = read_npz(*source);
    return add_all(path, {arrays.begin(), arrays.end()}, false, to, notes);
  }
  if (source->peek(2) == "PK") return add_all(path, read_torch_tensors(*source), true, to, notes);
  if (source->peek(1) != "\x93")
    throw input_error(path, 0,
                      "weights are .npy, .npz, or a state dict of PyTorch 1.6 or later; the file begins with",
                      source->peek(16));
  const NpyArray array = read_npy(*source);
  if (array.shape.size() != 1) return add_weights(path, array, false, to);
  if (to.weights.empty() || !to.biases.back().empty())
    throw input_error(path, 0,
                      "a vector is the bias of the matrix before it, and there is none without; shape",
                      array.shape_text());
  to.biases.back() = npy_values<double>(array);
}

/// Brings weights of PyTorch to (inputs, outputs). Errors: shapes that do not chain from `width` on.
void chain(std::int64_t width, Layers& layers, Notes& notes) {
  for (std::size_t l = 0; l < layers.weights.size(); ++l) {
    Dense<double>& w = layers.weights[l];
    const bool fits = w.rows == width, fits_turned = w.cols == width && layers.may_turn[l];
    // nn.Linear, which PyTorch Geometric's GCNConv has as `lin`, holds (outputs, inputs)
    const bool linear = layers.names[l].ends_with(".lin.weight");
    if (fits_turned && (!fits || linear)) {
      w = turned(w);
    } else if (!fits) {
      throw input_error(layers.names[l], 0,
                        fmt::format("({}, {}) weights, and the inputs are", w.rows, w.cols),
                        std::to_string(width));
    }
    if (fits && fits_turned)
      notes.push_back(fmt::format("{}: ({}, {}) is taken for {}", layers.names[l], w.rows, w.cols,
                                  linear ? "(outputs, inputs)" : "(inputs, outputs)"));
    width = w.cols;
    const auto biases = static_cast<std::int64_t>(layers.biases[l].size());
    if (biases > 0 && biases != width)
      throw input_error(layers.names[l], 0, fmt::format("{} outputs, and the biases are", width),
                        std::to_string(biases));
  }
}

// ---- graph ------------------------------------------------------------------------------------------------

/// Vertices that no edge names come last. Errors: an edge list that fits either as it counts from 0 or from 1.
void grow(std::int64_t vertices, const GcnRequest& r, const Findings& found, Csr<double>& a, Notes& notes) {
  if (found.sized || a.rows >= vertices) return;
  if (found.base == 1 && !r.graph_options.edges.base && vertices == a.rows + 1)
    throw input_error(r.graph, 0,
                      fmt::format("ids run from 1 to {}: with --base 0 all {} rows of the features have an "
                                  "id, with --base 1 the last "
                                  "has no edge; say which",
                                  a.rows, vertices));
  notes.push_back(
      fmt::format("{}: the largest id makes {} vertices, the features have {} rows: the others have no edge",
                  r.graph, a.rows, vertices));
  a.row_ptr.resize(static_cast<std::size_t>(vertices) + 1, a.row_ptr.back());
  a.rows = a.cols = vertices;
}

std::int64_t missing_loops(const Csr<double>& a) {
  std::int64_t missing = a.rows;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto first = a.col.begin() + a.row_ptr[static_cast<std::size_t>(i)],
               last = a.col.begin() + a.row_ptr[static_cast<std::size_t>(i) + 1];
    missing -= std::find(first, last, static_cast<std::int32_t>(i)) != last ? 1 : 0;
  }
  return missing;
}

bool is_symmetric(const Csr<double>& a) {
  const Csr<double> t = transposed(a);
  constexpr double kRounding = 1e-12;  // repeated entries are added up in the order of the file
  return t.row_ptr == a.row_ptr && t.col == a.col &&
         std::equal(a.val.begin(), a.val.end(), t.val.begin(), [](double x, double y) {
           return std::fabs(x - y) <= kRounding * std::max(std::fabs(x), std::fabs(y));
         });
}

/// A^ of the graph, and in words how it came about.
void normalise(const GcnRequest& r, const Findings& found, Csr<double> graph, bool weighted, LoadedGcn& net) {
  const bool turn = r.flow == MessageFlow::source_to_target;
  if (turn) graph = transposed(graph);
  const std::int64_t loops = missing_loops(graph);
  net.f64.a = normalised_adjacency(graph, AdjacencyName{r.graph, found.base, turn ? "column" : "row"});
  const bool symmetric = is_symmetric(net.f64.a);
  net.graph = fmt::format("{} loops added{}; {}; messages flow {} (entry (i, j): source i, target j)", loops,
                          weighted ? ", normalised" : "", symmetric ? "symmetric" : "not symmetric",
                          turn ? "source_to_target" : "target_to_source");
  if (!symmetric && !r.flow)
    net.notes.push_back(
        fmt::format("{}: the graph is not symmetric, and vertex i sums over the columns of row i; "
                    "--direction source_to_target sums along the "
                    "edges, as PyTorch Geometric's {}, --direction target_to_source as now",
                    r.graph, weighted ? "GCNConv" : "GATConv"));
}

}  // namespace

LoadedGcn read_graph_and_features(const GcnRequest& r, std::int64_t inputs, bool weighted) {
  LoadedGcn net;
  GcnParts<double>& parts = net.f64;
  auto [graph, found] = read_matrix<double>(r.graph, r.graph_options);
  if (!weighted) std::fill(graph.val.begin(), graph.val.end(), 1.0);
  for (const std::string& note : found.notes) net.notes.push_back(r.graph + ": " + note);
  if (graph.rows != graph.cols)
    throw input_error(r.graph, 0, "a graph's matrix is square, this is",
                      fmt::format("{} x {}", graph.rows, graph.cols));
  if (r.features.ends_with(".npy")) {
    parts.x_dense = npy_dense<double>(read_npy(r.features));
  } else if (r.features.ends_with(".bin")) {
    parts.x_dense = read_raw_matrix(r.features, graph.rows, inputs).as<double>();
  } else {
    auto [x, about] = read_matrix<double>(r.features);
    for (const std::string& note : about.notes) net.notes.push_back(r.features + ": " + note);
    parts.sparse_features = true;
    parts.x_sparse = std::move(x);
  }
  const std::int64_t rows = parts.sparse_features ? parts.x_sparse.rows : parts.x_dense.rows;
  grow(rows, r, found, graph, net.notes);
  if (rows != graph.rows)
    throw input_error(
        r.features, 0,
        fmt::format("{} has {} vertices, and the rows of the features are", r.graph, graph.rows),
        std::to_string(rows));
  normalise(r, found, std::move(graph), weighted, net);
  return net;
}

LoadedGcn read_gcn_files(const GcnRequest& r) {
  if (r.graph.empty() || r.features.empty() || r.weights.empty())
    throw Error("infer gcn: --graph, --features and --weights belong together");
  Layers layers;
  Notes notes;
  for (const std::string& path : r.weights) add_file(path, layers, notes);
  LoadedGcn net = read_graph_and_features(r, layers.weights.front().rows);
  net.from =
      fmt::format("graph {}, features {}, weights {}", r.graph, r.features, fmt::join(r.weights, ", "));
  GcnParts<double>& parts = net.f64;
  net.notes.insert(net.notes.end(), notes.begin(), notes.end());
  chain(parts.sparse_features ? parts.x_sparse.cols : parts.x_dense.cols, layers, net.notes);
  parts.weights = std::move(layers.weights);
  parts.biases = std::move(layers.biases);
  return net;
}

}  // namespace plumb
