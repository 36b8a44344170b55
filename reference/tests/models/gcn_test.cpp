#include "reference/models/gcn/gcn.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <doctest/doctest.h>

#include "reference/cases/operator.hpp"
#include "reference/core/error.hpp"
#include "reference/core/random.hpp"
#include "reference/models/gcn/judge.hpp"
#include "reference/models/gcn/reorder.hpp"
#include "reference/ops/log_softmax.hpp"
#include "reference/tests/models/random_gcn.hpp"

namespace {

using plumb::Csr;
using plumb::Dense;
using plumb::Dtype;
using plumb::Gcn;
using plumb::GcnOrder;
using plumb::VertexOrder;
using plumb::test::misses_of;
using plumb::test::of_degrees;
using plumb::test::random_network;
using plumb::test::with_sparse_features;

/// A path 0 - 1 - 2 with A = [[1, 1, 0], [0, 2, 0], [1, 0, 1]], X = [[1, 0], [0, 1], [2, -1]]; W1 = [[1, -1],
/// [1, 1]], b1 = (0, 1), W2 = [[1, 0], [0, 2]], no b2.
Gcn<double> by_hand() {
  Gcn<double> net;
  net.a = {3, 3, {0, 2, 3, 5}, {0, 1, 1, 0, 2}, {1, 1, 2, 1, 1}};
  net.x_dense = {3, 2, {1, 0, 0, 1, 2, -1}};
  net.weights = {{2, 2, {1, -1, 1, 1}}, {2, 2, {1, 0, 0, 2}}};
  net.biases = {{0, 1}, {}};
  return net;
}

std::vector<const plumb::GcnPipeline*> host_pipelines() {
  std::vector<const plumb::GcnPipeline*> all;
  for (const plumb::GcnPipeline* p : plumb::gcn_pipelines()) {
    if (p->space == plumb::Space::host) all.push_back(p);
  }
  return all;
}

/// What LogSoftmax in fp32 may err by in element j of a row whose logits are exact.
double log_softmax_bound(const std::vector<float>& logits, std::size_t j) {
  const auto cols = static_cast<std::int64_t>(logits.size());
  plumb::LogSoftmax::In<float, plumb::Space::host> in;
  in.x = {logits.data(), 1, cols, cols};
  plumb::LogSoftmax::Out<float, plumb::Space::host> out;
  out.y = {nullptr, 1, cols, cols};
  plumb::Reference reference;
  plumb::LogSoftmax::oracle<float>(plumb::LogSoftmax::Problem<float>{}, in, out, reference);
  const plumb::ReferenceArray& y = reference.outputs.at(0);
  return plumb::LogSoftmax::bound(plumb::Tolerance{}, 0, y.value[j], y.magnitude[j], y.terms[j]);
}

constexpr GcnOrder kOrders[] = {GcnOrder::by_cost, GcnOrder::transform_first, GcnOrder::aggregate_first};

}  // namespace

TEST_CASE("two layers by hand, dense and CSR features, both orders, both types, every pipeline") {
  // X W1 = [[1,-1],[1,1],[1,-3]];  A of it = [[2,0],[2,2],[2,-4]];  + b1, ReLU = [[2,1],[2,3],[2,0]]
  // H W2 = [[2,2],[2,6],[2,0]];    A of it = [[4,8],[4,12],[4,2]] = logits
  const std::vector<double> hidden{2, 1, 2, 3, 2, 0}, logits{4, 8, 4, 12, 4, 2};
  for (const bool sparse : {false, true}) {
    const Gcn<double> net = sparse ? with_sparse_features(by_hand()) : by_hand();
    plumb::validate(net);
    const plumb::GcnReference reference = plumb::reference_gcn(net, Dtype::f64);
    CHECK(reference.hidden[0].data == hidden);
    CHECK(reference.logits.data == logits);
    CHECK(reference.log_softmax.data[0] == doctest::Approx(-4 - std::log(1 + std::exp(-4.0))).epsilon(1e-14));
    for (const auto* pipeline : host_pipelines()) {
      for (const GcnOrder order : kOrders) {
        CAPTURE(pipeline->name);
        const plumb::GcnRun<double> f64 = pipeline->run_f64(net, order);
        CHECK(f64.hidden[0].data == hidden);
        CHECK(f64.logits.data == logits);
        const plumb::GcnRun<float> f32 = pipeline->run_f32(plumb::convert<float>(net), order);
        CHECK(std::vector<double>(f32.logits.data.begin(), f32.logits.data.end()) == logits);
        CHECK(std::fabs(f32.log_softmax.data[5] - (-2 - std::log(1 + std::exp(-2.0)))) <=
              log_softmax_bound({4, 2}, 1));
      }
    }
  }
}

