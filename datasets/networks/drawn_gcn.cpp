#include "datasets/networks/drawn_gcn.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "datasets/formats/triplets.hpp"
#include "datasets/generators/gcn.hpp"
#include "reference/cases/patterns.hpp"
#include "reference/core/error.hpp"
#include "reference/core/random.hpp"
#include "reference/core/text.hpp"

namespace plumb {

namespace {

/// Random numbers in the order in which they are asked for.
class Stream {
 public:
  Stream(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}
  double unit() { return random_unit(seed_, stream_, next_++); }
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_below(seed_, stream_, next_++, static_cast<std::uint64_t>(n)));
  }
  template <class T>
  T one_of(std::initializer_list<T> all) {
    return all.begin()[below(static_cast<std::int64_t>(all.size()))];
  }

 private:
  std::uint64_t seed_, stream_, next_ = 0;
};

constexpr std::int64_t kMostVertices = 600;
constexpr const char* kGcn = "gcn";

std::vector<std::int64_t> draw_widths(Stream& draw) {
  std::vector<std::int64_t> widths{draw.one_of<std::int64_t>({1, 3, 16, 33, 64, 100, 128, 500})};
  const std::int64_t layers = draw.one_of<std::int64_t>({1, 2, 2, 3, 3, 4, 5, 7});
  for (std::int64_t l = 0; l < layers; ++l)
    widths.push_back(
        draw.one_of<std::int64_t>({1, 2, 7, 8, 16, 17, 32, 33, 41, 47, 64, 65, 100, 128, 200, 256, 512}));
  return widths;
}

/// Multiplications of the dearer order, for one vertex with `degree` edges.
double products_per_vertex(const std::vector<std::int64_t>& widths, double degree) {
  double products = 0;
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    const auto in = static_cast<double>(widths[l]), out = static_cast<double>(widths[l + 1]);
    products += in * out + degree * std::max(in, out);
  }
  return products;
}

Error bad(const Case& c, const std::string& key, const std::string& takes) {
  return Error(
      fmt::format("case '{}': {}={}: takes {}", printable(c.id(), 200), key, printable(c.text(key)), takes));
}

/// Throws where the value is none of `known`.
std::string word(const Case& c, const std::string& key, const std::vector<std::string>& known) {
  std::string value = c.text(key);
  if (std::find(known.begin(), known.end(), value) == known.end())
    throw bad(c, key, fmt::format("{}", fmt::join(known, ", ")));
  return value;
}

Csr<double> graph_of(const Case& c) {
  const std::int64_t n = c.integer("vertices");
  const Pattern pattern{c.text("graph"), n, n, c.number("density"), c.seed, 1};
  Places places = place(pattern, fmt::format("case '{}'", printable(c.id(), 200)));
  const bool normalised = word(c, "values", {"normalised", "signed"}) == "normalised";
  Csr<double> a{n, n, std::move(places.row_ptr), std::move(places.col), {}};
  a.val.assign(a.col.size(), 1);
  if (normalised) return normalised_adjacency(a);
  Stream draw(c.seed, 2);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const double root = std::sqrt(static_cast<double>(a.row_ptr[i + 1] - a.row_ptr[i]));
    for (auto k = static_cast<std::size_t>(a.row_ptr[i]); k < static_cast<std::size_t>(a.row_ptr[i + 1]); ++k)
      a.val[k] = static_cast<float>((2 * draw.unit() - 1) / root);
  }
  return a;
}

/// A value by the case's fill, times `scale`.
double value(const Case& c, Stream& draw, double scale) {
  const double drawn = c.fill == Fill::few        ? 0.25 * static_cast<double>(1 + draw.below(4))
                       : c.fill == Fill::positive ? draw.unit()
                                                  : 2 * draw.unit() - 1;
  return static_cast<float>(drawn * scale);
}

Dense<double> matrix(const Case& c, std::int64_t rows, std::int64_t cols, std::uint64_t stream,
                     double density, double scale) {
  Stream draw(c.seed, stream);
  Dense<double> m{rows, cols, {}};
  m.data.reserve(static_cast<std::size_t>(rows * cols));
  for (std::int64_t at = 0; at < rows * cols; ++at)
    m.data.push_back(density < 1 && draw.unit() >= density ? 0 : value(c, draw, scale));
  return m;
}

std::vector<std::int64_t> widths_of(const Case& c) {
  std::vector<std::int64_t> widths;
  for (const std::string& part : split(c.text("widths"), '-')) widths.push_back(parse_size(part, "widths"));
  if (widths.size() < 2 || *std::min_element(widths.begin(), widths.end()) < 1)
    throw bad(c, "widths", "F0-F1-...-Fk, each at least 1");
  return widths;
}

}  // namespace

