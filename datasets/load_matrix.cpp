#include "datasets/load_matrix.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "datasets/binary_cache.hpp"
#include "datasets/byte_source.hpp"
#include "datasets/edge_list.hpp"
#include "datasets/gcn_folder.hpp"
#include "datasets/matrix_market.hpp"
#include "datasets/npy.hpp"
#include "datasets/sdnn_files.hpp"
#include "datasets/triplets.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

namespace fs = std::filesystem;

enum class Kind : std::uint8_t { matrix_market, npz, npy, tar, cache, layer, images, edge_list, unknown };

constexpr const char* kKnown =
    "Matrix Market (.mtx), scipy.sparse (.npz), .npy, edge list (.el, .edges, .txt, .tsv), sparse-DNN files "
    "(nN-lK.tsv, sparse-images-N.tsv), each also as .gz";

std::string stem_of(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  if (name.size() > 3 && name.substr(name.size() - 3) == ".gz") name.resize(name.size() - 3);
  return name;
}

bool ends_in(std::string_view name, std::string_view ending) {
  return name.size() > ending.size() && name.substr(name.size() - ending.size()) == ending;
}

// "n1024-l3.tsv": a layer of the challenge, 1-based, where an edge list would be 0-based.
bool names_layer(const std::string& name) {
  std::int64_t n = 0, l = 0;
  char tail[8] = {};
  return std::sscanf(name.c_str(), "n%9ld-l%9ld%7s", &n, &l, tail) == 3 && std::string_view(tail) == ".tsv";
}

Kind kind_of(const std::string& path) {
  if (is_cache(path)) return Kind::cache;
  const auto source = open_source(path);
  std::string first(512, '\0');
  first.resize(source->read(first.data(), first.size()));
  const std::size_t text = first.find_first_not_of(" \t\r\n");
  const std::string_view word = text == std::string::npos ? std::string_view{} : std::string_view(first).substr(text);
  const std::string name = stem_of(path);
  if (word.substr(0, 14) == "%%MatrixMarket" || word.substr(0, 13) == "%MatrixMarket") return Kind::matrix_market;
  if (word.substr(0, 4) == "PK\x03\x04" || word.substr(0, 4) == "PK\x05\x06") return Kind::npz;
  if (word.substr(0, 6) == "\x93NUMPY") return Kind::npy;
  if (looks_like_tar(first)) return Kind::tar;
  if (ends_in(name, ".mtx")) return Kind::matrix_market;
  if (ends_in(name, ".npz")) return Kind::npz;
  if (ends_in(name, ".npy")) return Kind::npy;
  if (names_layer(name)) return Kind::layer;
  if (name.rfind("sparse-images-", 0) == 0) return Kind::images;
  for (const char* ending : {".el", ".edges", ".txt", ".tsv"}) {
    if (ends_in(name, ending)) return Kind::edge_list;
  }
  return Kind::unknown;
}

[[noreturn]] void refuse(const std::string& path, const char* what) {
  throw input_error(path, 0, std::string(what) + "; what is known: " + kKnown);
}

template <class T>
Csr<T> converted(const Csr<float>& a) {
  return {a.rows, a.cols, a.row_ptr, a.col, std::vector<T>(a.val.begin(), a.val.end())};
}

template <class T>
Csr<T> without_zeros(const NpyArray& array) {
  const Dense<T> dense = npy_dense<T>(array);
  Triplets<T> all;
  if (dense.rows > kLargestIndex || dense.cols > kLargestIndex) refuse(array.name, "array has 2^31 rows or columns or more");
  for (std::int64_t i = 0; i < dense.rows; ++i) {
    for (std::int64_t j = 0; j < dense.cols; ++j) {
      const T value = dense.data[static_cast<std::size_t>(i * dense.cols + j)];
      if (value == T{0}) continue;
      all.row.push_back(static_cast<std::int32_t>(i));
      all.col.push_back(static_cast<std::int32_t>(j));
      all.val.push_back(value);
    }
  }
  return csr_of<T>(array.name, dense.rows, dense.cols, {&all});
}

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
    for (std::int64_t k = a.row_ptr[i] + 1; k < a.row_ptr[i + 1]; ++k) to.duplicates += a.col[k] == a.col[k - 1] ? 1 : 0;
  }
}