TEST_CASE("one layer is LogSoftmax(A X W)") {
  Gcn<double> net = by_hand();
  net.weights.pop_back();
  net.biases = {{}};
  for (const auto* pipeline : host_pipelines()) {
    CAPTURE(pipeline->name);
    const plumb::GcnRun<double> run = pipeline->run_f64(net, GcnOrder::by_cost);
    CHECK(run.logits.data == std::vector<double>{2, 0, 2, 2, 2, -4});
    CHECK(run.hidden.empty());
    CHECK(run.log_softmax.data[2] == doctest::Approx(-std::log(2.0)));
    CHECK(plumb::max_row_sum(run.log_softmax) == doctest::Approx(-2 * std::log(2.0)));
  }
}

TEST_CASE(
    "random networks in fp32 and fp64, both orders: hidden, logits and LogSoftmax within their bounds") {
  for (const std::size_t layers : {1U, 2U, 4U}) {
    for (const bool sparse : {false, true}) {
      const Gcn<double> net =
          sparse ? with_sparse_features(random_network(301, layers)) : random_network(301, layers);
      const Gcn<float> net32 = plumb::convert<float>(net);
      const auto exact = plumb::reference_gcn(net, Dtype::f64);
      const auto of_rounded = plumb::reference_gcn(plumb::convert<double>(net32), Dtype::f32);
      constexpr double kU = 0x1p-24 * 1.01;
      const auto rounded = plumb::reference_gcn(net, Dtype::f32, {kU, kU, kU});
      for (const auto* pipeline : host_pipelines()) {
        for (const GcnOrder order : kOrders) {
          CAPTURE(pipeline->name);
          CHECK(misses_of(pipeline->run_f64(net, order), exact) == 0);
          const plumb::GcnRun<float> f32 = pipeline->run_f32(net32, order);
          CHECK(misses_of(f32, of_rounded) == 0);
          CHECK(plumb::judge_matrix(f32.logits, rounded.logits, rounded.logits_bound).misses == 0);
        }
      }
    }
  }
}

TEST_CASE("a hidden -Inf is cut off to an exact 0, and a hidden +Inf stays") {
  Gcn<double> net = by_hand();
  net.x_dense.data[1] = -std::numeric_limits<double>::infinity();  // X W1: row 0 is (-Inf, -Inf)
  const plumb::GcnReference reference = plumb::reference_gcn(net, Dtype::f64);
  CHECK(reference.hidden[0].data == std::vector<double>{0, 0, 2, 3, 0, 0});
  CHECK(reference.hidden_bound[0].data[0] == 0);
  for (const double bound : reference.logits_bound.data) CHECK(std::isfinite(bound));
  for (const auto* pipeline : host_pipelines()) {
    if (pipeline != &plumb::kGcnFused) continue;  // a library may multiply the zeros of A's pattern
    const auto run = pipeline->run_f64(net, GcnOrder::transform_first);
    CHECK(plumb::judge_matrix(run.hidden[0], reference.hidden[0], reference.hidden_bound[0]).misses == 0);
    CHECK(plumb::judge_matrix(run.logits, reference.logits, reference.logits_bound).misses == 0);
  }
  net.x_dense.data[1] = std::numeric_limits<double>::infinity();
  CHECK(plumb::reference_gcn(net, Dtype::f64).hidden[0].data[0] == std::numeric_limits<double>::infinity());
}

TEST_CASE("three layers by hand: a ReLU after each but the last") {
  // as above, and W3 = [[1, -1], [0, 1]]:  ReLU([[4,8],[4,12],[4,2]]) W3 = [[4,4],[4,8],[4,-2]];  A of it
  Gcn<double> net = by_hand();
  net.weights.push_back({2, 2, {1, -1, 0, 1}});
  net.biases.push_back({-20, 0});
  const std::vector<double> logits{-12, 12, -12, 16, -12, 2};
  CHECK(plumb::reference_gcn(net, Dtype::f64).logits.data == logits);
  for (const auto* pipeline : host_pipelines()) {
    for (const GcnOrder order : kOrders) {
      CAPTURE(pipeline->name);
      const plumb::GcnRun<double> run = pipeline->run_f64(net, order);
      REQUIRE(run.hidden.size() == 2);
      CHECK(run.hidden[1].data == std::vector<double>{4, 8, 4, 12, 4, 2});
      CHECK(run.logits.data == logits);
    }
  }
}

