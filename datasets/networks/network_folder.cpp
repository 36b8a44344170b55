#include "datasets/networks/network_folder.hpp"

#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "datasets/formats/load_matrix.hpp"
#include "datasets/formats/network_json.hpp"
#include "datasets/formats/npy.hpp"
#include "datasets/formats/sdnn_files.hpp"
#include "reference/core/csr.hpp"
#include "reference/core/error.hpp"

namespace plumb {

namespace {

namespace fs = std::filesystem;

/// Names in a network.json, and what its messages begin with.
class Names {
 public:
  explicit Names(std::string file) : file_(std::move(file)) {}

  [[nodiscard]] Error error(const std::string& key, const std::string& what, const std::string& value) const {
    return input_error(file_, 0, key + ": " + what, value);
  }
  /// The path of a file that is there.
  [[nodiscard]] std::string path_of(const std::string& name, const std::string& key) const {
    std::string path = (fs::path(file_).parent_path() / name).string();
    std::error_code ignored;
    if (!fs::exists(path, ignored)) throw error(key, "no such file", path);
    return path;
  }

 private:
  std::string file_;
};

void require_finite(const std::string& path, const Csr<float>& m, const char* what) {
  for (std::int64_t i = 0; i < m.rows; ++i) {
    for (std::int32_t k = m.row_ptr[static_cast<std::size_t>(i)];
         k < m.row_ptr[static_cast<std::size_t>(i) + 1]; ++k) {
      const float v = m.val[static_cast<std::size_t>(k)];
      if (std::isfinite(v)) continue;
      throw input_error(path, 0,
                        fmt::format("{} is not finite: row {}, column {} (counted from 1)", what, i + 1,
                                    m.col[static_cast<std::size_t>(k)] + 1),
                        fmt::format("{}", v));
    }
  }
}

std::vector<float> biases_of(const NetworkLayer& layer, std::int64_t outputs, const Names& names,
                             const std::string& key) {
  std::vector<float> biases = layer.biases;
  if (!layer.bias_file.empty()) {
    const NpyArray array = read_npy(names.path_of(layer.bias_file, key));
    if (array.shape.size() != 1)
      throw input_error(array.name, 0, "expected one bias per neuron, the shape is", array.shape_text());
    biases = npy_values<float>(array);
    for (std::size_t j = 0; j < biases.size(); ++j) {
      if (std::isfinite(biases[j])) continue;
      throw input_error(array.name, 0, fmt::format("bias is not finite: element {} (counted from 0)", j),
                        fmt::format("{}", biases[j]));
    }
  } else if (biases.empty()) {
    biases.assign(static_cast<std::size_t>(outputs), layer.bias);
  }
  if (static_cast<std::int64_t>(biases.size()) != outputs)
    throw names.error(key, fmt::format("the layer has {} outputs, biases are", outputs),
                      std::to_string(biases.size()));
  return biases;
}

/// Errors: those of read_matrix; a file whose layout is guessed: nobody would be told.
Csr<float> matrix_in(const std::string& path) {
  ReadMatrix<float> read = read_matrix<float>(path);
  if (read.found.notes.empty()) return std::move(read.a);
  throw input_error(
      path, 0, "a network's file must leave nothing to guess: dataset convert FILE OUT.mtx first; guessed",
      read.found.notes.front());
}

/// (outputs, inputs).
Csr<float> weights_of(const NetworkLayer& layer, const Names& names, const std::string& key) {
  const std::string path = names.path_of(layer.file, key);
  Csr<float> w = matrix_in(path);
  require_finite(path, w, "weight");
  return layer.outputs_first ? std::move(w) : transposed(w);
}

bool is_tsv(const std::string& path) {
  const fs::path name(path);
  return name.extension() == ".tsv" || (name.extension() == ".gz" && name.stem().extension() == ".tsv");
}

Csr<float> inputs_of(const std::string& path, std::int64_t width) {
  Csr<float> y = is_tsv(path) ? read_sdnn_images(path, width) : matrix_in(path);
  if (y.cols != width)
    throw input_error(path, 0, fmt::format("the network takes {} values per input, the file has", width),
                      std::to_string(y.cols));
  require_finite(path, y, "input");
  return y;
}

}  // namespace

NetworkFiles read_network_files(const std::string& path, const std::string& images) {
  NetworkFiles out;
  out.file = fs::is_directory(path) ? (fs::path(path) / "network.json").string() : path;
  if (!fs::exists(out.file)) throw input_error(out.file, 0, "no such file");
  const NetworkDescription about = read_network_json(*open_source(out.file));
  const Names names(out.file);
  out.cap = about.cap;
  out.bias_at_nonzeros = about.bias_at_nonzeros;
  for (std::size_t l = 0; l < about.layers.size(); ++l) {
    const std::string key = fmt::format("layers[{}]", l);
    Csr<float> w = weights_of(about.layers[l], names, key + ".file");
    if (l == 0) out.widths.push_back(w.cols);
    if (w.cols != out.widths.back()) {
      throw names.error(key + ".file",
                        fmt::format("{} has {} inputs and {} outputs, the outputs before it are",
                                    printable(about.layers[l].file), w.cols, w.rows),
                        std::to_string(out.widths.back()));
    }
    out.widths.push_back(w.rows);
    if (!about.bias_at_nonzeros)
      out.biases.push_back(biases_of(about.layers[l], w.rows, names, key + ".bias"));
    out.gather.push_back(std::move(w));
  }
  if (images.empty() && about.inputs.empty())
    throw input_error(out.file, 0, "inputs: this key is missing, and --images names no file");
  out.images_from = images.empty() ? names.path_of(about.inputs, "inputs") : images;
  if (!fs::exists(out.images_from)) throw input_error(out.images_from, 0, "no such file");
  out.images = inputs_of(out.images_from, out.widths.front());
  return out;
}

}  // namespace plumb
