#include "datasets/generators/graphs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "datasets/generators/rmat.hpp"
#include "datasets/generators/row_builder.hpp"

namespace plumb {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

template <class T>
Dense<T> uniform_dense(std::int64_t rows, std::int64_t cols, double limit, std::uint64_t seed,
                       std::uint64_t stream) {
  Dense<T> m{rows, cols, std::vector<T>(static_cast<std::size_t>(rows * cols))};
  for (std::size_t i = 0; i < m.data.size(); ++i) {
    m.data[i] = static_cast<T>(limit * (2.0 * random_unit(seed, stream, i) - 1.0));
  }
  return m;
}

}  // namespace

template <class T>
Csr<T> graph_from_edges(std::int64_t vertices, std::vector<Edge> edges, const GraphOptions& options) {
  check_shape("graph", vertices, vertices);
  std::vector<std::int64_t> start(static_cast<std::size_t>(vertices + 1), 0);
  const auto each = [&](auto&& take) {
    for (const Edge& e : edges) {
      if (e.from == e.to) {
        if (options.loops == Loops::as_given) take(e.from, e.to);
        continue;
      }
      take(e.from, e.to);
      if (options.symmetric) take(e.to, e.from);
    }
    if (options.loops == Loops::one_each) {
      for (std::int64_t v = 0; v < vertices; ++v)
        take(static_cast<std::int32_t>(v), static_cast<std::int32_t>(v));
    }
  };
  for (const Edge& e : edges) {
    if (e.from < 0 || e.to < 0 || e.from >= vertices || e.to >= vertices) {
      throw input_error("graph", 0, "edge outside the vertices",
                        std::to_string(e.from) + " -> " + std::to_string(e.to));
    }
  }
  each([&](std::int32_t from, std::int32_t) { ++start[static_cast<std::size_t>(from) + 1]; });
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<std::int32_t> to(static_cast<std::size_t>(start.back()));
  {
    std::vector<std::int64_t> next(start.begin(), start.end() - 1);
    each([&](std::int32_t from, std::int32_t target) {
      to[static_cast<std::size_t>(next[static_cast<std::size_t>(from)]++)] = target;
    });
  }
  std::vector<Edge>().swap(edges);

  std::vector<std::int64_t> length(static_cast<std::size_t>(vertices));
#pragma omp parallel for schedule(dynamic, 256)
  for (std::int64_t v = 0; v < vertices; ++v) {
    const auto first = to.begin() + start[static_cast<std::size_t>(v)];
    auto last = to.begin() + start[static_cast<std::size_t>(v + 1)];
    std::sort(first, last);
    if (!options.keep_repeats) last = std::unique(first, last);
    length[static_cast<std::size_t>(v)] = last - first;
  }
  return build_rows<T>(
      "graph", vertices, vertices, [&](std::int64_t v) { return length[static_cast<std::size_t>(v)]; },
      [&](std::int64_t v, std::int32_t* out, std::int64_t n) {
        std::copy_n(to.begin() + start[static_cast<std::size_t>(v)], n, out);
      },
      [&](std::int64_t i, std::int64_t j) {
        if (options.ones) return 1.0;
        return options.symmetric ? entry_value(options.seed, std::min(i, j), std::max(i, j))
                                 : entry_value(options.seed, i, j);
      });
}

