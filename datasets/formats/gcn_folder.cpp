#include "datasets/formats/gcn_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "datasets/formats/npy.hpp"
#include "datasets/formats/triplets.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  explicit Folder(const std::string& path) : path_(path) {}

  /// NAME.npy, or NAME_f64.npy, or NAME_f32.npy; `preferred` first.
  [[nodiscard]] std::optional<NpyArray> find(const std::string& name, const char* preferred = "") const {
    for (const char* ending : {preferred, "", "_f64", "_f32"}) {
      const std::string file = file_of(name + ending);
      std::error_code ignored;
      if (fs::exists(file, ignored)) return read_npy(file);
    }
    return {};
  }
  [[nodiscard]] NpyArray need(const std::string& name, const char* preferred = "") const {
    auto found = find(name, preferred);
    if (!found) throw input_error(path_, 0, "file is missing in the GCN folder", name + ".npy");
    return std::move(*found);
  }
  [[nodiscard]] std::string file_of(const std::string& name) const {
    return (fs::path(path_) / (name + ".npy")).string();
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  const std::string& path_;
};

[[noreturn]] void wrong_shape(const NpyArray& array, const std::string& want) {
  throw input_error(array.name, 0, "shape does not fit the others: expected " + want + ", found",
                    array.shape_text());
}

void want_vector(const NpyArray& array, std::int64_t n) {
  if (array.shape.size() != 1 || (n >= 0 && array.shape[0] != n)) {
    wrong_shape(array, n >= 0 ? "(" + std::to_string(n) + ",)" : "one dimension");
  }
}

void want_matrix(const NpyArray& array, std::int64_t rows, std::int64_t cols) {
  const bool fits =
      array.shape.size() == 2 && (rows < 0 || array.shape[0] == rows) && (cols < 0 || array.shape[1] == cols);
  const auto text = [](std::int64_t n) { return n < 0 ? std::string("any") : std::to_string(n); };
  if (!fits) wrong_shape(array, "(" + text(rows) + ", " + text(cols) + ")");
}

std::vector<std::int32_t> checked_indices(const NpyArray& array, std::int64_t limit) {
  std::vector<std::int32_t> out = npy_values<std::int32_t>(array);
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (out[k] < 0 || out[k] >= limit) {
      throw input_error(array.name, 0,
                        "element " + std::to_string(k) + " is outside 0.." + std::to_string(limit - 1),
                        std::to_string(out[k]));
    }
  }
  return out;
}

// A_indptr, A_indices, A_values_*; `cols` -1: as many as the largest index needs, at least `least`.
template <class T>
Csr<T> read_csr(const Folder& folder, const std::string& prefix, std::int64_t rows, std::int64_t cols,
                const char* type) {
  const NpyArray ptr_array = folder.need(prefix + "_indptr");
  want_vector(ptr_array, rows < 0 ? -1 : rows + 1);
  Csr<T> out;
  out.row_ptr = npy_values<std::int32_t>(ptr_array);
  if (out.row_ptr.empty())
    throw input_error(ptr_array.name, 0, "indptr is empty: it has one element more than rows");
  const NpyArray col_array = folder.need(prefix + "_indices");
  want_vector(col_array, -1);
  out.rows = static_cast<std::int64_t>(out.row_ptr.size()) - 1;
  out.cols = cols < 0 ? out.rows : cols;
  out.col = checked_indices(col_array, out.cols);
  if (out.row_ptr.front() != 0)
    throw input_error(ptr_array.name, 0, "indptr does not start at 0", std::to_string(out.row_ptr.front()));
  for (std::size_t i = 1; i < out.row_ptr.size(); ++i) {
    if (out.row_ptr[i] < out.row_ptr[i - 1]) {
      throw input_error(ptr_array.name, 0, "indptr falls at element " + std::to_string(i),
                        std::to_string(out.row_ptr[i]));
    }
  }
  if (out.row_ptr.back() != out.nnz()) {
    throw input_error(ptr_array.name, 0, "indptr ends elsewhere than at the number of indices",
                      std::to_string(out.row_ptr.back()) + ", " + std::to_string(out.nnz()));
  }
  const NpyArray val_array = folder.need(prefix + "_values", type);
  want_vector(val_array, out.nnz());
  out.val = npy_values<T>(val_array);
  return out;
}

