// The device pipelines of the GCN on the CPU executor, checked and not: hidden layer,
// logits and LogSoftmax against the host's reference, and what must not pass.
#include <doctest/doctest.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "gpu/models/gcn/column_scales.hpp"
#include "gpu/tests/faults/gcn.hpp"
#include "gpu/tests/findings.hpp"
#include "reference/core/random.hpp"
#include "reference/models/gcn/gcn.hpp"
#include "reference/models/gcn/judge.hpp"
#include "reference/tests/models/random_gcn.hpp"

namespace {

using plumb::Dense;
using plumb::Dtype;
using plumb::Gcn;
using plumb::GcnOrder;
using plumb::gcn::Fault;
using plumb::simt_test::findings_of;
using plumb::test::misses_of;

constexpr GcnOrder kOrders[] = {GcnOrder::transform_first, GcnOrder::aggregate_first};

/// Widths from features to classes; `n` vertices with 0 to 90 entries, each thirteenth isolated, vertex 5 a
/// hub of 1,040 (so cut in up to 17 parts, whose sums meet in two steps), values of either sign; every second feature zero.
Gcn<double> network(std::int64_t n, const std::vector<std::int64_t>& widths, bool sparse, bool biased) {
  Gcn<double> net;
  auto value = [at = std::uint64_t{0}]() mutable { return 2 * plumb::random_unit(23, 1, at++) - 1; };
  net.a.rows = net.a.cols = n;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto row = static_cast<std::uint64_t>(i);
    std::uint64_t degree = plumb::random_below(23, 2, row, i % 3 == 0 ? 91 : 9);
    if (i % 13 == 7) degree = 0;
    if (i == 5) degree = 1040;
    for (std::uint64_t k = 0; k < degree; ++k) {
      net.a.col.push_back(static_cast<std::int32_t>(
          plumb::random_below(23, 3, row * 2048 + k, static_cast<std::uint64_t>(n))));
      net.a.val.push_back(value() / (i == 5 ? 40 : 4));
    }
    net.a.row_ptr.push_back(static_cast<std::int32_t>(net.a.col.size()));
  }
  const std::int64_t features = widths[0];
  net.sparse_features = sparse;
  if (sparse) {
    net.x_sparse = {n, features, {0}, {}, {}};
  } else {
    net.x_dense = {n, features, {}};
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < features; ++j) {
      const double x = (i + j) % 2 == 0 ? value() : 0;
      if (!sparse) {
        net.x_dense.data.push_back(x);
      } else if (x != 0) {
        net.x_sparse.col.push_back(static_cast<std::int32_t>(j));
        net.x_sparse.val.push_back(x);
      }
    }
    if (sparse) net.x_sparse.row_ptr.push_back(static_cast<std::int32_t>(net.x_sparse.col.size()));
  }
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    Dense<double> w{widths[l], widths[l + 1], {}};
    for (std::int64_t i = 0; i < w.rows * w.cols; ++i) w.data.push_back(value());
    std::vector<double> b;
    for (std::int64_t j = 0; biased && j < w.cols; ++j) b.push_back(value());
    net.weights.push_back(std::move(w));
    net.biases.push_back(std::move(b));
  }
  return net;
}

std::vector<const plumb::GcnPipeline*> device_pipelines() {
  std::vector<const plumb::GcnPipeline*> all;
  for (const plumb::GcnPipeline* p : plumb::gcn_pipelines()) {
    if (p->space == plumb::Space::device && p->unsupported() == nullptr) all.push_back(p);
  }
  return all;
}

template <class T>
plumb::GcnRun<T> run_with(const plumb::GcnPipeline& pipeline, const Gcn<T>& net, GcnOrder order) {
  if constexpr (sizeof(T) == 4) {
    return pipeline.run_f32(net, order);
  } else {
    return pipeline.run_f64(net, order);
  }
}

template <class T>
plumb::GcnRun<T> fused_run(const Gcn<T>& net, GcnOrder order) {
  return run_with(*device_pipelines().front(), net, order);
}