template <class T>
Csr<T> power_law(const PowerLaw& what) {
  check_shape("power-law", what.rows, what.cols);
  if (what.nnz < 0 || what.nnz > kMost || what.nnz > what.rows * what.cols) {
    throw input_error("power-law", 0, "entries do not fit the matrix", std::to_string(what.nnz));
  }
  if (!(what.exponent >= 0 && what.exponent <= 4)) {
    throw input_error("power-law", 0, "the exponent must be 0..4", std::to_string(what.exponent));
  }
  // Shares by rank; what the cap cuts off the longest rows goes to the others.
  std::vector<double> share(static_cast<std::size_t>(what.rows));
  for (std::size_t r = 0; r < share.size(); ++r)
    share[r] = std::pow(static_cast<double>(r + 1), -what.exponent);
  std::vector<std::int64_t> length(share.size(), 0);
  const auto full = static_cast<double>(what.cols);
  double left = static_cast<double>(what.nnz), weight = std::accumulate(share.begin(), share.end(), 0.0);
  double carry = 0;
  for (std::size_t r = 0; r < share.size(); ++r) {
    const double want = std::min(full, left * share[r] / weight);
    left -= want;
    weight -= share[r];
    carry += want;
    length[r] = std::min(what.cols, static_cast<std::int64_t>(carry + 0.5));
    carry -= static_cast<double>(length[r]);
    if (weight <= 0) weight = 1;
  }
  // rank of row i: a random order, by sorting on draws
  std::vector<std::size_t> rank(share.size());
  std::iota(rank.begin(), rank.end(), std::size_t{0});
  if (what.shuffle) {
    std::sort(rank.begin(), rank.end(), [&](std::size_t a, std::size_t b) {
      const std::uint64_t x = random_bits(what.seed, 0x72616e6b, a),
                          y = random_bits(what.seed, 0x72616e6b, b);
      return x != y ? x < y : a < b;
    });
  }
  return build_rows<T>(
      "power-law", what.rows, what.cols,
      [&](std::int64_t i) { return length[rank[static_cast<std::size_t>(i)]]; },
      [&](std::int64_t i, std::int32_t* out, std::int64_t n) {
        // Squaring a uniform number crowds the columns towards the low ones; repeats are replaced by the next
        // free one.
        const auto stream = static_cast<std::uint64_t>(i);
        for (std::int64_t k = 0; k < n; ++k) {
          const double u = random_unit(what.seed, stream, static_cast<std::uint64_t>(k));
          out[k] = static_cast<std::int32_t>(u * u * static_cast<double>(what.cols));
        }
        std::sort(out, out + n);
        for (std::int64_t k = 1; k < n; ++k) out[k] = std::max(out[k], out[k - 1] + 1);
        // Pushed over the edge: push back from the right.
        std::int64_t most = what.cols - 1;
        for (std::int64_t k = n - 1; k >= 0 && out[k] > most; --k) out[k] = static_cast<std::int32_t>(most--);
      },
      [&](std::int64_t i, std::int64_t j) { return entry_value(what.seed, i, j); });
}

template <class T>
Csr<T> hub_graph(const HubGraph& what) {
  check_shape("hub graph", what.vertices, what.vertices);
  if (what.edges < 0 || what.edges > what.vertices * (what.vertices - 1) / 4) {
    throw input_error("hub graph", 0, "edges do not fit the vertices", std::to_string(what.edges));
  }
  if (!(what.exponent >= 0 && what.exponent < 1)) {
    throw input_error("hub graph", 0, "the exponent must be 0 or more, and below 1",
                      std::to_string(what.exponent));
  }
  const auto n = static_cast<std::uint64_t>(what.vertices);
  std::vector<std::int32_t> of_rank(static_cast<std::size_t>(n));
  std::iota(of_rank.begin(), of_rank.end(), 0);
  std::sort(of_rank.begin(), of_rank.end(), [&](std::int32_t a, std::int32_t b) {
    const std::uint64_t x = random_bits(what.seed, 0x72616e6b, static_cast<std::uint64_t>(a)),
                        y = random_bits(what.seed, 0x72616e6b, static_cast<std::uint64_t>(b));
    return x != y ? x < y : a < b;
  });
  // Repeats and loops are drawn again, until there are as many distinct edges as wanted.
  std::vector<std::uint64_t> drawn;  // lower vertex * n + higher
  const auto wanted = static_cast<std::size_t>(what.edges);
  for (std::uint64_t k = 0; drawn.size() < wanted;) {
    for (std::size_t missing = wanted - drawn.size(); missing > 0; ++k) {
      const double u = random_unit(what.seed, 0x687562, k);
      const auto rank = std::min(
          n - 1, static_cast<std::uint64_t>(static_cast<double>(n) * std::pow(u, 1 / (1 - what.exponent))));
      const auto a = static_cast<std::uint64_t>(of_rank[static_cast<std::size_t>(rank)]),
                 b = random_below(what.seed, 0x656e64, k, n);
      if (a == b) continue;
      drawn.push_back(std::min(a, b) * n + std::max(a, b));
      --missing;
    }
    std::sort(drawn.begin(), drawn.end());
    drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  }
  std::vector<Edge> edges;
  edges.reserve(wanted);
  for (const std::uint64_t e : drawn)
    edges.push_back({static_cast<std::int32_t>(e / n), static_cast<std::int32_t>(e % n)});
  GraphOptions options;
  options.symmetric = options.ones = true;
  options.loops = Loops::none;
  return graph_from_edges<T>(what.vertices, std::move(edges), options);
}

HubGraph web_stanford_lookalike() {
  HubGraph graph;
  graph.vertices = 281903;
  graph.edges = 1992636;   // (4,267,175 - 281,903) / 2
  graph.exponent = 0.691;  // gives a longest row of 38 thousand
  return graph;
}