template <class T>
Csr<T> sparse_of(const NpyArray& array) {
  const Dense<T> dense = npy_dense<T>(array);
  if (dense.rows > kLargestIndex || dense.cols > kLargestIndex)
    wrong_shape(array, "less than 2^31 rows and columns");
  return without_zeros(array.name, dense);
}

/// W1, W2, ... as far as they go, each with its bias.
template <class T>
void read_layers(const Folder& folder, const char* type, GcnInputs<T>& out) {
  const auto name = [](const char* letter, std::size_t l) { return letter + std::to_string(l); };
  std::int64_t width = -1;
  std::optional<NpyArray> w = folder.need("W1", type);
  for (std::size_t l = 1; w; w = folder.find(name("W", ++l), type)) {
    want_matrix(*w, width, -1);
    width = w->shape[1];
    out.weights.push_back(npy_dense<T>(*w));
    const auto bias = folder.find(name("b", l), type);
    if (bias) want_vector(*bias, width);
    out.biases.push_back(bias ? npy_values<T>(*bias) : std::vector<T>{});
  }
  const std::size_t last = out.weights.size();
  if (folder.find(name("W", last + 2), type)) static_cast<void>(folder.need(name("W", last + 1), type));
}

template <class T>
GcnInputs<T> read_inputs(const Folder& folder, const char* type) {
  GcnInputs<T> out;
  out.a = read_csr<T>(folder, "A", -1, -1, type);
  read_layers(folder, type, out);
  const std::int64_t features = out.weights.front().rows;
  if (const auto dense = folder.find("X", type)) {
    want_matrix(*dense, out.a.rows, features);
    out.x = sparse_of<T>(*dense);
  } else {
    out.x = read_csr<T>(folder, "X", out.a.rows, features, type);
  }
  return out;
}

void read_meta(const std::string& path, GcnData& out) {
  const std::string file = (fs::path(path) / "meta.json").string();
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return;
  const auto source = open_source(file);
  const auto json = nlohmann::json::parse(read_all(*source), nullptr, false);
  if (json.is_discarded() || !json.is_object()) throw input_error(file, 0, "not a JSON object");
  for (const auto& [key, value] : json.items()) {
    if (value.is_number()) out.meta_numbers[key] = value.get<double>();
    if (value.is_boolean()) out.meta_numbers[key] = value.get<bool>() ? 1.0 : 0.0;
    if (value.is_string()) out.meta_strings[key] = value.get<std::string>();
  }
}

}  // namespace

GcnData read_gcn_folder(const std::string& path) {
  if (!fs::is_directory(path)) throw input_error(path, 0, "no such folder");
  GcnData out;
  out.path = path;
  const Folder folder(path);
  out.f64 = read_inputs<double>(folder, "_f64");
  out.f32 = read_inputs<float>(folder, "_f32");
  const std::int64_t n = out.vertices();
  if (const auto labels = folder.find("labels")) {
    want_vector(*labels, n);
    out.labels = npy_values<std::int32_t>(*labels);  // -1 marks what has no label in some sets
    for (std::size_t k = 0; k < out.labels.size(); ++k) {
      if (out.labels[k] < -1 || out.labels[k] >= out.classes()) {
        throw input_error(
            labels->name, 0,
            "label " + std::to_string(k) + " is outside -1.." + std::to_string(out.classes() - 1),
            std::to_string(out.labels[k]));
      }
    }
  }
  const auto split = [&](const char* name, std::vector<std::int32_t>& to) {
    if (const auto array = folder.find(name)) {
      want_vector(*array, -1);
      to = checked_indices(*array, n);
    }
  };
  split("idx_train", out.idx_train);
  split("idx_val", out.idx_val);
  split("idx_test", out.idx_test);
  const auto expected = [&](const char* name, std::int64_t cols, Dense<double>& to) {
    if (const auto array = folder.find(name, "_f64")) {
      want_matrix(*array, n, cols);
      to = npy_dense<double>(*array);
    }
  };
  expected("expected_hidden", out.f64.weights.front().cols, out.expected_hidden);
  expected("expected_logits", out.classes(), out.expected_logits);
  expected("expected_logsoftmax", out.classes(), out.expected_logsoftmax);
  expected("magnitude_logits", out.classes(), out.magnitude_logits);
  read_meta(path, out);
  return out;
}

bool is_gcn_folder(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::path(path) / "A_indptr.npy", ignored);
}

}  // namespace plumb