TEST_CASE("a layer far from X is judged as sharply as the first: on what the run had before it") {
  // Both columns stay alike, and 5 v - 4 v is v: values stay where they are, while the bound of the whole, which knows nothing of
  // that, grows ninefold with each of 400 layers and leaves the range of fp64.
  constexpr std::int32_t kVertices = 60;
  Gcn<double> net;
  net.a.rows = net.a.cols = kVertices;
  net.x_dense = {kVertices, 2, {}};
  for (std::int32_t i = 0; i < kVertices; ++i) {
    net.a.col.insert(net.a.col.end(), {i, (i + 1) % kVertices});
    net.a.val.insert(net.a.val.end(), {0.5, 0.5});
    net.a.row_ptr.push_back(2 * i + 2);
    const double x = 1 + plumb::random_unit(3, 1, static_cast<std::uint64_t>(i));
    net.x_dense.data.insert(net.x_dense.data.end(), {x, x});
  }
  net.weights.assign(400, {2, 2, {5, 5, -4, -4}});
  net.biases.resize(400);
  plumb::validate(net);
  const Gcn<float> net32 = plumb::convert<float>(net);
  const Gcn<double> of32 = plumb::convert<double>(net32);
  const plumb::GcnExpectation nothing;
  plumb::GcnJudge judge(of32, Dtype::f32, nothing);
  const auto again = [&](GcnOrder order) { return plumb::kGcnFused.run_f32(net32, order); };
  plumb::GcnRun<float> run = again(GcnOrder::by_cost);
  CHECK(!judge.judge<float>(run, true, again).differs());
  run.hidden[350].data[7] *= 1.01F;
  std::vector<std::string> missed;
  for (const plumb::GcnCheck& check : judge.judge<float>(run, true, again).checks)
    if (check.verdict.misses > 0) missed.push_back(check.key);
  CHECK(missed == std::vector<std::string>{"layer_351", "layer_352"});
}

TEST_CASE("vertices in another order give the same answer to the last bit, rows where they were") {
  for (const bool sparse : {false, true}) {
    Gcn<double> net = of_degrees(random_network(301, 3));
    if (sparse) net = with_sparse_features(net);
    for (const VertexOrder by : {VertexOrder::given, VertexOrder::degree, VertexOrder::rcm}) {
      const std::vector<std::int32_t> order = plumb::vertex_order(net.a, by);
      std::vector<std::int32_t> all = order;
      std::sort(all.begin(), all.end());
      for (std::int32_t i = 0; i < 301; ++i) REQUIRE(all[static_cast<std::size_t>(i)] == i);
      const Gcn<double> moved = plumb::reordered(net, order);
      plumb::validate(moved);
      for (const GcnOrder products : kOrders) {
        CAPTURE(plumb::to_string(by));
        const plumb::GcnRun<double> want = plumb::kGcnFused.run_f64(net, products);
        plumb::GcnRun<double> run = plumb::kGcnFused.run_f64(moved, products);
        plumb::restore_rows(order, run);
        CHECK(run.hidden[1].data == want.hidden[1].data);
        CHECK(run.logits.data == want.logits.data);
        CHECK(run.log_softmax.data == want.log_softmax.data);
      }
    }
  }
}