/// A network with the values that A^ of an unweighted graph has, and its scales.
Gcn<double> of_degrees(Gcn<double> net) {
  const auto scale = [&](std::size_t i) {
    const std::int32_t degree = net.a.row_ptr[i + 1] - net.a.row_ptr[i];
    return degree > 0 ? 1 / std::sqrt(static_cast<double>(degree)) : 0;
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(net.a.rows); ++i) {
    for (auto k = static_cast<std::size_t>(net.a.row_ptr[i]);
         k < static_cast<std::size_t>(net.a.row_ptr[i + 1]); ++k)
      net.a.val[k] = scale(i) * scale(static_cast<std::size_t>(net.a.col[k]));
  }
  net.scales = plumb::degree_scales(net.a);
  REQUIRE(net.scales.size() == static_cast<std::size_t>(net.a.rows));
  return net;
}

/// Every pipeline in one type and these orders: within the bounds, and nothing to find.
template <class T>
void judge_as(const Gcn<double>& net64, const std::vector<GcnOrder>& orders) {
  plumb::validate(net64);
  constexpr bool kSingle = sizeof(T) == 4;
  const Gcn<T> net = plumb::convert<T>(net64);
  const auto want = plumb::reference_gcn(net64, kSingle ? Dtype::f32 : Dtype::f64,
                                         plumb::rounding_of_inputs(net64, kSingle, false));
  for (const auto* pipeline : device_pipelines()) {
    for (const GcnOrder order : orders) {
      CAPTURE(pipeline->name);
      CAPTURE(plumb::to_string(order));
      const std::string found = findings_of(static_cast<std::uint64_t>(net.features()), [&] {
        CHECK(misses_of(run_with(*pipeline, net, order), want) == 0);
      });
      CHECK_MESSAGE(found.empty(), found);
    }
  }
}

/// Every pipeline, order and type.
void judge(const Gcn<double>& net) {
  judge_as<float>(net, {std::begin(kOrders), std::end(kOrders)});
  judge_as<double>(net, {std::begin(kOrders), std::end(kOrders)});
}

}  // namespace

TEST_CASE(
    "pipelines of three kinds are registered; the vendor's needs libraries that the executor cannot run") {
  std::vector<std::string> names;
  for (const auto* p : device_pipelines()) names.emplace_back(p->name);
  CHECK(names == std::vector<std::string>{"gpu_fused", "gpu_unfused"});
}

TEST_CASE("one to five layers of any width, isolated vertices, a hub, biases or none, X dense or CSR") {
  const std::vector<std::vector<std::int64_t>> shapes = {
      {16, 16, 7}, {1, 3, 41}, {3, 41, 1}, {41, 7, 16},           {7, 1},
      {5, 16},     {33, 41},   {2, 7},     {9, 33, 7, 8, 100, 3}, {100, 8, 33, 16, 2}};
  // each number of layers in each of the four ways there are; each type in one order, in turn
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    CAPTURE(i);
    const Gcn<double> net = network(23, shapes[i], i % 2 == 0, i % 4 < 2);
    judge_as<float>(net, {kOrders[i % 3 == 0 ? 0 : 1]});
    judge_as<double>(net, {kOrders[i % 3 == 0 ? 1 : 0]});
  }
}

TEST_CASE("layers wider than a row's registers are composed of rungs, and their neighbours still fused") {
  judge(network(5, {530, 4}, false, true));
  judge(network(5, {6, 530, 4}, false, false));
}

