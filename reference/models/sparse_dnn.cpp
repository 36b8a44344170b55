#include "reference/models/sparse_dnn.hpp"

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

}  // namespace

std::int64_t SparseDnn::edges(std::int64_t first, std::int64_t last) const {
  std::int64_t sum = 0;
  for (std::int64_t l = first; l < last; ++l) sum += gather[static_cast<std::size_t>(l)].nnz();
  return sum;
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
  for (std::int64_t l = 0; l < net.layers(); ++l) {
    const Csr<float>& w = net.gather[static_cast<std::size_t>(l)];
    const std::string what = fmt::format("sparse DNN, layer {}", l + 1);
    if (w.rows != net.neurons || w.cols != net.neurons) {
      throw Error(fmt::format("{}: weights are {} x {}, neurons are {}", what, w.rows, w.cols, net.neurons));
    }
    refuse_fault(w, what);
    for (const float v : w.val) {
      if (!std::isfinite(v)) throw Error(fmt::format("{}: a weight is not finite: {}", what, v));
    }
  }
}

void validate_inputs(const SparseDnn& net, const Csr<float>& y) {
  if (y.cols != net.neurons) {
    throw Error(
        fmt::format("sparse DNN: inputs have {} features, the network {} neurons", y.cols, net.neurons));
  }
  refuse_fault(y, "sparse DNN, inputs");
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
      {"absorbing_rows", SdnnStructure::absorbing_rows},
      {"identical_columns", SdnnStructure::identical_columns}};
  std::vector<std::string> names;
  for (const auto& [name, structure] : kNames) {
    if (word == name || (word.size() == 1 && word[0] == static_cast<char>(structure))) return structure;
    names.emplace_back(name);
  }
  throw Error(
      fmt::format("--class '{}' is none of general (A), shared_inputs (B), absorbing_rows (C), "
                  "identical_columns (D){}",
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
    case SdnnStructure::identical_columns:
      return "identical_columns";
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
