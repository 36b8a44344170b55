// A trained GCN as a folder of .npy files: normalised adjacency, features, weights, labels, splits,
// expectations.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reference/core/matrix.hpp"

namespace plumb {

/// What the forward pass takes, in one type. n vertices, F0 features, layer l (from 1) with Fl columns.
template <class T>
struct GcnInputs {
  Csr<T> a;                            // (n, n), normalised
  Csr<T> x;                            // (n, F0)
  std::vector<Dense<T>> weights;       // (Fl-1, Fl)
  std::vector<std::vector<T>> biases;  // one per weights: (Fl), empty where the folder has none
};

struct GcnData {
  std::string path;
  GcnInputs<float> f32;
  GcnInputs<double> f64;
  std::vector<std::int32_t> labels;  // (n); empty where there are none
  std::vector<std::int32_t> idx_train, idx_val, idx_test;
  // Expected results and magnitude bounds in fp64, (0, 0) where the folder has none.
  Dense<double> expected_hidden;                    // (n, F1), after the first layer's ReLU
  Dense<double> expected_logits;                    // (n, classes)
  Dense<double> expected_logsoftmax;                // (n, classes)
  Dense<double> magnitude_logits;                   // (n, classes): the same sums over absolute values
  std::map<std::string, double> meta_numbers;       // numbers and booleans at the top level of meta.json
  std::map<std::string, std::string> meta_strings;  // strings there

  [[nodiscard]] std::int64_t vertices() const { return f64.a.rows; }
  [[nodiscard]] std::int64_t features() const { return f64.weights.front().rows; }
  [[nodiscard]] std::int64_t classes() const { return f64.weights.back().cols; }
};

/// Reads A_indptr, A_indices, A_values_f64 or A_values_f32 (or A_values); X_indptr, X_indices, X_values_* or
/// a dense X.npy (zeros left out; -0 too); W1 and, without a gap, W2, W3, ...; and, where they exist, b1, b2, ..., labels, idx_*,
/// expected_*_f64, magnitude_logits_f64, meta.json. Each name may also end in _f32 or _f64. Where both types
/// of a part exist, each fills its own type; otherwise the existing one is converted: fp32 exactly to fp64,
/// fp64 rounded to fp32.
///
/// Errors    a required file missing; a shape that does not fit the others; an indptr that does not start at
///           0, falls, or does not end at the number of indices; an index out of range; a split or label out of
///           range. The file is named.
[[nodiscard]] GcnData read_gcn_folder(const std::string& path);

/// True where `path` is a folder with an A_indptr.npy.
[[nodiscard]] bool is_gcn_folder(const std::string& path);

}  // namespace plumb
