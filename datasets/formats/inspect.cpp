#include "datasets/formats/inspect.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "datasets/formats/binary_cache.hpp"
#include "datasets/formats/edge_list.hpp"
#include "datasets/formats/format_table.hpp"
#include "datasets/formats/gcn_folder.hpp"
#include "datasets/formats/matrix_market.hpp"
#include "datasets/formats/npz_matrix.hpp"
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

/// The rows that hold entries, in order.
class UsedRows {
 public:
  template <class T>
  explicit UsedRows(const std::vector<const Triplets<T>*>& pieces) {
    for (const Triplets<T>* piece : pieces) rows_.insert(rows_.end(), piece->row.begin(), piece->row.end());
    std::sort(rows_.begin(), rows_.end());
    rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
  }
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(rows_.size()); }
  /// The number of a row among them, from 0.
  [[nodiscard]] std::int32_t place(std::int32_t row) const {
    return static_cast<std::int32_t>(std::lower_bound(rows_.begin(), rows_.end(), row) - rows_.begin());
  }

 private:
  std::vector<std::int32_t> rows_;
};

/// Whether arrays with an element for each row would be larger than those with one for each entry, by much.
bool mostly_empty(std::int64_t rows, std::size_t entries) {
  constexpr std::int64_t kSmall = std::int64_t{1} << 20;
  return rows > std::max(kSmall, 4 * static_cast<std::int64_t>(entries));
}

/// describe_rows without memory for rows that a header announces and no entry proves.
void describe_entries(const std::string& name, std::int64_t rows, std::int64_t cols,
                      const std::vector<const Triplets<double>*>& pieces, Inspection& to) {
  std::size_t entries = 0;
  for (const Triplets<double>* piece : pieces) entries += piece->size();
  if (!mostly_empty(rows, entries)) return describe_rows(csr_of<double>(name, rows, cols, pieces).view(), to);
  const UsedRows used(pieces);
  Triplets<double> all;
  for (const Triplets<double>* piece : pieces) {
    for (const std::int32_t row : piece->row) all.row.push_back(used.place(row));
    all.col.insert(all.col.end(), piece->col.begin(), piece->col.end());
  }
  describe_rows(csr_of<double>(name, used.count(), cols, {&all}).view(), to);
  to.rows = rows;
  to.empty_rows += rows - used.count();
  to.min_row = 0;
  to.mean_row = static_cast<double>(entries) / static_cast<double>(rows);
}

std::int64_t unsorted_rows(const MatrixMarket& file) {
  const Triplets<double> places{file.row, {}, {}};
  const bool renumbered = mostly_empty(file.rows, file.row.size());
  const UsedRows used = renumbered ? UsedRows(std::vector<const Triplets<double>*>{&places})
                                   : UsedRows(std::vector<const Triplets<double>*>{});
  std::vector<std::int32_t> last(static_cast<std::size_t>(renumbered ? used.count() : file.rows), -1);
  std::int64_t unsorted = 0;
  for (std::size_t k = 0; k < file.row.size(); ++k) {
    std::int32_t& before = last[static_cast<std::size_t>(renumbered ? used.place(file.row[k]) : file.row[k])];
    if (before == -2) continue;  // seen to fall
    const bool falls = file.col[k] < before;
    unsorted += falls ? 1 : 0;
    before = falls ? -2 : file.col[k];
  }
  return unsorted;
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
  if (file.format == MatrixMarket::Format::coordinate) to.unsorted_rows = unsorted_rows(file);
  if (file.field == MatrixMarket::Field::complex) {
    to.notes.emplace_back("complex values: nnz and rows are those of the pattern");
    file.field = MatrixMarket::Field::real;
    file.imag.clear();
    if (file.format == MatrixMarket::Format::array) return;
  }
  const Entries<double> entries = entries_of<double>(file);
  describe_entries(file.name, entries.rows, entries.cols, {&entries.all}, to);
}

void inspect_npz(ByteSource& source, Inspection& to) {
  const NpzArrays arrays = read_npz(source);
  const std::optional<NpzMatrix> matrix = find_matrix(source.name(), arrays);
  to.kind = matrix ? matrix->what : "npz arrays";
  for (const auto& [name, array] : arrays)
    to.notes.push_back(name + ": " + array.type() + " " + array.shape_text());
  if (!matrix) return;
  if (const auto data = arrays.find(matrix->prefix + "data"); data != arrays.end())
    to.field = data->second.type();
  if (matrix->is_read()) {
    const Entries<double> entries = npz_entries<double>(*matrix, arrays, source);
    describe_entries(source.name(), entries.rows, entries.cols, {&entries.all}, to);
  } else if (const auto shape = arrays.find("shape"); shape != arrays.end() && shape->second.count() == 2) {
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

void inspect_edges(ByteSource& source, const EdgeListOptions& options, Inspection& to) {
  to.kind = "edge list";
  const EdgeList<double> list = read_edges<double>(source, options);
  std::vector<const Triplets<double>*> pieces;
  for (const Triplets<double>& piece : list.pieces) pieces.push_back(&piece);
  describe_entries(source.name(), list.rows, list.cols, pieces, to);
}

Inspection inspect(const std::string& path, const ReadOptions& options) {
  Inspection out;
  out.path = path;
  if (!std::filesystem::is_directory(path)) {
    const auto source = open_source(path);
    const FileFormat& format = format_of_input(*source, options.format);
    if (format.is_edge_list) {
      inspect_edges(*source, edge_list_options(format, options), out);
    } else {
      require_no_edge_options(format, *source, options);
      format.inspect(*source, out);
    }
    for (const std::string& note : source->findings().notes) out.notes.push_back("note: " + note);
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
