#include "datasets/formats/npz_matrix.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/core/error.hpp"

namespace plumb {
namespace {

const NpyArray& array_of(const std::string& file, const NpzArrays& arrays, const std::string& name) {
  const auto it = arrays.find(name);
  if (it == arrays.end()) throw input_error(file, 0, "array is missing in the .npz", name);
  return it->second;
}

/// Errors: one of `values` is outside 0..limit - 1; `where` is named, and `what` they are.
void require_within(const std::string& where, const char* what, const std::vector<std::int64_t>& values,
                    std::int64_t limit) {
  for (const std::int64_t v : values) {
    if (v < 0 || v >= limit)
      throw input_error(where, 0, fmt::format("{} is outside 0..{}", what, limit - 1), std::to_string(v));
  }
}

std::vector<std::int64_t> indices_of(const std::string& file, const NpzArrays& arrays,
                                     const std::string& name, std::int64_t limit) {
  const NpyArray& array = array_of(file, arrays, name);
  if (array.shape.size() != 1)
    throw input_error(array.name, 0, "expected a vector, the shape is", array.shape_text());
  std::vector<std::int64_t> out = npy_values<std::int64_t>(array);
  require_within(array.name, "index", out, limit);
  return out;
}

/// The two rows of an array (2, n), or the two columns of one (n, 2).
std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> pairs_of(const std::string& file,
                                                                         const NpyArray& array) {
  const std::vector<std::int64_t> all = npy_values<std::int64_t>(array);
  if (array.shape.size() != 2 || (array.shape[0] != 2 && array.shape[1] != 2))
    throw input_error(array.name.empty() ? file : array.name, 0, "expected shape (2, n), the shape is",
                      array.shape_text());
  if (array.shape[0] == 2) {
    const auto half = all.begin() + array.shape[1];
    return {{all.begin(), half}, {half, all.end()}};
  }
  std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> out;
  for (std::size_t k = 0; k < all.size(); k += 2) {
    out.first.push_back(all[k]);
    out.second.push_back(all[k + 1]);
  }
  return out;
}

/// What the formats have in common.
template <class T>
struct MatrixArrays {
  const std::string& file;
  const NpzArrays& arrays;
  std::string format, prefix;
  std::int64_t rows, cols;