template <class T>
Csr<T> normalised_adjacency(const Csr<T>& a) {
  if (a.rows != a.cols) {
    throw input_error("adjacency", 0, "must be square, is",
                      std::to_string(a.rows) + " x " + std::to_string(a.cols));
  }
  struct Entry {
    std::int32_t col;
    double val;
  };
  // One row of A + I with repeats added up and columns ascending.
  const auto row_of = [&](std::int64_t i) {
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
  };
  const auto n = static_cast<std::size_t>(a.rows);
  std::vector<double> root(n);
  std::vector<std::int64_t> length(n);
#pragma omp parallel for schedule(dynamic, 256)
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::vector<Entry> row = row_of(i);
    double sum = 0;
    for (const Entry& e : row) sum += e.val;
    root[static_cast<std::size_t>(i)] =
        std::sqrt(sum);  // checked below: an exception must not leave a parallel region
    length[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(row.size());
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (!(root[i] > 0) || !std::isfinite(root[i])) {
      throw input_error("adjacency", 0, "the row sum of A + I must be positive and finite, row",
                        std::to_string(i));
    }
  }
  Csr<T> out;
  out.rows = out.cols = a.rows;
  out.row_ptr.resize(n + 1);
  std::int64_t nnz = 0;
  for (std::size_t i = 0; i < n; ++i) {
    nnz += length[i];
    if (nnz > kMost) throw input_error("adjacency", 0, "more than 2147483647 entries with the loops");
    out.row_ptr[i + 1] = static_cast<std::int32_t>(nnz);
  }
  out.col.resize(static_cast<std::size_t>(nnz));
  out.val.resize(static_cast<std::size_t>(nnz));
#pragma omp parallel for schedule(dynamic, 256)
  for (std::int64_t i = 0; i < a.rows; ++i) {
    auto at = static_cast<std::size_t>(out.row_ptr[static_cast<std::size_t>(i)]);
    for (const Entry& e : row_of(i)) {
      // one product of roots, not two divisions: a symmetric A stays symmetric to the bit
      out.col[at] = e.col;
      out.val[at++] =
          static_cast<T>(e.val / (root[static_cast<std::size_t>(i)] * root[static_cast<std::size_t>(e.col)]));
    }
  }
  return out;
}

void check_widths(const GcnShape& shape) {
  if (shape.features < 1 || shape.hidden < 1 || shape.classes < 1 || shape.features > 1'000'000 ||
      shape.hidden > 65536 || shape.classes > 65536) {
    throw input_error("gcn", 0, "features, hidden units and classes must be 1..65536 (features 1..1000000)",
                      std::to_string(shape.features) + ", " + std::to_string(shape.hidden) + ", " +
                          std::to_string(shape.classes));
  }
}

template <class T>
void draw_weights(GcnSet<T>& set, const GcnShape& shape) {
  const auto glorot = [](std::int64_t in, std::int64_t out) {
    return std::sqrt(6.0 / static_cast<double>(in + out));
  };
  set.w1 = uniform_dense<T>(shape.features, shape.hidden, glorot(shape.features, shape.hidden), shape.seed,
                            0x7731);
  set.w2 =
      uniform_dense<T>(shape.hidden, shape.classes, glorot(shape.hidden, shape.classes), shape.seed, 0x7732);
  set.b1 = uniform_dense<T>(1, shape.hidden, 0.1, shape.seed, 0x6231).data;
  set.b2 = uniform_dense<T>(1, shape.classes, 0.1, shape.seed, 0x6232).data;
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
  set.x = {v, shape.features, std::vector<T>(static_cast<std::size_t>(v * shape.features), T{0})};
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < v; ++i) {
    T* row = set.x.data.data() + i * shape.features;
    std::int64_t words = 0;
    const auto set_word = [&](std::int64_t f) {
      if (f == i % shape.features) return true;  // no row is empty
      return random_below(shape.seed, 0x78000000 + static_cast<std::uint64_t>(i),
                          static_cast<std::uint64_t>(f), 8) == 0;
    };
    for (std::int64_t f = 0; f < shape.features; ++f) words += set_word(f) ? 1 : 0;
    for (std::int64_t f = 0; f < shape.features; ++f) {
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
  set.x = uniform_dense<T>(a.rows, shape.features, 1, shape.seed, 0x7878);
  draw_weights(set, shape);
  return set;
}

#define PLUMB_INSTANTIATE(T)                                                                 \
  template Csr<T> graph_from_edges<T>(std::int64_t, std::vector<Edge>, const GraphOptions&); \
  template Csr<T> power_law<T>(const PowerLaw&);                                             \
  template Csr<T> hub_graph<T>(const HubGraph&);                                             \
  template Csr<T> normalised_adjacency<T>(const Csr<T>&);                                    \
  template GcnSet<T> generated_gcn<T>(const GcnShape&);                                      \
  template GcnSet<T> generated_gcn<T>(const Csr<double>&, const GcnShape&);
PLUMB_INSTANTIATE(float)
PLUMB_INSTANTIATE(double)
#undef PLUMB_INSTANTIATE

}  // namespace plumb
