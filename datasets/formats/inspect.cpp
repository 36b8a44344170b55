#include "datasets/formats/inspect.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "datasets/formats/binary_cache.hpp"
#include "datasets/formats/edge_list.hpp"
#include "datasets/formats/format_table.hpp"
#include "datasets/formats/gcn_folder.hpp"
#include "datasets/formats/matrix_market.hpp"
#include "datasets/formats/npy.hpp"
#include "datasets/formats/sdnn_files.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {
namespace {

template <class V>
void describe_rows(const CsrView<V, Space::host>& a, Inspection& to) {
  to.rows = a.rows;
  to.cols = a.cols;
  to.nnz = a.nnz;
  if (to.stored < 0) to.stored = a.nnz;
  to.empty_rows = to.duplicates = 0;
  to.min_row = a.rows > 0 ? a.nnz : 0;
  to.max_row = 0;
  to.mean_row = a.rows > 0 ? static_cast<double>(a.nnz) / static_cast<double>(a.rows) : 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int64_t n = a.row_ptr[i + 1] - a.row_ptr[i];
    to.min_row = std::min(to.min_row, n);
    to.max_row = std::max(to.max_row, n);
    to.empty_rows += n == 0 ? 1 : 0;
    for (std::int64_t k = a.row_ptr[i] + 1; k < a.row_ptr[i + 1]; ++k)
      to.duplicates += a.col[k] == a.col[k - 1] ? 1 : 0;
  }
}

void describe_network(const std::vector<CsrView<const float, Space::host>>& layers, Inspection& to) {
  std::int64_t edges = 0;
  for (const auto& a : layers) edges += a.nnz;
  to.notes.push_back("layers: " + std::to_string(layers.size()));
  to.notes.push_back("edges in all layers: " + std::to_string(edges));
  if (!layers.empty()) {
    to.notes.emplace_back("rows and entries above are those of layer 1");
    describe_rows(layers[0], to);
  }
  to.field = "f4";
}

void inspect_network(const SdnnNetwork& network, Inspection& to) {
  std::vector<CsrView<const float, Space::host>> views;
  for (const auto& layer : network.layers) views.push_back(layer.view());
  to.kind = "sparse-DNN weights";
  describe_network(views, to);
}

void inspect_gcn(const std::string& path, Inspection& to) {
  const GcnData data = read_gcn_folder(path);
  const auto shape = [](std::int64_t rows, std::int64_t cols) {
    return std::to_string(rows) + " x " + std::to_string(cols);
  };
  to.kind = "GCN folder (rows and entries are those of the adjacency A)";
  to.field = "f8, f4";
  describe_rows(data.f64.a.view(), to);
  to.notes.push_back("features X: " + shape(data.f64.x.rows, data.f64.x.cols) + ", nnz " +
                     std::to_string(data.f64.x.nnz()));
  std::string weights = "weights ";
  bool biases = false;
  for (std::size_t l = 0; l < data.f64.weights.size(); ++l) {
    const Dense<double>& w = data.f64.weights[l];
    weights += (l == 0 ? "W" : ", W") + std::to_string(l + 1) + ": " + shape(w.rows, w.cols);
    biases = biases || !data.f64.biases[l].empty();
  }
  to.notes.push_back(weights);
  to.notes.push_back(std::string("biases: ") + (biases ? "yes" : "no"));
  to.notes.push_back("labels: " + std::to_string(data.labels.size()) +
                     ", test vertices: " + std::to_string(data.idx_test.size()));
  to.notes.push_back(std::string("expected logits: ") + (data.expected_logits.data.empty() ? "no" : "yes"));
}

}  // namespace

void inspect_matrix_market(ByteSource& source, Inspection& to) {
  MatrixMarket file = read_matrix_market(source);
  to.kind = std::string("Matrix Market ") + to_string(file.object) + " " + to_string(file.format);
  to.field = to_string(file.field);
  to.symmetry = to_string(file.symmetry);
  to.stored = file.stored();
  if (!file.graphblas_type.empty()) to.notes.push_back("GraphBLAS type: " + file.graphblas_type);
  if (file.format == MatrixMarket::Format::coordinate) {
    std::vector<std::int32_t> last(static_cast<std::size_t>(file.rows), -1);  // -2: seen to fall
    to.unsorted_rows = 0;
    for (std::size_t k = 0; k < file.row.size(); ++k) {
      std::int32_t& before = last[static_cast<std::size_t>(file.row[k])];
      if (before == -2) continue;
      const bool falls = file.col[k] < before;
      to.unsorted_rows += falls ? 1 : 0;
      before = falls ? -2 : file.col[k];
    }
  }
  if (file.field == MatrixMarket::Field::complex) {
    to.notes.emplace_back("complex values: nnz and rows are those of the pattern");
    file.field = MatrixMarket::Field::real;
    file.imag.clear();
    if (file.format == MatrixMarket::Format::array) return;
  }
  describe_rows(to_csr<double>(file).view(), to);
}