  /// Errors: the array has not so many dimensions.
  [[nodiscard]] const NpyArray& data(std::size_t dimensions) const {
    const NpyArray& data = array_of(file, arrays, prefix + "data");
    if (data.shape.size() != dimensions)
      throw input_error(data.name, 0,
                        dimensions == 1 ? "expected a vector, the shape is"
                                        : "expected " + std::to_string(dimensions) + " extents, the shape is",
                        data.shape_text());
    return data;
  }
  [[nodiscard]] std::vector<std::int32_t> indices(const char* name, std::int64_t limit) const {
    const std::vector<std::int64_t> wide = indices_of(file, arrays, prefix + name, limit);
    return {wide.begin(), wide.end()};
  }
  /// Errors: an index is outside 0..limit - 1.
  [[nodiscard]] std::vector<std::int32_t> checked(const std::vector<std::int64_t>& wide, const char* what,
                                                  std::int64_t limit) const {
    require_within(file, what, wide, limit);
    return {wide.begin(), wide.end()};
  }
  /// Which of `major` rows (columns, rows of blocks) each of `count` places of indptr is of.
  [[nodiscard]] std::vector<std::int32_t> expanded(std::int64_t major, std::int64_t count) const {
    const std::vector<std::int64_t> ptr = indices_of(file, arrays, prefix + "indptr", count + 1);
    if (static_cast<std::int64_t>(ptr.size()) != major + 1 || ptr.front() != 0 || ptr.back() != count ||
        !std::is_sorted(ptr.begin(), ptr.end())) {
      throw input_error(
          file, 0,
          "indptr does not rise from 0 to the number of values over the rows (csc: columns; bsr: "
          "rows of blocks)");
    }
    std::vector<std::int32_t> all;
    all.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < major; ++i) {
      const auto k = static_cast<std::size_t>(i);
      all.insert(all.end(), static_cast<std::size_t>(ptr[k + 1] - ptr[k]), static_cast<std::int32_t>(i));
    }
    return all;
  }
};

template <class T>
Triplets<T> entries_of_lists(const MatrixArrays<T>& m) {
  Triplets<T> all;
  all.val = npy_values<T>(m.data(1));
  const auto nnz = static_cast<std::int64_t>(all.val.size());
  if (m.format == "coo" && m.arrays.count(m.prefix + "row") == 0) {
    const auto [row, col] = pairs_of(m.file, array_of(m.file, m.arrays, m.prefix + "coords"));
    all.row = m.checked(row, "row of coords", m.rows);
    all.col = m.checked(col, "column of coords", m.cols);
    return all;
  }
  if (m.format == "coo") {
    all.row = m.indices("row", m.rows);
    all.col = m.indices("col", m.cols);
    return all;
  }
  const bool by_rows = m.format == "csr";
  all.row = m.expanded(by_rows ? m.rows : m.cols, nnz);
  all.col = m.indices("indices", by_rows ? m.cols : m.rows);
  if (!by_rows) std::swap(all.row, all.col);
  return all;
}

/// data (blocks, R, C): dense blocks of R rows and C columns.
template <class T>
Triplets<T> entries_of_blocks(const MatrixArrays<T>& m) {
  const NpyArray& data = m.data(3);
  const std::int64_t count = data.shape[0], r = data.shape[1], c = data.shape[2];
  if (r < 1 || c < 1 || m.rows % r != 0 || m.cols % c != 0)
    throw input_error(data.name, 0, "blocks do not divide the matrix, the shape is", data.shape_text());
  const std::vector<std::int32_t> block_row = m.expanded(m.rows / r, count),
                                  block_col = m.indices("indices", m.cols / c);
  if (static_cast<std::int64_t>(block_col.size()) != count)
    throw input_error(m.file, 0, "indices and blocks differ in number",
                      std::to_string(block_col.size()) + ", " + std::to_string(count));
  Triplets<T> all;
  all.val = npy_values<T>(data);
  for (std::size_t b = 0; b < block_col.size(); ++b) {
    for (std::int64_t i = 0; i < r * c; ++i) {
      all.row.push_back(static_cast<std::int32_t>(block_row[b] * r + i / c));
      all.col.push_back(static_cast<std::int32_t>(block_col[b] * c + i % c));
    }
  }
  return all;
}

/// data (diagonals, length): column j of a diagonal is at row j - offset. What lies outside the matrix is not read.
template <class T>
Triplets<T> entries_of_diagonals(const MatrixArrays<T>& m) {
  const NpyArray& data = m.data(2);
  const std::vector<std::int64_t> offsets = npy_values<std::int64_t>(array_of(m.file, m.arrays, "offsets"));
  if (static_cast<std::int64_t>(offsets.size()) != data.shape[0])
    throw input_error(m.file, 0, "offsets and diagonals differ in number",
                      std::to_string(offsets.size()) + ", " + std::to_string(data.shape[0]));
  const std::vector<T> values = npy_values<T>(data);
  const std::int64_t length = data.shape[1];
  Triplets<T> all;
  for (std::size_t d = 0; d < offsets.size(); ++d) {
    if (offsets[d] <= -m.rows || offsets[d] >= m.cols) continue;
    const std::int64_t begin = std::max<std::int64_t>(0, offsets[d]),
                       end = std::min({m.cols, length, m.rows + offsets[d]});
    for (std::int64_t j = begin; j < end; ++j) {
      const T value = values[d * static_cast<std::size_t>(length) + static_cast<std::size_t>(j)];
      if (value == 0) continue;
      all.row.push_back(static_cast<std::int32_t>(j - offsets[d]));
      all.col.push_back(static_cast<std::int32_t>(j));
      all.val.push_back(value);
    }
  }
  return all;
}

std::string text_in(const NpzArrays& arrays, const char* name) {
  const auto it = arrays.find(name);
  if (it == arrays.end() || (it->second.kind != 'S' && it->second.kind != 'U')) return {};
  std::string text;
  for (const char c : it->second.bytes) {
    if (c != '\0') text += c;
  }
  return text;
}

std::string list_of(const NpzArrays& arrays) {
  std::vector<std::string> found;
  for (const auto& [name, array] : arrays) {
    found.push_back(fmt::format("{} {} {}", printable(name), array.type(), array.shape_text()));
    if (found.size() == 12) break;
  }
  const std::size_t left = arrays.size() - found.size();
  return fmt::format("{}{}", fmt::join(found, ", "), left > 0 ? fmt::format(" and {} more", left) : "");
}

/// What is before "indptr" in the names of a CSR matrix's arrays: nothing, else adj..., else the only one.
std::optional<std::string> csr_prefix(const NpzArrays& arrays) {
  constexpr std::string_view kEnd = "indptr";
  std::vector<std::string> prefixes;
  for (const auto& about : arrays) {
    const std::string& name = about.first;
    if (name.size() < kEnd.size() || name.substr(name.size() - kEnd.size()) != kEnd) continue;
    const std::string prefix = name.substr(0, name.size() - kEnd.size());
    if (arrays.count(prefix + "indices") > 0 && arrays.count(prefix + "data") > 0) prefixes.push_back(prefix);
  }
  for (const std::string& prefix : prefixes) {
    if (prefix.empty() || prefix.rfind("adj", 0) == 0 || prefixes.size() == 1) return prefix;
  }
  return {};
}

std::string gcxs_layout(const std::string& file, const NpzArrays& arrays) {
  const NpyArray& axes = array_of(file, arrays, "compressed_axes");
  const std::vector<std::int64_t> axis = npy_values<std::int64_t>(axes);
  if (axis.size() != 1 || axis[0] < 0 || axis[0] > 1)
    throw input_error(file, 0, "compressed_axes of a matrix is 0 or 1, the array has shape",
                      axes.shape_text());
  return axis[0] == 0 ? "csr" : "csc";
}

/// Errors: places without an entry are not 0.
void require_zero_fill(const std::string& file, const NpzArrays& arrays) {
  const auto it = arrays.find("fill_value");
  if (it == arrays.end()) return;
  for (const double fill : npy_values<double>(it->second)) {
    if (fill == 0) continue;
    throw input_error(
        file, 0,
        "places without an entry are not 0, so the matrix is dense: numpy.save('a.npy', s.todense()) writes "
        "it; fill_value",
        fmt::format("{}", fill));
  }
}

/// (rows, cols) of the array `shape`.
std::pair<std::int64_t, std::int64_t> shape_of(const std::string& file, const NpzArrays& arrays,
                                               const std::string& prefix) {
  const NpyArray& array = array_of(file, arrays, prefix + "shape");
  const std::vector<std::int64_t> shape = npy_values<std::int64_t>(array);
  if (shape.size() != 2 || shape[0] < 0 || shape[1] < 0 || shape[0] > kLargestIndex ||
      shape[1] > kLargestIndex)
    throw input_error(file, 0, "shape is not a pair of numbers in 0..2147483647",
                      shape.size() == 2 ? fmt::format("{}, {}", shape[0], shape[1]) : array.shape_text());
  return {shape[0], shape[1]};
}

/// edge_index and its weights.
template <class T>
Entries<T> entries_of_edges(const std::string& file, const NpzArrays& arrays, const std::string& name,
                            Findings& findings) {
  const auto [from, to] = pairs_of(file, array_of(file, arrays, name));
  Entries<T> out;
  const auto count = arrays.find("num_nodes");
  findings.sized = count != arrays.end() && count->second.count() == 1;
  std::int64_t largest = -1;
  for (const auto* ends : {&from, &to}) {
    for (const std::int64_t v : *ends) largest = std::max(largest, v);
  }
  out.rows = out.cols = findings.sized ? npy_values<std::int64_t>(count->second).front() : largest + 1;
  if (out.rows < 0 || out.rows > kLargestIndex)
    throw input_error(file, 0, "number of vertices is outside 0..2147483647", std::to_string(out.rows));
  const MatrixArrays<T> m{file, arrays, "edges", "", out.rows, out.cols};
  out.all.row = m.checked(from, "source vertex", out.rows);
  out.all.col = m.checked(to, "target vertex", out.cols);
  for (const char* weight : {"edge_weight", "edge_weights", "edge_attr"}) {
    const auto it = arrays.find(weight);
    if (it == arrays.end()) continue;
    if (it->second.count() != static_cast<std::int64_t>(from.size())) {
      findings.notes.push_back(fmt::format("{} {} is not one weight for each edge, and not read", weight,
                                           it->second.shape_text()));
      continue;
    }
    out.all.val = npy_values<T>(it->second);
    break;
  }
  return out;
}

template <class T>
Entries<T> entries_of_dense(const NpyArray& array) {
  const Dense<T> dense = npy_dense<T>(array);
  if (dense.rows > kLargestIndex || dense.cols > kLargestIndex)
    throw input_error(array.name, 0, "array has 2^31 rows or columns or more", array.shape_text());
  return {dense.rows, dense.cols, nonzeros(dense)};
}

}  // namespace

