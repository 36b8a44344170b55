#include "datasets/generators/rmat.hpp"

#include <string>
#include <utility>
#include <vector>

#include "datasets/generators/edges.hpp"
#include "datasets/generators/row_builder.hpp"
#include "reference/cases/pattern_rows.hpp"

namespace plumb {
namespace {

// A renumbering of 0..2^scale-1: odd multiplication and xor-shift are each one-to-one on scale bits.
std::int32_t renumber(std::uint64_t vertex, std::int64_t scale, std::uint64_t seed) {
  if (scale == 0) return 0;
  const std::uint64_t mask = (std::uint64_t{1} << scale) - 1;
  const std::int64_t half = (scale + 1) / 2;
  for (std::uint64_t round = 0; round < 3; ++round) {
    vertex =
        (vertex * (random_bits(seed, 0x73687566, round) | 1U) + random_bits(seed, 0x73686966, round)) & mask;
    vertex ^= vertex >> half;
  }
  return static_cast<std::int32_t>(vertex);
}

}  // namespace

template <class T>
Csr<T> rmat(const Rmat& what) {
  if (what.scale < 0 || what.scale > 30) {
    throw input_error("rmat", 0, "scale must be 0..30", std::to_string(what.scale));
  }
  const double d = 1.0 - what.a - what.b - what.c;
  if (!(what.a >= 0 && what.b >= 0 && what.c >= 0 && d >= -1e-9)) {
    throw input_error("rmat", 0, "a, b and c must be probabilities that sum to at most 1, sum to",
                      std::to_string(what.a + what.b + what.c));
  }
  const std::int64_t vertices = std::int64_t{1} << what.scale;
  if (what.edge_factor < 0 || what.edge_factor > ((std::int64_t{1} << 31) - 1) / vertices) {
    throw input_error("rmat", 0, "edge factor times vertices must be 0..2147483647, the factor is",
                      std::to_string(what.edge_factor));
  }
  const std::int64_t edges = vertices * what.edge_factor;
  const auto limit = [](double p) { return static_cast<std::uint64_t>(p * 0x1p32); };
  const RmatLimits limits{limit(what.a), limit(what.a + what.b), limit(what.a + what.b + what.c)};

  std::vector<Edge> list(static_cast<std::size_t>(edges));
#pragma omp parallel for schedule(static)
  for (std::int64_t e = 0; e < edges; ++e) {
    std::uint64_t row = 0, col = 0, bits = 0;
    for (std::int64_t level = 0; level < what.scale; ++level) {
      // One draw of 64 bits decides two levels.
      bits = level % 2 == 0
                 ? random_bits(what.seed, static_cast<std::uint64_t>(level), static_cast<std::uint64_t>(e))
                 : bits >> 32;
      limits.descend(bits & 0xffffffffU, row, col);
    }
    if (what.shuffle) {
      list[static_cast<std::size_t>(e)] = {renumber(row, what.scale, what.seed),
                                           renumber(col, what.scale, what.seed)};
    } else {
      list[static_cast<std::size_t>(e)] = {static_cast<std::int32_t>(row), static_cast<std::int32_t>(col)};
    }
  }
  GraphOptions options;
  options.symmetric = what.symmetric;
  options.loops = what.self_loops ? Loops::one_each : Loops::none;
  options.keep_repeats = what.keep_repeats;
  options.ones = what.ones;
  options.seed = what.seed;
  return graph_from_edges<T>(vertices, std::move(list), options);
}

template Csr<float> rmat<float>(const Rmat&);
template Csr<double> rmat<double>(const Rmat&);

}  // namespace plumb