void inspect_npz(ByteSource& source, Inspection& to) {
  const auto arrays = read_npz(source);
  const std::string format = scipy_format(arrays);
  to.kind = format.empty() ? "npz arrays" : "scipy.sparse " + format;
  for (const auto& [name, array] : arrays)
    to.notes.push_back(name + ": " + array.type() + " " + array.shape_text());
  const auto data = arrays.find("data");
  if (data != arrays.end()) to.field = data->second.type();
  if (format.empty()) return;
  const auto shape = arrays.find("shape");
  if (format == "csr" || format == "csc" || format == "coo") {
    describe_rows(scipy_matrix<double>(source.name(), arrays).view(), to);
  } else if (shape != arrays.end() && shape->second.count() == 2) {
    const auto sizes = npy_values<std::int64_t>(shape->second);
    to.rows = sizes[0];
    to.cols = sizes[1];
  }
}

void inspect_cache(ByteSource& source, Inspection& to) {
  const BinaryCache cache(source);
  std::vector<CsrView<const float, Space::host>> views;
  for (std::int64_t k = 0; k < cache.size(); ++k) views.push_back(cache.matrix(k));
  to.kind = cache.kind() == CacheKind::weights  ? "binary cache of sparse-DNN weights"
            : cache.kind() == CacheKind::images ? "binary cache of sparse-DNN images"
                                                : "binary cache of matrices";
  describe_network(views, to);
  to.notes.emplace_back("checksums: all as stored");
}

void inspect_npy(ByteSource& source, Inspection& to) {
  const NpyArray array = read_npy(source);
  to.kind = "npy array";
  to.field = array.type();
  to.notes.push_back("shape: " + array.shape_text() + (array.fortran ? ", column-major" : ""));
  if (array.shape.size() == 2) {
    to.rows = array.shape[0];
    to.cols = array.shape[1];
  }
}

void inspect_weights(ByteSource& source, Inspection& to) { inspect_network(read_sdnn_weights(source), to); }

void inspect_images(ByteSource& source, Inspection& to) {
  to.kind = "sparse-DNN images";
  to.field = "f4";
  describe_rows(read_sdnn_images(source, 0, 0).view(), to);
}

void inspect_edge_list(ByteSource& source, Inspection& to) {
  to.kind = "edge list";
  describe_rows(read_edge_list<double>(source).view(), to);
}

Inspection inspect(const std::string& path, const std::string& format) {
  Inspection out;
  out.path = path;
  if (!std::filesystem::is_directory(path)) {
    const auto source = open_source(path);
    format_of_input(*source, format).inspect(*source, out);
  } else if (is_gcn_folder(path)) {
    inspect_gcn(path, out);
  } else {
    inspect_network(read_sdnn_weights(path), out);
  }
  return out;
}

std::string to_text(const Inspection& found) {
  std::string out = "path: " + found.path + "\nkind: " + found.kind + "\n";
  const auto word = [&](const char* key, const std::string& value) {
    if (!value.empty()) out += std::string(key) + ": " + value + "\n";
  };
  const auto number = [&](const char* key, std::int64_t value) {
    if (value >= 0) out += std::string(key) + ": " + std::to_string(value) + "\n";
  };
  word("field", found.field);
  word("symmetry", found.symmetry);
  number("rows", found.rows);
  number("columns", found.cols);
  number("entries stored", found.stored);
  number("entries", found.nnz);
  number("shortest row", found.min_row);
  if (found.mean_row >= 0) {
    char mean[32];
    std::snprintf(mean, sizeof(mean), "%.4g", found.mean_row);
    word("mean row", mean);
  }
  number("longest row", found.max_row);
  number("empty rows", found.empty_rows);
  number("repeated entries", found.duplicates);
  number("rows not in column order", found.unsorted_rows);
  for (const std::string& note : found.notes) out += note + "\n";
  return out;
}

}  // namespace plumb
