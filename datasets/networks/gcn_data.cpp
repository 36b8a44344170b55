#include "datasets/networks/gcn_data.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "datasets/formats/contest.hpp"
#include "datasets/formats/gcn_folder.hpp"
#include "datasets/formats/triplets.hpp"
#include "datasets/generators/gcn.hpp"
#include "datasets/generators/graphs.hpp"
#include "datasets/networks/drawn_gcn.hpp"
#include "datasets/networks/gcn_files.hpp"
#include "datasets/remote/manifest.hpp"
#include "reference/core/error.hpp"
#include "reference/core/text.hpp"

namespace plumb {

namespace {

namespace fs = std::filesystem;

template <class T>
GcnParts<T> parts_of(GcnInputs<T>&& in) {
  GcnParts<T> parts;
  parts.a = std::move(in.a);
  parts.sparse_features = true;
  parts.x_sparse = std::move(in.x);
  parts.weights = std::move(in.weights);
  parts.biases = std::move(in.biases);
  return parts;
}

LoadedGcn read_folder(const std::string& folder) {
  GcnData data = read_gcn_folder(folder);
  LoadedGcn net;
  net.from = folder;
  net.f64 = parts_of(std::move(data.f64));
  net.f32 = parts_of(std::move(data.f32));
  net.labels = std::move(data.labels);
  net.idx_test = std::move(data.idx_test);
  net.expected_hidden = std::move(data.expected_hidden);
  net.expected_logits = std::move(data.expected_logits);
  net.expected_log_softmax = std::move(data.expected_logsoftmax);
  if (const auto found = data.meta_numbers.find("test_correct"); found != data.meta_numbers.end())
    net.test_correct = static_cast<std::int64_t>(found->second);
  return net;
}

/// --data: the folder, or an error that names the folders of the kind below it.
LoadedGcn read_given_folder(const std::string& folder) {
  if (is_gcn_folder(folder)) return read_folder(folder);
  std::vector<std::string> below;
  if (fs::is_directory(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (is_gcn_folder(entry.path().string())) below.push_back(entry.path().string());
    }
    std::sort(below.begin(), below.end());
  }
  throw input_error(folder, 0,
                    below.empty() ? "not a folder with A_indptr.npy"
                                  : fmt::format("not a folder with A_indptr.npy, but these below it are: {}",
                                                fmt::join(below, ", ")));
}

std::int64_t contest_width(const std::string& text, std::size_t l) {
  const std::string name = fmt::format("F{}", l);
  const std::int64_t width = parse_size(text, name);
  if (width < 1) throw Error(fmt::format("--contest: {} must be at least 1: {}", name, width));
  return width;
}

LoadedGcn read_contest(const std::vector<std::string>& words) {
  if (words.size() < 5 || words.size() % 2 == 0) {
    throw Error(
        fmt::format("--contest takes F0 F1 GRAPH X W1, F0 F1 F2 GRAPH X W1 W2, or a width and a "
                    "file more for each layer: {} words were given",
                    words.size()));
  }
  const std::size_t layers = (words.size() - 3) / 2, files = layers + 1;
  std::vector<std::int64_t> widths;
  for (std::size_t l = 0; l <= layers; ++l) widths.push_back(contest_width(words[l], l));
  LoadedGcn net;
  net.from = fmt::format("contest files {}",
                         fmt::join(words.begin() + static_cast<std::ptrdiff_t>(files), words.end(), ", "));
  const ContestGraph graph = read_contest_graph(words[files]);
  const RawMatrix x = read_raw_matrix(words[files + 1], graph.vertices, widths[0]);
  net.f64_files = x.is_f64;
  net.f64.x_dense = x.as<double>();
  for (std::size_t l = 0; l < layers; ++l)
    net.f64.weights.push_back(read_raw_matrix(words[files + 2 + l], widths[l], widths[l + 1]).as<double>());
  net.f64.biases.resize(net.f64.weights.size());
  const auto start = std::chrono::steady_clock::now();
  net.f64.a = normalised_adjacency<double>(graph);
  net.normalise_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return net;
}

LoadedGcn generate(const std::string& searched, std::int64_t layers) {
  GcnShape shape;
  if (layers > 2)
    shape.widths = gcn_widths(shape.widths.front(), shape.widths[1], shape.widths.back(), layers);
  GcnSet<double> made = generated_gcn<double>(shape);
  LoadedGcn net;
  net.from = fmt::format(
      "{}: generated, an R-MAT graph of 2^{} vertices, {} (seed {})", searched, shape.scale,
      layers > 2 ? fmt::format("{} layers", layers) : fmt::format("{}", fmt::join(shape.widths, "-")),
      shape.seed);
  net.f64.a = std::move(made.a);
  net.f64.x_dense = std::move(made.x);
  net.f64.weights = std::move(made.weights);
  net.f64.biases = std::move(made.biases);
  return net;
}

std::vector<std::int64_t> parse_widths(const std::string& text) {
  std::vector<std::int64_t> widths;
  for (const std::string& part : split(text, '-')) widths.push_back(parse_size(part, "--widths"));
  if (widths.size() < 2) throw Error(fmt::format("--widths takes F0-F1-...-Fk: '{}'", printable(text)));
  return widths;
}

LoadedGcn generate_twin(const GcnRequest& r) {
  if (r.twin != "web-Stanford") {
    throw Error(fmt::format("--twin '{}' is none of web-Stanford{}", printable(r.twin),
                            did_you_mean(r.twin, {"web-Stanford"})));
  }
  GcnShape shape;
  shape.widths = parse_widths(r.widths);
  GcnSet<double> made = generated_gcn<double>(hub_graph<double>(web_stanford_lookalike()), shape);
  LoadedGcn net;
  net.from = fmt::format("generated: a look-alike of {} (seed {})", r.twin, shape.seed);
  net.f64.a = std::move(made.a);
  net.f64.x_dense = std::move(made.x);
  net.f64.weights = std::move(made.weights);
  net.f64.biases.resize(net.f64.weights.size());  // none, as in the contest
  return net;
}

/// Where the user names nothing: Cora where it is found, else a generated graph.
LoadedGcn find_or_generate(std::int64_t layers) {
  std::vector<std::string> tried;
  if (const char* const data = std::getenv("PLUMB_DATA"); data != nullptr && *data != '\0')
    tried.push_back(std::string(data) + "/gcn/cora_nobias");
  if (const auto cache = find_cache_folder()) {
    tried.push_back(*cache + "/gcn/cora_nobias");
    tried.push_back(*cache + "/cora_nobias");
  }
  for (const std::string& folder : tried) {
    if (is_gcn_folder(folder)) return read_folder(folder);
  }
  return generate(fmt::format("nothing under {}", fmt::join(tried, ", ")), layers);
}

LoadedGcn load_whole(const GcnRequest& r) {
  if (r.graph.empty() && (r.flow || !r.graph_options.format.empty() || r.graph_options.edges.base ||
                          !r.graph_options.edges.columns.empty()))
    throw Error("infer gcn: --direction, --from, --base and --columns belong to --graph");
  const bool files = !r.graph.empty() || !r.features.empty() || !r.weights.empty();
  if (!r.data.empty() + !r.contest.empty() + !r.twin.empty() + !r.drawn_case.empty() + files > 1)
    throw Error("infer gcn: --data, --contest, --twin, --case, --drawn and --graph exclude each other");
  if (!r.drawn_case.empty()) return gcn_of_case(parse_case(r.drawn_case));
  if (!r.twin.empty()) return generate_twin(r);
  if (!r.contest.empty()) return read_contest(r.contest);
  if (files) return read_gcn_files(r);
  return r.data.empty() ? find_or_generate(r.layers) : read_given_folder(r.data);
}

/// Cuts a network to its first layers; what is expected of the whole does not apply then.
void keep_layers(LoadedGcn& net, std::int64_t layers) {
  const auto keep = static_cast<std::size_t>(layers);
  net.f64.weights.resize(keep);
  net.f64.biases.resize(keep);
  if (net.f32) {
    net.f32->weights.resize(keep);
    net.f32->biases.resize(keep);
  }
  net.expected_logits = net.expected_log_softmax = {};
  net.labels.clear();
}

template <class T>
Dense<T> dense_of(const Csr<T>& x) {
  Dense<T> d{x.rows, x.cols, std::vector<T>(static_cast<std::size_t>(x.rows * x.cols))};
  for (std::int64_t i = 0; i < x.rows; ++i) {
    T* const row = d.data.data() + i * x.cols;
    const auto at = static_cast<std::size_t>(i);
    for (auto k = static_cast<std::size_t>(x.row_ptr[at]); k < static_cast<std::size_t>(x.row_ptr[at + 1]);
         ++k)
      row[x.col[k]] += x.val[k];
  }
  return d;
}

template <class T>
void store_features(GcnParts<T>& parts, bool sparse) {
  if (sparse == parts.sparse_features) return;
  if (sparse) {
    parts.x_sparse = without_zeros("X", std::exchange(parts.x_dense, {}));
  } else {
    parts.x_dense = dense_of(std::exchange(parts.x_sparse, {}));
  }
  parts.sparse_features = sparse;
}

bool finite_weights(const GcnParts<double>& parts) {
  return std::all_of(parts.weights.begin(), parts.weights.end(), [](const Dense<double>& w) {
    return std::all_of(w.data.begin(), w.data.end(), [](double v) { return std::isfinite(v); });
  });
}

/// Whether X W is less work with X in CSR. Dense products win above a quarter of the places in libraries, above four fifths in the
/// fused pipeline (6,000 x 256, widths 16 and 128, one core of an AMD EPYC). Between, X stays in the form in which it came.
bool is_sparse(const GcnParts<double>& parts) {
  constexpr double kMostOfDense = 0.25, kMostOfSparse = 0.75;
  const Csr<double>& x = parts.x_sparse;
  const std::vector<double>& values = parts.x_dense.data;
  if (parts.sparse_features)
    return static_cast<double>(x.nnz()) <=
           kMostOfSparse * static_cast<double>(x.rows) * static_cast<double>(x.cols);
  const auto zeros = static_cast<double>(std::count(values.begin(), values.end(), 0.0));
  return static_cast<double>(values.size()) - zeros < kMostOfDense * static_cast<double>(values.size());
}

void store_features(LoadedGcn& net, FeaturesForm form) {
  if (!finite_weights(net.f64)) return;
  const bool sparse = form == FeaturesForm::by_density ? is_sparse(net.f64) : form == FeaturesForm::sparse;
  store_features(net.f64, sparse);
  if (net.f32) store_features(*net.f32, sparse);
}

}  // namespace

LoadedGcn load_gcn(const GcnRequest& request) {
  LoadedGcn net = load_whole(request);
  const auto there = static_cast<std::int64_t>(net.f64.weights.size());
  if (request.layers < 0 || request.layers > there)
    throw Error(fmt::format("--layers {}: there are weights for {}", request.layers, there));
  if (request.layers > 0 && request.layers < there) keep_layers(net, request.layers);
  if (request.drawn_case.empty() || request.features_form != FeaturesForm::by_density)
    store_features(net, request.features_form);
  if (net.f64.a.rows == 0) throw Error(fmt::format("{}: the graph has no vertices", net.from));
  return net;
}

}  // namespace plumb