TEST_CASE("by degree the most wanted vertices come first; Cuthill-McKee finds a path again") {
  const std::int64_t n = 50;
  Csr<double> path{n, n, {0}, {}, {}};  // vertex v stands at 7 v mod 50
  std::vector<std::vector<std::int32_t>> neighbours(static_cast<std::size_t>(n));
  const auto place = [](std::int64_t v) { return static_cast<std::int32_t>(7 * v % 50); };
  for (std::int64_t v = 0; v + 1 < n; ++v) {
    neighbours[static_cast<std::size_t>(place(v))].push_back(place(v + 1));
    neighbours[static_cast<std::size_t>(place(v + 1))].push_back(place(v));
  }
  for (const auto& row : neighbours) {
    path.col.insert(path.col.end(), row.begin(), row.end());
    path.row_ptr.push_back(static_cast<std::int32_t>(path.col.size()));
  }
  path.val.assign(path.col.size(), 1);
  const std::vector<std::int32_t> order = plumb::vertex_order(path, VertexOrder::rcm);
  Gcn<double> net;
  net.a = path;
  net.x_dense = {n, 1, std::vector<double>(static_cast<std::size_t>(n))};
  const Csr<double> moved = plumb::reordered(net, order).a;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int32_t k = moved.row_ptr[i]; k < moved.row_ptr[i + 1]; ++k)
      CHECK(std::abs(moved.col[k] - i) == 1);
  }
  const Csr<double> star{4, 4, {0, 1, 2, 3, 4}, {2, 2, 3, 2}, {1, 1, 1, 1}};
  CHECK(plumb::vertex_order(star, VertexOrder::degree) == std::vector<std::int32_t>{2, 3, 0, 1});
  CHECK_THROWS_WITH_AS(static_cast<void>(plumb::parse_vertex_order("degre")),
                       "--reorder 'degre' is none of given, degree, rcm; did you mean 'degree'?",
                       plumb::Error);
}

TEST_CASE("scales stand for the values of A exactly where all of them follow from the degrees") {
  Gcn<double> net = of_degrees(random_network(301, 3));
  REQUIRE(net.scales.size() == 301);
  CHECK(net.scales[4] == 1 / std::sqrt(static_cast<double>(net.a.row_ptr[5] - net.a.row_ptr[4])));
  net.a.val[77] *= 1 + 0x1p-48;
  CHECK(plumb::degree_scales(net.a).empty());
  CHECK(plumb::degree_scales(random_network(301, 1).a).empty());
  net.a.val[77] = std::numeric_limits<double>::quiet_NaN();
  CHECK(plumb::degree_scales(net.a).empty());
  net.scales.pop_back();
  CHECK_THROWS_WITH_AS(plumb::validate(net), "gcn: 300 scales, A has 301 rows", plumb::Error);
}

TEST_CASE(
    "with scales the fused pipeline reads no value of A where every layer is A (X W), and is judged by "
    "them") {
  for (const bool sparse : {false, true}) {
    const Gcn<double> net = sparse ? with_sparse_features(of_degrees(random_network(301, 3)))
                                   : of_degrees(random_network(301, 3));
    const Gcn<float> net32 = plumb::convert<float>(net);
    const auto want = plumb::reference_gcn(net, Dtype::f64, plumb::rounding_of_inputs(net, false, false));
    const auto want32 = plumb::reference_gcn(net, Dtype::f32, plumb::rounding_of_inputs(net, true, false));
    for (const auto* pipeline : host_pipelines()) {
      for (const GcnOrder order : kOrders) {
        CAPTURE(pipeline->name);
        CHECK(misses_of(pipeline->run_f64(net, order), want) == 0);
        CHECK(misses_of(pipeline->run_f32(net32, order), want32) == 0);
      }
    }
    Gcn<double> no_values = net;
    no_values.a.val.assign(no_values.a.val.size(), std::numeric_limits<double>::quiet_NaN());
    const plumb::GcnRun<double> run = plumb::kGcnFused.run_f64(no_values, GcnOrder::transform_first);
    CHECK(run.layers_from_degrees == 3);
    CHECK(misses_of(run, want) == 0);
    CHECK(plumb::kGcnFused.run_f64(net, GcnOrder::aggregate_first).layers_from_degrees == 0);
    Gcn<double> wrong = net;
    wrong.scales[17] *= 1 + 1e-12;
    CHECK(misses_of(plumb::kGcnFused.run_f64(wrong, GcnOrder::transform_first), want) > 0);
  }
}

