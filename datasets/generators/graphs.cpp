#include "datasets/generators/graphs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "datasets/generators/edges.hpp"
#include "datasets/generators/row_builder.hpp"

namespace plumb {
template <class T>
Csr<T> power_law(const PowerLaw& what) {
  check_shape("power-law", what.rows, what.cols);
  if (what.nnz < 0 || what.nnz > kMostCounted || what.nnz > what.rows * what.cols) {
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
        // Columns beyond the last one move back, from the right.
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
  // Repeats and loops are drawn again, until there are as many distinct edges as requested.
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

template Csr<float> power_law<float>(const PowerLaw&);
template Csr<double> power_law<double>(const PowerLaw&);
template Csr<float> hub_graph<float>(const HubGraph&);
template Csr<double> hub_graph<double>(const HubGraph&);

}  // namespace plumb
