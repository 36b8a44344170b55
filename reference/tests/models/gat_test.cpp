#include "reference/models/gat/gat.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include <doctest/doctest.h>

#include "reference/core/error.hpp"
#include "reference/core/format.hpp"
#include "reference/core/random.hpp"

namespace {

using plumb::Gat;
using plumb::GatActivation;
using plumb::GatLayerOf;
using plumb::GatRun;
using plumb::GcnCheck;
using plumb::GcnJudgement;

/// Uniform in (-1, 1).
std::vector<double> drawn(std::uint64_t seed, std::uint64_t stream, std::int64_t count) {
  std::vector<double> v(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = 2 * plumb::random_unit(seed, stream, i) - 1;
  return v;
}

GatLayerOf<double> layer(std::uint64_t seed, std::int64_t inputs, std::int64_t heads, std::int64_t width,
                         std::int64_t bias) {
  const std::int64_t outputs = heads * width;
  return {heads,
          {inputs, outputs, drawn(seed, 1, inputs * outputs)},
          drawn(seed, 2, outputs),
          drawn(seed, 3, outputs),
          drawn(seed, 4, bias)};
}

/// Three heads of 5, then two that are averaged: 37 vertices of up to 12 entries each, one of them without.
Gat<double> random_network(std::uint64_t seed, bool sparse) {
  constexpr std::int64_t kVertices = 37, kFeatures = 11;
  Gat<double> net;
  net.a.rows = net.a.cols = kVertices;
  for (std::int64_t i = 0; i < kVertices; ++i) {
    for (std::uint64_t e = 0;
         i != 5 && e < 1 + plumb::random_below(seed, 5, static_cast<std::uint64_t>(i), 12); ++e)
      net.a.col.push_back(static_cast<std::int32_t>(
          plumb::random_below(seed, 6 + e, static_cast<std::uint64_t>(i), kVertices)));
    net.a.row_ptr.push_back(static_cast<std::int32_t>(net.a.col.size()));
  }
  net.a.val.assign(net.a.col.size(), 1);
  net.sparse_features = sparse;
  if (sparse) {
    net.x_sparse.rows = kVertices, net.x_sparse.cols = kFeatures;
    for (std::int32_t i = 0; i < kVertices; ++i) {
      for (std::int32_t j = i % 3; j < kFeatures; j += 4) net.x_sparse.col.push_back(j);
      net.x_sparse.row_ptr.push_back(static_cast<std::int32_t>(net.x_sparse.col.size()));
    }
    net.x_sparse.val = drawn(seed, 30, net.x_sparse.nnz());
  } else {
    net.x_dense = {kVertices, kFeatures, drawn(seed, 31, kVertices * kFeatures)};
  }
  net.layers = {layer(seed + 100, kFeatures, 3, 5, 15), layer(seed + 200, 15, 2, 4, 4)};
  return net;
}

double worst_of(const GcnJudgement& judgement) {
  double worst = 0;
  for (const GcnCheck& check : judgement.checks) worst = std::max(worst, check.verdict.worst);
  return worst;
}

template <class T>
void check_within_bounds(const Gat<double>& f64) {
  const Gat<T> net = plumb::convert<T>(f64);
  plumb::validate(net);
  const GcnJudgement judgement = plumb::judge_gat(net, plumb::run_gat(net));
  CHECK_FALSE(judgement.differs());
  CHECK(judgement.checks.size() == net.layers.size() + 2);
  CHECK(worst_of(judgement) > 0);
  CHECK(worst_of(judgement) < 1);
}

/// Whether the judgement of `net` finds the run of another one wrong.
bool finds(const Gat<double>& net, const std::function<void(Gat<double>&)>& change) {
  Gat<double> other = net;
  change(other);
  const Gat<float> f32 = plumb::convert<float>(net);
  return plumb::judge_gat(f32, plumb::run_gat(plumb::convert<float>(other))).differs();
}

}  // namespace

TEST_CASE("gat: one head on two vertices, by hand") {
  // H = ((1, -1), (2, -2)); scores of vertex 0: -1 + 1 and -1 + 2; vertex 1 sees itself alone
  Gat<double> net;
  net.a = {2, 2, {0, 2, 3}, {0, 1, 1}, {1, 1, 1}};
  net.x_dense = {2, 1, {1, 2}};
  net.layers = {{1, {1, 2, {1, -1}}, {1, 0}, {0, 1}, {}}};
  plumb::validate(net);
  const GatRun<double> run = plumb::run_gat(net);
  const double e = std::exp(1.0), mean = (1 + 2 * e) / (1 + e);
  const std::vector<double> want = {mean, -mean, 2, -2};
  for (std::size_t i = 0; i < want.size(); ++i)
    CHECK(run.outputs.at(0).data.at(i) == doctest::Approx(want[i]));
  CHECK(run.log_softmax.data.at(3) == doctest::Approx(-4 - std::log1p(std::exp(-4.0))));
  CHECK_FALSE(plumb::judge_gat(net, run).differs());

  // a negative score is a fifth of itself: vertex 0 has -1 + 1 = 0 and -1 - 4 = -5, which becomes -1
  net.x_dense.data[1] = -4;
  const double p = std::exp(-1.0) / (1 + std::exp(-1.0));
  CHECK(plumb::run_gat(net).outputs.at(0).data.at(0) == doctest::Approx(1 - 5 * p));
}

TEST_CASE("gat: averaged heads, biases and what stands behind a layer, by hand") {
  Gat<double> net;
  net.a = {1, 1, {0, 1}, {0}, {1}};
  net.x_dense = {1, 1, {1}};
  net.layers = {{2, {1, 2, {1, -4}}, {1, 1}, {1, 1}, {0.5}}, {1, {1, 1, {1}}, {1}, {1}, {}}};
  plumb::validate(net);
  CHECK(plumb::run_gat(net).outputs.at(0).data.at(0) ==
        doctest::Approx(std::expm1(-1.0)));  // (1 - 4) / 2 + 1 / 2
  net.activation = GatActivation::relu;
  CHECK(plumb::run_gat(net).outputs.at(0).data.at(0) == 0);
  net.layers[0].bias = {0.5, 5};  // beside each other
  net.layers[1].w = {2, 1, {1, 1}};
  plumb::validate(net);
  CHECK(plumb::run_gat(net).outputs.at(0).data == std::vector<double>{1.5, 1});
}

TEST_CASE("gat: runs in both types stay within the bounds of each layer and of the whole") {
  for (const bool sparse : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      CAPTURE(seed);
      Gat<double> net = random_network(seed, sparse);
      if (seed % 2 == 0) net.activation = GatActivation::relu;
      check_within_bounds<float>(net);
      check_within_bounds<double>(net);
    }
  }
}