bool NpzMatrix::is_read() const {
  constexpr std::array<std::string_view, 7> kRead{"csr", "csc", "coo", "bsr", "dia", "edges", "dense"};
  return std::find(kRead.begin(), kRead.end(), layout) != kRead.end();
}

std::optional<NpzMatrix> find_matrix(const std::string& file, const NpzArrays& arrays) {
  const auto has = [&arrays](const char* name) { return arrays.count(name) > 0; };
  if (const std::string format = text_in(arrays, "format"); !format.empty())
    return NpzMatrix{"scipy.sparse " + format, format, ""};
  if (has("compressed_axes")) return NpzMatrix{"PyData/Sparse GCXS", gcxs_layout(file, arrays), ""};
  if (has("coords") && has("data")) return NpzMatrix{"PyData/Sparse COO", "coo", ""};
  if (const auto prefix = csr_prefix(arrays)) return NpzMatrix{"CSR arrays", "csr", *prefix};
  if (has("row") && has("col") && has("data")) return NpzMatrix{"COO arrays", "coo", ""};
  for (const char* edges : {"edge_index", "edges"}) {
    if (has(edges)) return NpzMatrix{edges, "edges", edges};
  }
  if (arrays.size() == 1 && arrays.begin()->second.shape.size() == 2)
    return NpzMatrix{"dense array", "dense", arrays.begin()->first};
  return {};
}