TEST_CASE("the judge notices a missing ReLU, swapped rows, a wrong edge value, a corrupted row and NaN") {
  const Gcn<double> net = random_network(301, 2);
  const Gcn<float> net32 = plumb::convert<float>(net);
  const auto want = plumb::reference_gcn(plumb::convert<double>(net32), Dtype::f32);
  const Dense<float> right = plumb::kGcnFused.run_f32(net32, GcnOrder::by_cost).logits;
  const auto misses = [&](const Dense<float>& got) {
    return plumb::judge_matrix(got, want.logits, want.logits_bound).misses;
  };
  REQUIRE(misses(right) == 0);

  // without ReLU: the hidden layer of one-layer runs, fed to the second
  Gcn<float> first = net32;
  first.weights.pop_back();
  first.biases.pop_back();
  Gcn<float> second = net32;
  second.x_dense = plumb::kGcnFused.run_f32(first, GcnOrder::by_cost).logits;
  second.weights = {net32.weights[1]};
  second.biases = {net32.biases[1]};
  CHECK(misses(plumb::kGcnFused.run_f32(second, GcnOrder::by_cost).logits) > 1000);

  Dense<float> swapped = right;
  for (int j = 0; j < 5; ++j) std::swap(swapped.data[j], swapped.data[5 + j]);
  CHECK(misses(swapped) >= 9);

  Gcn<float> edge = net32;
  edge.a.val[100] = 1;
  CHECK(misses(plumb::kGcnFused.run_f32(edge, GcnOrder::by_cost).logits) > 0);

  Dense<float> corrupted = right;
  corrupted.data[777] *= 1.001F;
  CHECK(misses(corrupted) == 1);

  Dense<float> nan = right;
  nan.data[3] = std::numeric_limits<float>::quiet_NaN();
  const auto verdict = plumb::judge_matrix(nan, want.logits, want.logits_bound);
  CHECK(verdict.misses == 1);
  CHECK(std::isinf(verdict.worst));
  CHECK(std::isnan(plumb::max_row_sum(nan)));
}

TEST_CASE("a NaN of X reaches exactly the rows within two edges of it") {
  Gcn<double> net = by_hand();
  net.x_dense.data[4] = std::numeric_limits<double>::quiet_NaN();  // vertex 2, which only row 2 of A reads
  for (const auto* pipeline : host_pipelines()) {
    CAPTURE(pipeline->name);
    const plumb::GcnRun<double> run = pipeline->run_f64(net, GcnOrder::by_cost);
    CHECK(run.logits.data[0] == 4);
    CHECK(run.logits.data[3] == 12);
    CHECK(std::isnan(run.log_softmax.data[4]));
    CHECK(std::isnan(run.log_softmax.data[5]));
  }
}

TEST_CASE("the cheaper order has fewer products") {
  Gcn<double> net = by_hand();  // A (X W): 12 + 10; (A X) W: 10 + 12
  CHECK(plumb::gcn_products(net, 0, GcnOrder::transform_first) == 22);
  CHECK(plumb::gcn_products(net, 0, GcnOrder::aggregate_first) == 22);
  net.weights[1] = {2, 4, {1, 0, 0, 2, 1, 0, 0, 2}};  // widening: A (H W): 24 + 20; (A H) W: 10 + 24
  net.biases[1].clear();
  CHECK(plumb::gcn_products(net, 1, GcnOrder::transform_first) == 44);
  CHECK(plumb::gcn_products(net, 1, GcnOrder::by_cost) == 34);
  CHECK(plumb::cheaper_order(net, 1) == GcnOrder::aggregate_first);
}

TEST_CASE("accuracy counts rows whose largest logit is at the label; NaN is never correct") {
  const Dense<float> logits{3, 2, {1, 2, 5, 1, std::numeric_limits<float>::quiet_NaN(), 1}};
  CHECK(plumb::count_right(logits, {1, 0, 1}, {0, 1, 2}) == 2);
  CHECK(plumb::count_right(logits, {0, 0, 0}, {0, 2}) == 0);
}

TEST_CASE("validate of a gcn names what does not fit") {
  Gcn<double> net = by_hand();
  net.weights[1].rows = 1;
  net.weights[1].data.resize(2);
  CHECK_THROWS_WITH_AS(plumb::validate(net), "gcn: W2 has 1 rows, its input 2 columns", plumb::Error);
  net = by_hand();
  net.biases[0] = {1, 2, 3};
  CHECK_THROWS_WITH_AS(plumb::validate(net), "gcn: b1 has 3 elements, W1 2 columns", plumb::Error);
  net = by_hand();
  net.x_dense = {2, 2, {1, 2, 3, 4}};
  CHECK_THROWS_WITH_AS(plumb::validate(net), "gcn: X has 2 rows, A 3", plumb::Error);
}
