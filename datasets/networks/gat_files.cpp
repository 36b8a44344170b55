#include "datasets/networks/gat_files.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "datasets/formats/npy.hpp"
#include "datasets/formats/torch_file.hpp"
#include "datasets/networks/gcn_files.hpp"
#include "reference/core/error.hpp"

namespace plumb {

namespace {

enum Role : std::uint8_t { kWeight, kSource, kTarget, kBias };
constexpr const char* kRoleNames[] = {"a matrix of weights", "att_src", "att_dst", "a bias"};

/// Ends of names in a state dict of GATConv, of all its versions.
constexpr std::pair<std::string_view, Role> kEnds[] = {
    {"att_src", kSource},    {"att_dst", kTarget},        {"att_l", kSource},
    {"att_r", kTarget},      {"lin_src.weight", kWeight}, {"lin_l.weight", kWeight},
    {"lin.weight", kWeight}, {"weight", kWeight},         {"bias", kBias}};

struct NamedArray {
  std::string name;  // with its file
  NpyArray array;
  bool may_turn = false;  // (outputs, inputs), as nn.Linear has it, where the shape allows it
};
/// The arrays of one layer, by role.
struct LayerFiles {
  std::string name;
  std::optional<NamedArray> of[4];
};

/// Errors: two arrays of one role.
void put(Role role, NamedArray array, LayerFiles& layer) {
  if (layer.of[role])
    throw input_error(array.name, 0, fmt::format("the layer has {} already", kRoleNames[role]),
                      layer.of[role]->name);
  layer.of[role] = std::move(array);
}

/// Arrays of one archive, by the ends of their names.
std::vector<LayerFiles> layers_by_name(const std::string& path,
                                       std::vector<std::pair<std::string, NpyArray>> arrays) {
  std::stable_sort(arrays.begin(), arrays.end(),
                   [](const auto& a, const auto& b) { return is_before(a.first, b.first); });
  std::vector<LayerFiles> layers;
  for (auto& [name, array] : arrays) {
    const auto* const end = std::find_if(std::begin(kEnds), std::end(kEnds),
                                         [&n = name](const auto& e) { return n.ends_with(e.first); });
    if (end == std::end(kEnds))
      throw input_error(path, 0, "an array is none of att_src, att_dst, lin.weight and bias", name);
    const std::string layer = name.substr(0, name.size() - end->first.size());
    auto at =
        std::find_if(layers.begin(), layers.end(), [&](const LayerFiles& l) { return l.name == layer; });
    if (at == layers.end()) at = layers.insert(at, LayerFiles{layer, {}});
    put(end->second, {path + ":" + name, std::move(array), true}, *at);
  }
  return layers;
}

/// Arrays that are files: each matrix begins a layer, then come att_src, att_dst and the bias.
void add_by_order(NamedArray array, std::vector<LayerFiles>& layers) {
  const bool begins = layers.empty() || (layers.back().of[kTarget] && array.array.shape.size() == 2 &&
                                         (layers.back().of[kBias] || array.array.shape[0] > 1));
  if (begins) layers.emplace_back().name = array.name;
  for (const Role role : {kWeight, kSource, kTarget, kBias}) {
    if (layers.back().of[role]) continue;
    layers.back().of[role] = std::move(array);
    return;
  }
  throw input_error(array.name, 0, "a layer is W, att_src, att_dst and a bias; this follows",
                    array.array.shape_text());
}

std::vector<LayerFiles> read_layers(const std::vector<std::string>& paths) {
  std::vector<LayerFiles> layers;
  for (const std::string& path : paths) {
    const auto source = open_source(path);
    if (source->peek(2) != "PK") {
      add_by_order({path, read_npy(*source)}, layers);
      continue;
    }
    std::vector<LayerFiles> all;
    if (path.ends_with(".npz")) {
      const NpzArrays arrays = read_npz(*source);
      all = layers_by_name(path, {arrays.begin(), arrays.end()});
    } else {
      all = layers_by_name(path, read_torch_tensors(*source));
    }
    std::move(all.begin(), all.end(), std::back_inserter(layers));
  }
  return layers;
}

/// Errors: as many numbers as the heads have together are due.
std::vector<double> values_of(const NamedArray& a, std::int64_t due) {
  if (a.array.count() != due)
    throw input_error(a.name, 0, fmt::format("{} numbers are due, and the array is", due),
                      a.array.shape_text());
  return npy_values<double>(a.array);
}

/// Errors: shapes that do not fit each other, or the layer's inputs.
GatLayerParts parts_of(const LayerFiles& files, std::int64_t inputs) {
  for (const Role role : {kWeight, kSource, kTarget}) {
    if (!files.of[role]) throw input_error(files.name, 0, "the layer lacks", kRoleNames[role]);
  }
  const NamedArray& weight = *files.of[kWeight];
  const std::vector<std::int64_t>& attention = files.of[kSource]->array.shape;
  GatLayerParts layer;
  layer.w = npy_dense<double>(weight.array);
  if (weight.may_turn && layer.w.cols == inputs) layer.w = turned(layer.w);
  if (layer.w.rows != inputs)
    throw input_error(weight.name, 0,
                      fmt::format("{} weights, and the inputs are", weight.array.shape_text()),
                      std::to_string(inputs));
  layer.heads = attention.size() > 1 ? attention[attention.size() - 2] : 1;
  layer.source = values_of(*files.of[kSource], layer.w.cols),
  layer.target = values_of(*files.of[kTarget], layer.w.cols);
  if (layer.heads < 1 || layer.w.cols % layer.heads != 0)
    throw input_error(files.of[kSource]->name, 0,
                      fmt::format("{} outputs do not divide into heads", layer.w.cols),
                      std::to_string(layer.heads));
  if (!files.of[kBias]) return layer;
  const bool averages = files.of[kBias]->array.count() == layer.w.cols / layer.heads;
  layer.bias = values_of(*files.of[kBias], averages ? layer.w.cols / layer.heads : layer.w.cols);
  return layer;
}

/// Of a layer that is not looked at yet; 0 where it does not say.
std::int64_t inputs_of(const LayerFiles& layer) {
  const std::optional<NamedArray>& weight = layer.of[kWeight];
  if (!weight || weight->array.shape.size() != 2) return 0;
  return weight->array.shape[weight->may_turn ? 1 : 0];
}

}  // namespace

LoadedGat read_gat_files(const GcnRequest& r) {
  if (r.graph.empty() || r.features.empty() || r.weights.empty())
    throw Error("infer gat: --graph, --features and --weights belong together");
  const std::vector<LayerFiles> files = read_layers(r.weights);
  LoadedGat net;
  net.graph = read_graph_and_features(r, inputs_of(files.front()), false);
  net.graph.from =
      fmt::format("graph {}, features {}, weights {}", r.graph, r.features, fmt::join(r.weights, ", "));
  const GcnParts<double>& parts = net.graph.f64;
  std::int64_t inputs = parts.sparse_features ? parts.x_sparse.cols : parts.x_dense.cols;
  for (const LayerFiles& layer : files) {
    net.layers.push_back(parts_of(layer, inputs));
    const GatLayerParts& made = net.layers.back();
    inputs = made.bias.empty() ? made.w.cols : static_cast<std::int64_t>(made.bias.size());
  }
  return net;
}

}  // namespace plumb