template <class T>
Entries<T> npz_entries(const NpzMatrix& matrix, const NpzArrays& arrays, ByteSource& source) {
  const std::string& file = source.name();
  if (!matrix.is_read())
    throw input_error(
        file, 0, "scipy.sparse format is not read (csr, csc, coo, bsr, dia are): convert it with .tocsr()",
        matrix.layout);
  Findings& findings = source.findings();
  if (matrix.layout == "edges") return entries_of_edges<T>(file, arrays, matrix.prefix, findings);
  if (matrix.layout == "dense") return entries_of_dense<T>(arrays.begin()->second);
  require_zero_fill(file, arrays);
  if (!matrix.prefix.empty())
    findings.notes.push_back(fmt::format("the matrix is {0}data, {0}indices, {0}indptr", matrix.prefix));
  if (matrix.what == "CSR arrays" && matrix.prefix.empty())
    findings.notes.emplace_back("no array says the format: data, indices and indptr are taken for CSR");
  const auto [rows, cols] = shape_of(file, arrays, matrix.prefix);
  const MatrixArrays<T> m{file, arrays, matrix.layout, matrix.prefix, rows, cols};
  Entries<T> out{rows, cols, {}};
  Triplets<T>& all = out.all;
  all = matrix.layout == "bsr"   ? entries_of_blocks(m)
        : matrix.layout == "dia" ? entries_of_diagonals(m)
                                 : entries_of_lists(m);
  if (all.row.size() != all.val.size() || all.col.size() != all.val.size()) {
    throw input_error(file, 0, "indices and values differ in number",
                      fmt::format("{}, {}, {}", all.row.size(), all.col.size(), all.val.size()));
  }
  return out;
}

template <class T>
Csr<T> read_npz_matrix(ByteSource& source) {
  const NpzArrays arrays = read_npz(source);
  const std::optional<NpzMatrix> matrix = find_matrix(source.name(), arrays);
  if (!matrix) {
    throw input_error(
        source.name(), 0,
        fmt::format(
            "no sparse matrix in the .npz; found: {}; wanted: those of scipy.sparse.save_npz(FILE, A), or "
            "data, indices, indptr, shape, or coords, data, shape, or edge_index (2, E)",
            arrays.empty() ? "no array" : list_of(arrays)));
  }
  const Entries<T> entries = npz_entries<T>(*matrix, arrays, source);
  return csr_of<T>(source.name(), entries.rows, entries.cols, {&entries.all});
}

template <class T>
Csr<T> read_npz_matrix(const std::string& path) {
  const auto source = open_source(path);
  return read_npz_matrix<T>(*source);
}

template Entries<float> npz_entries(const NpzMatrix&, const NpzArrays&, ByteSource&);
template Entries<double> npz_entries(const NpzMatrix&, const NpzArrays&, ByteSource&);
template Csr<float> read_npz_matrix(ByteSource&);
template Csr<double> read_npz_matrix(ByteSource&);
template Csr<float> read_npz_matrix(const std::string&);
template Csr<double> read_npz_matrix(const std::string&);

}  // namespace plumb