Case draw_gcn_case(std::uint64_t seed, std::uint64_t number, double most_products) {
  Stream draw(random_bits(seed, 0x67636e, number), 0);
  const std::vector<std::int64_t> widths = draw_widths(draw);
  const double degree = draw.one_of({0.5, 3.0, 8.0, 20.0});
  const double vertices = std::exp(draw.unit() * std::log(static_cast<double>(kMostVertices)));
  const double most = most_products / products_per_vertex(widths, degree);
  const auto n = static_cast<std::int64_t>(std::clamp(std::min(vertices, most), 1.0, 1.0 * kMostVertices));
  const std::vector<std::string>& patterns = pattern_names();
  Case c;
  c.op = kGcn;
  c.dtype = kUsualDtypes[number % std::size(kUsualDtypes)];
  const auto add = [&](const char* key, std::string text) { c.params.emplace_back(key, std::move(text)); };
  add("vertices", std::to_string(n));
  add("graph", patterns[static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(patterns.size())))]);
  add("density", fmt::format("{:.3g}", std::min(1.0, degree / static_cast<double>(n))));
  add("values", draw.one_of({"normalised", "signed"}));
  add("x", draw.one_of({"csr", "dense"}));
  add("x_density", draw.one_of({"0.02", "0.2", "0.6", "1"}));
  add("widths", fmt::format("{}", fmt::join(widths, "-")));
  add("biases", draw.one_of({"none", "all", "some"}));
  c.fill = draw.one_of({Fill::real, Fill::real, Fill::positive, Fill::few});
  c.seed = static_cast<std::uint64_t>(draw.below(1'000'000));
  c.drawn = true;
  return c;
}

Case draw_timed_gcn_case(std::uint64_t seed, std::uint64_t number, const GcnSize& size) {
  Stream draw(random_bits(seed, 0x74636e, number), 0);
  Case c;
  c.op = kGcn;
  c.dtype = kUsualDtypes[number % std::size(kUsualDtypes)];
  const auto log_uniform = [&](double low, double high) { return low * std::pow(high / low, draw.unit()); };
  const auto width = [&](double low, double high) {
    const bool round = draw.unit() < 0.5;
    const double drawn = log_uniform(low, high);
    return round ? std::int64_t{1} << std::lround(std::log2(drawn)) : std::llround(drawn);
  };
  std::vector<std::int64_t> widths{width(8, 512)};
  for (std::int64_t layer = draw.one_of<std::int64_t>({0, 1, 1, 2}); layer > 0; --layer)
    widths.push_back(width(8, 512));
  widths.push_back(width(2, 64));
  const std::string graph =
      draw.one_of({"uniform", "banded", "powerlaw", "giant", "rmat", "stencil", "arrow"});
  const std::string density = draw.one_of({"0.02", "0.2", "1", "1", "1"});
  const double degree = log_uniform(2, 64), value_bytes = facts(facts(c.dtype).in).bytes;
  double row_bytes = degree * (4 + value_bytes);
  for (const std::int64_t w : widths) row_bytes += value_bytes * static_cast<double>(w);
  const double vertices =
      std::min({log_uniform(size.least_bytes, size.most_bytes) / row_bytes,
                size.most_products / products_per_vertex(widths, degree), size.most_entries / degree});
  const auto n = std::max<std::int64_t>(64, std::llround(vertices));
  const auto add = [&](const char* key, std::string text) { c.params.emplace_back(key, std::move(text)); };
  add("vertices", std::to_string(n));
  add("graph", graph);
  add("density", fmt::format("{:.3g}", std::min(1.0, degree / static_cast<double>(n))));
  add("values", "normalised");
  add("x", density == "1" ? "dense" : "csr");
  add("x_density", density);
  add("widths", fmt::format("{}", fmt::join(widths, "-")));
  add("biases", "none");
  c.fill = Fill::real;
  c.seed = static_cast<std::uint64_t>(draw.below(1'000'000));
  c.drawn = true, c.why = "drawn for timing";
  return c;
}

LoadedGcn gcn_of_case(const Case& c) {
  if (c.op != kGcn) throw Error(fmt::format("--case '{}': the operator is not gcn", printable(c.id(), 200)));
  if (c.fill != Fill::real && c.fill != Fill::positive && c.fill != Fill::few)
    throw Error(
        fmt::format("case '{}': fill={}: takes real, positive, few", printable(c.id(), 200), name(c.fill)));
  const std::vector<std::int64_t> widths = widths_of(c);
  const std::string biases = word(c, "biases", {"none", "all", "some"});
  LoadedGcn net;
  net.from = "drawn: " + c.id();
  net.f64_files = c.dtype == Dtype::f64;
  GcnParts<double>& parts = net.f64;
  parts.a = graph_of(c);
  parts.x_dense = matrix(c, parts.a.rows, widths.front(), 3, c.number("x_density"), 1);
  parts.sparse_features = word(c, "x", {"csr", "dense"}) == "csr";
  if (parts.sparse_features) parts.x_sparse = without_zeros("X", std::exchange(parts.x_dense, {}));
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    const std::uint64_t stream = 16 + 2 * l;
    const double scale = 1 / std::sqrt(static_cast<double>(widths[l]));
    parts.weights.push_back(matrix(c, widths[l], widths[l + 1], stream, 1, scale));
    const bool biased = biases == "all" || (biases == "some" && l % 2 == 1);
    parts.biases.push_back(biased ? matrix(c, 1, widths[l + 1], stream + 1, 1, 0.5).data
                                  : std::vector<double>{});
  }
  return net;
}

}  // namespace plumb