void inspect_matrix_market(const std::string& path, Inspection& to) {
  MatrixMarket file = read_matrix_market(path);
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

void inspect_npz(const std::string& path, Inspection& to) {
  const auto arrays = read_npz(path);
  const std::string format = scipy_format(arrays);
  to.kind = format.empty() ? "npz arrays" : "scipy.sparse " + format;
  for (const auto& [name, array] : arrays) to.notes.push_back(name + ": " + array.type() + " " + array.shape_text());
  const auto data = arrays.find("data");
  if (data != arrays.end()) to.field = data->second.type();
  if (format.empty()) return;
  const auto shape = arrays.find("shape");
  if (format == "csr" || format == "csc" || format == "coo") {
    describe_rows(read_scipy_npz<double>(path).view(), to);
  } else if (shape != arrays.end() && shape->second.count() == 2) {
    const auto sizes = npy_values<std::int64_t>(shape->second);
    to.rows = sizes[0];
    to.cols = sizes[1];
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

void inspect_network(const std::string& path, Inspection& to) {
  const SdnnNetwork network = read_sdnn_weights(path);
  std::vector<CsrView<const float, Space::host>> views;
  for (const auto& layer : network.layers) views.push_back(layer.view());
  to.kind = "sparse-DNN weights";
  describe_network(views, to);
}

void inspect_cache(const std::string& path, Inspection& to) {
  const BinaryCache cache(path);
  std::vector<CsrView<const float, Space::host>> views;
  for (std::int64_t k = 0; k < cache.size(); ++k) views.push_back(cache.matrix(k));
  to.kind = cache.kind() == CacheKind::weights  ? "binary cache of sparse-DNN weights"
            : cache.kind() == CacheKind::images ? "binary cache of sparse-DNN images"
                                                : "binary cache of matrices";
  describe_network(views, to);
  to.notes.emplace_back("checksums: all as stored");
}

void inspect_gcn(const std::string& path, Inspection& to) {
  const GcnData data = read_gcn_folder(path);
  const auto shape = [](std::int64_t rows, std::int64_t cols) { return std::to_string(rows) + " x " + std::to_string(cols); };
  to.kind = "GCN folder (rows and entries are those of the adjacency A)";
  to.field = "f8, f4";
  describe_rows(data.f64.a.view(), to);
  to.notes.push_back("features X: " + shape(data.f64.x.rows, data.f64.x.cols) + ", nnz " + std::to_string(data.f64.x.nnz()));
  to.notes.push_back("weights W1: " + shape(data.features(), data.hidden()) + ", W2: " + shape(data.hidden(), data.classes()));
  to.notes.push_back(std::string("biases: ") + (data.has_b1 || data.has_b2 ? "yes" : "no"));
  to.notes.push_back("labels: " + std::to_string(data.labels.size()) + ", test vertices: " + std::to_string(data.idx_test.size()));
  to.notes.push_back(std::string("expected logits: ") + (data.expected_logits.data.empty() ? "no" : "yes"));
}

}  // namespace

template <class T>
Csr<T> load_matrix(const std::string& path) {
  if (fs::is_directory(path)) refuse(path, "a folder is no matrix");
  switch (kind_of(path)) {
    case Kind::matrix_market: return to_csr<T>(read_matrix_market(path));
    case Kind::npz: return read_scipy_npz<T>(path);
    case Kind::npy: return without_zeros<T>(read_npy(path));
    case Kind::edge_list: return read_edge_list<T>(path);
    case Kind::layer: return converted<T>(read_sdnn_weights(path).layers.at(0));
    case Kind::images: return converted<T>(read_sdnn_images(path));
    case Kind::cache: {
      const BinaryCache cache(path);
      if (cache.size() != 1) refuse(path, "binary cache of several matrices is no matrix");
      return converted<T>(cache.copy(0));
    }
    case Kind::tar: refuse(path, "a tar archive is no matrix");
    case Kind::unknown: break;
  }
  refuse(path, "unknown kind of file");
}

template Csr<float> load_matrix(const std::string&);
template Csr<double> load_matrix(const std::string&);

Inspection inspect(const std::string& path) {
  Inspection out;
  out.path = path;
  if (fs::is_directory(path)) {
    if (is_gcn_folder(path)) {
      inspect_gcn(path, out);
    } else {
      inspect_network(path, out);
    }
    return out;
  }
  switch (kind_of(path)) {
    case Kind::matrix_market: inspect_matrix_market(path, out); break;
    case Kind::npz: inspect_npz(path, out); break;
    case Kind::tar:
    case Kind::layer: inspect_network(path, out); break;
    case Kind::cache: inspect_cache(path, out); break;
    case Kind::images:
      out.kind = "sparse-DNN images";
      out.field = "f4";
      describe_rows(read_sdnn_images(path).view(), out);
      break;
    case Kind::npy: {
      const NpyArray array = read_npy(path);
      out.kind = "npy array";
      out.field = array.type();
      out.notes.push_back("shape: " + array.shape_text() + (array.fortran ? ", column-major" : ""));
      if (array.shape.size() == 2) {
        out.rows = array.shape[0];
        out.cols = array.shape[1];
      }
      break;
    }
    case Kind::edge_list:
      out.kind = "edge list";
      describe_rows(read_edge_list<double>(path).view(), out);
      break;
    case Kind::unknown: refuse(path, "unknown kind of file");
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
