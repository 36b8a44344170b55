#include "datasets/generators/gcn.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "datasets/generators/rmat.hpp"
#include "datasets/generators/row_builder.hpp"
#include "reference/core/error.hpp"
#include "reference/core/random.hpp"

namespace plumb {
namespace {

template <class T>
Dense<T> uniform_dense(std::int64_t rows, std::int64_t cols, double limit, std::uint64_t seed,
                       std::uint64_t stream) {
  Dense<T> m{rows, cols, std::vector<T>(static_cast<std::size_t>(rows * cols))};
  for (std::size_t i = 0; i < m.data.size(); ++i) {
    m.data[i] = static_cast<T>(limit * (2.0 * random_unit(seed, stream, i) - 1.0));
  }
  return m;
}

void check_widths(const GcnShape& shape) {
  if (shape.widths.size() < 2)
    throw input_error("gcn", 0, "widths are those of the features and of each layer",
                      std::to_string(shape.widths.size()));
  for (std::size_t l = 0; l < shape.widths.size(); ++l) {
    const std::int64_t width = shape.widths[l];
    if (width < 1 || width > (l == 0 ? 1'000'000 : 65536))
      throw input_error("gcn", 0, "features, hidden units and classes must be 1..65536 (features 1..1000000)",
                        std::to_string(width));
  }
}

template <class T>
void draw_weights(GcnSet<T>& set, const GcnShape& shape) {
  const auto glorot = [](std::int64_t in, std::int64_t out) {
    return std::sqrt(6.0 / static_cast<double>(in + out));
  };
  for (std::size_t l = 0; l + 1 < shape.widths.size(); ++l) {
    const std::int64_t in = shape.widths[l], out = shape.widths[l + 1];
    const std::uint64_t layer = l < 2 ? l : std::uint64_t{l} << 20;  // far from the streams of X
    set.weights.push_back(uniform_dense<T>(in, out, glorot(in, out), shape.seed, 0x7731 + layer));
    set.biases.push_back(uniform_dense<T>(1, out, 0.1, shape.seed, 0x6231 + layer).data);
  }
}

struct Entry {
  std::int32_t col;
  double val;
};

// Row i of A + I with repeats added up and columns ascending.
template <class T>
std::vector<Entry> row_with_loop(const Csr<T>& a, std::int64_t i) {
  std::vector<Entry> row;
  bool loop = false;
  for (std::int64_t e = a.row_ptr[static_cast<std::size_t>(i)];
       e < a.row_ptr[static_cast<std::size_t>(i + 1)]; ++e) {
    row.push_back(
        {a.col[static_cast<std::size_t>(e)], static_cast<double>(a.val[static_cast<std::size_t>(e)])});
    loop = loop || row.back().col == i;
  }
  if (!loop) row.push_back({static_cast<std::int32_t>(i), 1.0});
  std::stable_sort(row.begin(), row.end(), [](const Entry& x, const Entry& y) { return x.col < y.col; });
  std::size_t kept = 0;
  for (std::size_t k = 1; k < row.size(); ++k) {
    if (row[k].col == row[kept].col) {
      row[kept].val += row[k].val;
    } else {
      row[++kept] = row[k];
    }
  }
  row.resize(kept + 1);
  return row;
}

// Of every row of A + I: the root of its sum, and its number of entries.
struct Degrees {
  std::vector<double> root;
  std::vector<std::int64_t> length;
};

template <class T>
Degrees degrees(const Csr<T>& a, const AdjacencyName& name) {
  const auto n = static_cast<std::size_t>(a.rows);
  Degrees d{std::vector<double>(n), std::vector<std::int64_t>(n)};
#pragma omp parallel for schedule(dynamic, 256)
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::vector<Entry> row = row_with_loop(a, i);
    double sum = 0;
    for (const Entry& e : row) sum += e.val;
    d.root[static_cast<std::size_t>(i)] = std::sqrt(sum);
    d.length[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(row.size());
  }
  for (std::size_t i = 0; i < n; ++i) {  // after the loop: an exception must not leave a parallel region
    if (!(d.root[i] > 0) || !std::isfinite(d.root[i])) {
      throw input_error(name.file, 0,
                        std::string("the ") + name.rows + " sum of A + I must be positive and finite, " +
                            name.rows + (name.base == 1 ? " (counted from 1)" : ""),
                        std::to_string(static_cast<std::int64_t>(i) + name.base));
    }
  }
  return d;
}

}  // namespace

template <class T>
Csr<T> normalised_adjacency(const Csr<T>& a, const AdjacencyName& name) {
  if (a.rows != a.cols) {
    throw input_error(name.file, 0, "must be square, is",
                      std::to_string(a.rows) + " x " + std::to_string(a.cols));
  }
  const Degrees of = degrees(a, name);
  const auto n = static_cast<std::size_t>(a.rows);
  Csr<T> out;
  out.rows = out.cols = a.rows;
  out.row_ptr.resize(n + 1);
  std::int64_t nnz = 0;
  for (std::size_t i = 0; i < n; ++i) {
    nnz += of.length[i];
    if (nnz > kMostCounted) throw input_error(name.file, 0, "more than 2147483647 entries with the loops");
    out.row_ptr[i + 1] = static_cast<std::int32_t>(nnz);
  }
  out.col.resize(static_cast<std::size_t>(nnz));
  out.val.resize(static_cast<std::size_t>(nnz));
#pragma omp parallel for schedule(dynamic, 256)
  for (std::int64_t i = 0; i < a.rows; ++i) {
    auto at = static_cast<std::size_t>(out.row_ptr[static_cast<std::size_t>(i)]);
    for (const Entry& e : row_with_loop(a, i)) {
      // one product of roots, not two divisions: a symmetric A stays symmetric to the bit
      out.col[at] = e.col;
      out.val[at++] = static_cast<T>(
          e.val / (of.root[static_cast<std::size_t>(i)] * of.root[static_cast<std::size_t>(e.col)]));
    }
  }
  return out;
}

std::vector<std::int64_t> gcn_widths(std::int64_t features, std::int64_t hidden, std::int64_t classes,
                                     std::int64_t layers) {
  if (layers < 1 || layers > 65536)
    throw input_error("gcn", 0, "layers must be 1..65536", std::to_string(layers));
  std::vector<std::int64_t> widths{features};
  widths.insert(widths.end(), static_cast<std::size_t>(layers - 1), hidden);
  widths.push_back(classes);
  return widths;
}

template <class T>
GcnSet<T> generated_gcn(const GcnShape& shape) {
  check_widths(shape);
  Rmat graph;
  graph.scale = shape.scale;
  graph.edge_factor = shape.edge_factor;
  graph.seed = shape.seed;
  graph.symmetric = true;
  graph.ones = true;
  GcnSet<T> set;
  // Normalised in fp64 whatever T is, so that both types start from the same numbers.
  const Csr<double> a = normalised_adjacency(rmat<double>(graph));
  set.a = {a.rows, a.cols, a.row_ptr, a.col, std::vector<T>(a.val.begin(), a.val.end())};
  const std::int64_t v = a.rows;
  const std::int64_t features = shape.widths.front();
  set.x = {v, features, std::vector<T>(static_cast<std::size_t>(v * features), T{0})};
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < v; ++i) {
    T* row = set.x.data.data() + i * features;
    std::int64_t words = 0;
    const auto set_word = [&](std::int64_t f) {
      if (f == i % features) return true;  // no row is empty
      return random_below(shape.seed, 0x78000000 + static_cast<std::uint64_t>(i),
                          static_cast<std::uint64_t>(f), 8) == 0;
    };
    for (std::int64_t f = 0; f < features; ++f) words += set_word(f) ? 1 : 0;
    for (std::int64_t f = 0; f < features; ++f) {
      if (set_word(f)) row[f] = static_cast<T>(1.0 / static_cast<double>(words));
    }
  }
  draw_weights(set, shape);
  return set;
}

template <class T>
GcnSet<T> generated_gcn(const Csr<double>& graph, const GcnShape& shape) {
  check_widths(shape);
  GcnSet<T> set;
  const Csr<double> a = normalised_adjacency(graph);
  set.a = {a.rows, a.cols, a.row_ptr, a.col, std::vector<T>(a.val.begin(), a.val.end())};
  set.x = uniform_dense<T>(a.rows, shape.widths.front(), 1, shape.seed, 0x7878);
  draw_weights(set, shape);
  return set;
}

#define PLUMB_INSTANTIATE(T)                                                    \
  template Csr<T> normalised_adjacency<T>(const Csr<T>&, const AdjacencyName&); \
  template GcnSet<T> generated_gcn<T>(const GcnShape&);                         \
  template GcnSet<T> generated_gcn<T>(const Csr<double>&, const GcnShape&);
PLUMB_INSTANTIATE(float)
PLUMB_INSTANTIATE(double)
#undef PLUMB_INSTANTIATE

}  // namespace plumb
