#include "datasets/generators/edges.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "datasets/generators/row_builder.hpp"

namespace plumb {

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

template Csr<float> graph_from_edges<float>(std::int64_t, std::vector<Edge>, const GraphOptions&);
template Csr<double> graph_from_edges<double>(std::int64_t, std::vector<Edge>, const GraphOptions&);

}  // namespace plumb
