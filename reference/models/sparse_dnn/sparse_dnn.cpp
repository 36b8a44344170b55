#include "reference/models/sparse_dnn/sparse_dnn.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"

namespace plumb {

namespace {

void refuse_fault(const Csr<float>& m, const std::string& what) {
  if (const std::string fault = csr_fault(m); !fault.empty()) throw Error(fmt::format("{}: {}", what, fault));
}

void validate_biases(const SparseDnn& net) {
  if (static_cast<std::int64_t>(net.biases.size()) != net.layers()) {
    throw Error(
        fmt::format("sparse DNN: biases of {} layers, weights of {}", net.biases.size(), net.layers()));
  }
  const float constant = constant_neuron_value(net.cap);
  for (std::size_t l = 0; l < net.biases.size(); ++l) {
    const std::vector<float>& layer = net.biases[l];
    if (static_cast<std::int64_t>(layer.size()) != net.neurons) {
      throw Error(
          fmt::format("sparse DNN, layer {}: {} biases, neurons are {}", l + 1, layer.size(), net.neurons));
    }
    for (const float b : layer) {
      if (!std::isfinite(b))
        throw Error(fmt::format("sparse DNN, layer {}: a bias is not finite: {}", l + 1, b));
      if (constant > 0 && !std::isfinite(b / constant)) {
        throw Error(fmt::format("sparse DNN, layer {}: a bias is more than 3.4e38 times the cap: {}, cap {}",
                                l + 1, b, net.cap));
      }
    }
  }
}

void validate_layer(const SparseDnn& net, std::int64_t l, const Csr<float>& w) {
  const std::string what = fmt::format("sparse DNN, layer {}", l + 1);
  if (w.rows != net.neurons || w.cols != net.neurons) {
    throw Error(fmt::format("{}: weights are {} x {}, neurons are {}", what, w.rows, w.cols, net.neurons));
  }
  refuse_fault(w, what);
  for (const float v : w.val) {
    if (!std::isfinite(v)) throw Error(fmt::format("{}: a weight is not finite: {}", what, v));
  }
}

/// (neurons, neurons): rows and columns beyond the layer's are empty.
Csr<float> padded(Csr<float> layer, std::int64_t neurons) {
  layer.row_ptr.resize(static_cast<std::size_t>(neurons) + 1, layer.row_ptr.back());
  layer.rows = layer.cols = neurons;
  return layer;
}

SparseDnn pad_layers(std::vector<Csr<float>> gather, float bias, float cap) {
  SparseDnn net{0, bias, cap, std::move(gather)};
  for (std::size_t l = 0; l < net.gather.size(); ++l) {
    const Csr<float>& w = net.gather[l];
    if (l > 0 && w.cols != net.gather[l - 1].rows) {
      throw Error(fmt::format("sparse DNN, layer {}: takes {} inputs, the layer before has {} outputs", l + 1,
                              w.cols, net.gather[l - 1].rows));
    }
    net.neurons = std::max({net.neurons, w.rows, w.cols});
  }
  for (Csr<float>& w : net.gather) w = padded(std::move(w), net.neurons);
  return net;
}

}  // namespace

SparseDnn square_network(std::vector<Csr<float>> gather, float bias, float cap) {
  return pad_layers(std::move(gather), bias, cap);
}

SparseDnn square_network(std::vector<Csr<float>> gather, std::vector<std::vector<float>> biases, float cap) {
  if (biases.size() != gather.size()) {
    throw Error(fmt::format("sparse DNN: biases of {} layers, weights of {}", biases.size(), gather.size()));
  }
  float one = 0;
  bool same = true, any = false;
  for (std::size_t l = 0; l < biases.size(); ++l) {
    if (static_cast<std::int64_t>(biases[l].size()) != gather[l].rows) {
      throw Error(fmt::format("sparse DNN, layer {}: {} biases, {} outputs", l + 1, biases[l].size(),
                              gather[l].rows));
    }
    for (const float b : biases[l]) {
      if (!any) one = b;
      any = true;
      same = same && b == one && b <= 0;
    }
  }
  SparseDnn net = pad_layers(std::move(gather), same ? one : 0, cap);
  if (same) return net;
  net.biases = std::move(biases);
  for (std::vector<float>& layer : net.biases) layer.resize(static_cast<std::size_t>(net.neurons), 0.0F);
  return net;
}

std::int64_t SparseDnn::edges(std::int64_t first, std::int64_t last) const {
  std::int64_t sum = 0;
  for (std::int64_t l = first; l < last; ++l)
    sum += source != nullptr ? source->entries(l) : gather[static_cast<std::size_t>(l)].nnz();
  return sum;
}

std::shared_ptr<const Csr<float>> SparseDnn::layer(std::int64_t l) const {
  if (source == nullptr)
    return {std::shared_ptr<void>(), &gather[static_cast<std::size_t>(l)]};  // owns nothing
  return std::make_shared<const Csr<float>>(make_layer(l));
}

Csr<float> SparseDnn::make_layer(std::int64_t l) const {
  Csr<float> made = source->make(l);
  validate_layer(*this, l, made);
  return made;
}

std::int64_t SparseDnn::held_bytes() const {
  if (source != nullptr) return source->held_bytes();
  std::int64_t sum = 0;
  for (const Csr<float>& w : gather) sum += bytes_of(w);
  return sum;
}

bool SparseDnn::keeps_zero_rows() const {
  return std::all_of(biases.begin(), biases.end(), [](const std::vector<float>& layer) {
    return std::all_of(layer.begin(), layer.end(), [](float b) { return b <= 0; });
  });
}

float official_bias(std::int64_t neurons) {
  switch (neurons) {
    case 4096:
      return -0.35F;
    case 16384:
      return -0.40F;
    case 65536:
      return -0.45F;
    default:
      return -0.30F;
  }
}

std::int64_t official_category_count(std::int64_t neurons) {
  switch (neurons) {
    case 1024:
      return 1812;
    case 4096:
      return 1801;
    case 16384:
      return 1918;
    case 65536:
      return 1994;
    default:
      return 0;
  }
}

void validate(const SparseDnn& net) {
  if (!std::isfinite(net.bias)) throw Error(fmt::format("sparse DNN: bias is not finite: {}", net.bias));
  if (!(net.cap >= 0)) throw Error(fmt::format("sparse DNN: cap must not be negative: {}", net.cap));
  if (!net.biases.empty()) validate_biases(net);
  for (std::size_t l = 0; l < net.gather.size(); ++l)
    validate_layer(net, static_cast<std::int64_t>(l), net.gather[l]);
}

void validate_inputs(const SparseDnn& net, const RowSource& y) {
  if (y.cols() != net.neurons) {
    throw Error(
        fmt::format("sparse DNN: inputs have {} features, the network {} neurons", y.cols(), net.neurons));
  }
  if (y.held() != nullptr) refuse_fault(*y.held(), "sparse DNN, inputs");
}

std::vector<std::int32_t> categories(const Csr<float>& y) {
  std::vector<std::int32_t> ids;
  for (std::int64_t i = 0; i < y.rows; ++i) {
    for (std::int32_t k = y.row_ptr[i]; k < y.row_ptr[i + 1]; ++k) {
      if (y.val[k] != 0) {  // NaN too
        ids.push_back(static_cast<std::int32_t>(i + 1));
        break;
      }
    }
  }
  return ids;
}

SdnnStructure parse_structure(std::string_view word) {
  constexpr std::pair<std::string_view, SdnnStructure> kNames[] = {
      {"general", SdnnStructure::general},
      {"shared_inputs", SdnnStructure::shared_inputs},
      {"absorbing_rows", SdnnStructure::absorbing_rows}};
  std::vector<std::string> names;
  for (const auto& [name, structure] : kNames) {
    if (word == name || (word.size() == 1 && word[0] == static_cast<char>(structure))) return structure;
    names.emplace_back(name);
  }
  throw Error(fmt::format("--class '{}' is none of general (A), shared_inputs (B), absorbing_rows (C){}",
                          printable(word), did_you_mean(word, names)));
}

const char* to_string(SdnnStructure structure) {
  switch (structure) {
    case SdnnStructure::general:
      return "general";
    case SdnnStructure::shared_inputs:
      return "shared_inputs";
    case SdnnStructure::absorbing_rows:
      return "absorbing_rows";
  }
  return "";
}

std::vector<const SdnnPipeline*> sdnn_pipelines() {
  std::vector<const SdnnPipeline*> all;
  for (const SdnnPipeline* p = more_sdnn_pipelines; p != nullptr; p = p->next) all.push_back(p);
  std::sort(all.begin(), all.end(), [](const SdnnPipeline* a, const SdnnPipeline* b) {  // not by link order
    return std::pair(-a->preference, std::string_view(a->name)) <
           std::pair(-b->preference, std::string_view(b->name));
  });
  all.insert(all.end(),
             {&kSdnnCacheBlocked, &kSdnnCsrSpmm, &kSdnnDenseHoisted, &kSdnnDenseAlloc, &kSdnnEigen});
  return all;
}

}  // namespace plumb