TEST_CASE("gat: what a run does otherwise is found") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    const Gat<double> net = random_network(seed, false);
    CHECK_FALSE(finds(net, [](Gat<double>&) {}));
    CHECK(finds(net, [](Gat<double>& n) { n.a.col[3] = (n.a.col[3] + 1) % 37; }));
    CHECK(finds(net, [](Gat<double>& n) { std::swap(n.layers[0].source, n.layers[0].target); }));
    CHECK(finds(net, [](Gat<double>& n) { n.activation = GatActivation::relu; }));
    CHECK(finds(net, [](Gat<double>& n) { n.layers[1].bias[2] *= 1 + 0x1p-10; }));
    CHECK(finds(net, [](Gat<double>& n) {
      plumb::quantise(plumb::Format::bf16, n.layers[0].w.data.data(),
                      static_cast<std::int64_t>(n.layers[0].w.data.size()));
    }));
    CHECK(finds(net, [](Gat<double>& n) {  // the scores of one head taken for those of the next
      std::rotate(n.layers[0].source.begin(), n.layers[0].source.begin() + 5, n.layers[0].source.end());
    }));
  }
}

TEST_CASE("gat: shapes that do not fit are refused") {
  const auto refuses = [](const std::function<void(Gat<double>&)>& change, const char* what) {
    Gat<double> net = random_network(1, false);
    change(net);
    CHECK_THROWS_WITH_AS(plumb::validate(net), doctest::Contains(what), plumb::Error);
  };
  refuses([](Gat<double>& n) { n.layers.clear(); }, "there is no layer");
  refuses([](Gat<double>& n) { n.layers[1].w.rows = 14; }, "layer 2 has 15 inputs, and its W 14 rows");
  refuses([](Gat<double>& n) { n.layers[0].source.pop_back(); }, "layer 1: 15 outputs, 3 heads, att_src 14");
  refuses([](Gat<double>& n) { n.layers[1].bias.pop_back(); }, "bias 3");
  refuses([](Gat<double>& n) { n.x_dense.rows = 36; }, "37 vertices, and X has 36 rows");
}