TEST_CASE("values that follow from the degrees are not read, in each form of a layer, and are judged") {
  struct Shape {
    std::int64_t vertices;
    std::vector<std::int64_t> widths;
    bool sparse;
    std::int64_t without;  // layers that read no value of A
  };
  const Shape shapes[] = {{47, {9, 16, 7}, true, 2},       // X W scaled as it is computed
                          {47, {5, 41, 7}, false, 2},      // by a rung, so scales by column
                          {5, {5, 140, 130, 3}, true, 3},  // H scaled beside H
                          {5, {6, 530, 4}, true, 1}};      // a layer of rungs
  for (const Shape& shape : shapes) {
    CAPTURE(shape.widths);
    Gcn<double> net = of_degrees(network(shape.vertices, shape.widths, shape.sparse, true));
    const auto want = plumb::reference_gcn(net, Dtype::f64, plumb::rounding_of_inputs(net, false, false));
    const auto want32 = plumb::reference_gcn(net, Dtype::f32, plumb::rounding_of_inputs(net, true, false));
    const std::string found = findings_of(1, [&] {
      if (shape.without + 1 == std::ssize(shape.widths))
        net.a.val.assign(net.a.val.size(), std::numeric_limits<double>::quiet_NaN());
      const auto run = fused_run(net, GcnOrder::transform_first);
      CHECK(run.layers_from_degrees == shape.without);
      CHECK(misses_of(run, want) == 0);
      const auto run32 = fused_run(plumb::convert<float>(net), GcnOrder::transform_first);
      CHECK(misses_of(run32, want32) == 0);
    });
    CHECK_MESSAGE(found.empty(), found);
  }
  const Gcn<double> net = of_degrees(network(5, {9, 16, 7}, true, true));
  const auto want = plumb::reference_gcn(net, Dtype::f64, plumb::rounding_of_inputs(net, false, false));
  findings_of(1, [&] {
    const auto run = fused_run(net, GcnOrder::aggregate_first);
    CHECK(run.layers_from_degrees == 2);
    CHECK(misses_of(run, want) == 0);
  });
}

TEST_CASE("a column and the number of its scale share 32 bits, where these are enough") {
  const plumb::gcn::ColumnScales<float> few({0.5F, 1, 0.5F, 0});
  CHECK(few.values == std::vector<float>{0, 0.5F, 1});
  CHECK(few.shift == 3);  // columns 0 to 4, of which the last is past the end
  CHECK(few.word == std::vector<std::uint32_t>{8, 16, 8, 0});
  CHECK(!plumb::gcn::ColumnScales<float>({}).fit());
  std::vector<double> many(1 << 16);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i - i % 2);
  CHECK(plumb::gcn::ColumnScales<double>(many).fit());  // 17 bits and 15
  many[1] = 1;
  CHECK(!plumb::gcn::ColumnScales<double>(many).fit());
}

TEST_CASE("entries moved on the device lie where the host puts them") {
  const Gcn<double> plain = network(37, {3, 2}, false, false), scaled = of_degrees(plain);
  const std::string found = findings_of(1, [&] {
    for (const bool values : {false, true}) {
      CHECK(plumb::gcn::device_places_as_host(plain.a, values, plain.scales));
      CHECK(plumb::gcn::device_places_as_host(scaled.a, values, scaled.scales));
    }
  });
  CHECK_MESSAGE(found.empty(), found);
}

TEST_CASE("the judge sees rows and columns that are not scaled, and rows scaled as the one before") {
  const Gcn<double> net = of_degrees(network(13, {9, 16, 7}, false, true));
  const Gcn<float> net32 = plumb::convert<float>(net);
  const auto want = plumb::reference_gcn(net, Dtype::f32, plumb::rounding_of_inputs(net, true, false));
  const auto missed = [&](Fault fault) {
    std::int64_t count = 0;
    findings_of(1, [&] {
      count = misses_of(plumb::gcn::run_with_fault(fault, net32, GcnOrder::transform_first), want);
    });
    return count;
  };
  CHECK(missed(Fault::none) == 0);
  CHECK(missed(Fault::rows_not_scaled) > 0);
  CHECK(missed(Fault::scaled_as_row_before) > 0);
  CHECK(missed(Fault::edge_values_ignored) > 0);  // the scales of columns
}

TEST_CASE("NaN and infinities stay in the rows that reach them, and show in all of such a row's answer") {
  for (const double odd :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (const bool sparse : {false, true}) {
      Gcn<double> net = network(47, {7, 5, 3}, sparse, true);
      (sparse ? net.x_sparse.val : net.x_dense.data)[8] = odd;
      judge(net);
    }
  }
}

TEST_CASE("a network by hand gives exact logits") {
  // X W1 = [[1,-1],[1,1],[1,-3]];  A of it = [[2,0],[2,2],[2,-4]];  + b1, ReLU = [[2,1],[2,3],[2,0]]
  // H W2 = [[2,2],[2,6],[2,0]];    A of it = [[4,8],[4,12],[4,2]]
  Gcn<float> net;
  net.a = {3, 3, {0, 2, 3, 5}, {0, 1, 1, 0, 2}, {1, 1, 2, 1, 1}};
  net.x_dense = {3, 2, {1, 0, 0, 1, 2, -1}};
  net.weights = {{2, 2, {1, -1, 1, 1}}, {2, 2, {1, 0, 0, 2}}};
  net.biases = {{0, 1}, {}};
  for (const auto* pipeline : device_pipelines()) {
    CAPTURE(pipeline->name);
    const std::string found = findings_of(1, [&] {
      const auto run = pipeline->run_f32(net, GcnOrder::by_cost);
      CHECK(run.hidden.at(0).data == std::vector<float>{2, 1, 2, 3, 2, 0});
      CHECK(run.logits.data == std::vector<float>{4, 8, 4, 12, 4, 2});
      CHECK(run.device.repeats > 0);
      CHECK(run.steps.size() >= 3);
    });
    CHECK_MESSAGE(found.empty(), found);
  }
}

TEST_CASE("a graph without vertices is a graph") {
  Gcn<float> net;
  net.a = {0, 0, {0}, {}, {}};
  net.x_dense = {0, 2, {}};
  net.weights = {{2, 2, {1, 1, 1, 1}}};
  net.biases = {{}};
  for (const auto* pipeline : device_pipelines()) {
    CAPTURE(pipeline->name);
    CHECK(findings_of(1, [&] { CHECK(pipeline->run_f32(net, GcnOrder::by_cost).logits.rows == 0); }).empty());
  }
}

TEST_CASE("the judge sees edge values ignored, a missing ReLU, one that loses NaN, and columns left out") {
  const Gcn<float> net = plumb::convert<float>(network(47, {7, 21, 6}, false, true));
  const auto missed = [&](Fault fault, const Gcn<float>& of) {
    const auto want = plumb::reference_gcn(plumb::convert<double>(of), Dtype::f32);
    std::int64_t count = 0;
    findings_of(1, [&] {
      count = misses_of(plumb::gcn::run_with_fault(fault, of, GcnOrder::transform_first), want);
    });
    return count;
  };
  CHECK(missed(Fault::none, net) == 0);
  CHECK(missed(Fault::edge_values_ignored, net) > 0);
  CHECK(missed(Fault::relu_left_out, net) > 0);
  CHECK(missed(Fault::columns_beyond_sixteens, net) > 0);
  Gcn<float> with_nan = net;
  with_nan.x_dense.data[8] = std::numeric_limits<float>::quiet_NaN();
  CHECK(missed(Fault::none, with_nan) == 0);
  CHECK(missed(Fault::relu_loses_nan, with_nan) > 0);
}

TEST_CASE("the judge sees an A^ that is multiplied by the roots of the degrees instead of divided") {
  Gcn<float> net = plumb::convert<float>(network(47, {7, 21, 6}, false, true)), wrong = net;
  std::vector<float> degree(47, 1);
  for (std::size_t i = 0; i < 47; ++i)
    degree[i] += static_cast<float>(net.a.row_ptr[i + 1] - net.a.row_ptr[i]);
  for (std::size_t i = 0; i < 47; ++i) {
    for (std::int32_t k = net.a.row_ptr[i]; k < net.a.row_ptr[i + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const float roots = std::sqrt(degree[i] * degree[static_cast<std::size_t>(net.a.col[at])]);
      net.a.val[at] = 1 / roots;
      wrong.a.val[at] = roots;
    }
  }
  const auto want = plumb::reference_gcn(plumb::convert<double>(net), Dtype::f32);
  for (const auto* pipeline : device_pipelines()) {
    findings_of(1, [&] {
      CHECK(misses_of(pipeline->run_f32(net, GcnOrder::by_cost), want) == 0);
      CHECK(misses_of(pipeline->run_f32(wrong, GcnOrder::by_cost), want) > 0);
    });
  }
}

TEST_CASE("an epilogue that does not order its shared memory is a race") {
  if (!plumb::simt_test::checked()) return;
  const Gcn<float> net = plumb::convert<float>(network(47, {7, 21, 6}, false, true));
  const std::string found = findings_of(1, [&] {
    (void)plumb::gcn::run_with_fault(Fault::shared_memory_not_ordered, net, GcnOrder::transform_first);
  });
  CHECK(found.find("race") != std::string::npos);
}
