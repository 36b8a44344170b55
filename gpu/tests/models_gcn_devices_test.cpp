// The GCN divided over logical devices of the CPU executor: the bits of one device, what is exchanged, and faults of the exchange.
#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "gpu/tests/faults/gcn.hpp"
#include "gpu/tests/findings.hpp"
#include "reference/core/random.hpp"
#include "reference/models/gcn/gcn.hpp"
#include "reference/models/gcn/judge.hpp"
#include "reference/models/gcn/metis.hpp"
#include "reference/models/gcn/partition.hpp"
#include "reference/models/gcn/reorder.hpp"
#include "reference/tests/models/random_gcn.hpp"

namespace {

using namespace plumb;
using gcn::ExchangeFault;
using simt_test::findings_of;

constexpr GcnOrder kOrders[] = {GcnOrder::transform_first, GcnOrder::aggregate_first};

template <class T>
bool same_bits(const Dense<T>& a, const Dense<T>& b) {
  return a.rows == b.rows && a.cols == b.cols && a.data.size() == b.data.size() &&
         std::memcmp(a.data.data(), b.data.data(), a.data.size() * sizeof(T)) == 0;
}

template <class T>
bool same_bits(const GcnRun<T>& a, const GcnRun<T>& b) {
  if (a.hidden.size() != b.hidden.size()) return false;
  for (std::size_t l = 0; l < a.hidden.size(); ++l) {
    if (!same_bits(a.hidden[l], b.hidden[l])) return false;
  }
  return same_bits(a.logits, b.logits) && same_bits(a.log_softmax, b.log_softmax);
}

std::vector<const GcnPipeline*> pipelines_of_several() {
  std::vector<const GcnPipeline*> all;
  for (const GcnPipeline* p : gcn_pipelines()) {
    if (p->on_devices_f32 != nullptr) all.push_back(p);
  }
  return all;
}

/// Replaces A by one in which row `hub` has all entries, 1,300 of them, so that it is cut in parts.
void put_all_in_one_row(Gcn<double>& net, std::int64_t hub) {
  net.a.row_ptr.assign(static_cast<std::size_t>(net.a.rows) + 1, 0);
  net.a.col.clear(), net.a.val.clear();
  for (std::int64_t k = 0; k < 1300; ++k) {
    net.a.col.push_back(static_cast<std::int32_t>(
        random_below(29, 1, static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(net.a.rows))));
    net.a.val.push_back(random_unit(29, 2, static_cast<std::uint64_t>(k)) / 40);
  }
  for (std::int64_t i = hub; i < net.a.rows; ++i) net.a.row_ptr[static_cast<std::size_t>(i) + 1] = 1300;
}

/// Widths from that of X on; weights as random_network has them.
Gcn<double> of_widths(std::int64_t n, const std::vector<std::int64_t>& widths) {
  Gcn<double> net = test::random_network(n, 1);
  net.x_dense = {n, widths[0], std::vector<double>(static_cast<std::size_t>(n * widths[0]), 0.25)};
  net.weights.clear(), net.biases.clear();
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    Dense<double> w{widths[l], widths[l + 1], {}};
    for (std::int64_t i = 0; i < w.rows * w.cols; ++i)
      w.data.push_back(random_unit(31, l, static_cast<std::uint64_t>(i)) - 0.5);
    net.weights.push_back(std::move(w));
    net.biases.emplace_back();
  }
  return net;
}

template <class T>
GcnDevicesRun<T> run_on(const GcnPipeline& pipeline, const Gcn<T>& net, GcnOrder order, int count) {
  const Cuts cuts = cut_by_entries(net.a.row_ptr, count);
  if constexpr (sizeof(T) == 4) {
    return pipeline.on_devices_f32(net, order, cuts);
  } else {
    return pipeline.on_devices_f64(net, order, cuts);
  }
}

/// Every pipeline that runs on several devices, in both orders.
template <class T>
void compare_with_one(const Gcn<double>& net64, std::initializer_list<int> counts) {
  validate(net64);
  const Gcn<T> net = convert<T>(net64);
  for (const GcnPipeline* pipeline : pipelines_of_several()) {
    for (const GcnOrder order : kOrders) {
      const std::string found = findings_of(static_cast<std::uint64_t>(net.vertices()), [&] {
        GcnRun<T> one;
        if constexpr (sizeof(T) == 4) {
          one = pipeline->run_f32(net, order);
        } else {
          one = pipeline->run_f64(net, order);
        }
        for (const int count : counts) {
          CAPTURE(count);
          CAPTURE(to_string(order));
          CHECK(same_bits(run_on(*pipeline, net, order, count).run, one));
        }
      });
      CHECK_MESSAGE(found.empty(), found);
    }
  }
}

}  // namespace

TEST_CASE("gpu_fused runs on several devices, and gives the bits of one for any number of them") {
  REQUIRE(pipelines_of_several().size() == 1);
  compare_with_one<float>(test::random_network(24, 3), {2, 3, 7});
  compare_with_one<double>(test::random_network(17, 4), {1, 3});
  compare_with_one<float>(test::with_sparse_features(test::random_network(17, 2)), {2});
}

TEST_CASE("so they do where A's values follow from the degrees, in all layers or in some") {
  compare_with_one<double>(test::of_degrees(test::random_network(13, 2)), {2, 7});
  compare_with_one<float>(test::with_sparse_features(test::of_degrees(test::random_network(9, 2))), {2});
}

TEST_CASE("so do parts of any vertices, as METIS gives them, and devices without any") {
  const Gcn<float> net = convert<float>(test::of_degrees(test::random_network(24, 2)));
  std::vector<GcnPartition> partitions{{{}, {0, 0, 20, 24}}, {{}, {0, 5, 24, 24}}};
  for (std::int32_t v = 0; v < 24; ++v) {
    partitions[0].order.push_back(v * 7 % 24);
    partitions[1].order.push_back(23 - v);
  }
  if (!metis_version().empty()) {
    for (const int count : {2, 3}) partitions.push_back(partition(net.a, VertexPartition::metis, count));
  }
  const GcnPipeline& pipeline = *pipelines_of_several().at(0);
  for (const GcnOrder order : kOrders) {
    const std::string found = findings_of(11, [&] {
      const GcnRun<float> one = pipeline.run_f32(net, order);
      for (const GcnPartition& p : partitions) {
        GcnRun<float> run = pipeline.on_devices_f32(reordered(net, p.order), order, p.cuts).run;
        restore_rows(p.order, run);
        CHECK(same_bits(run, one));
      }
    });
    CHECK_MESSAGE(found.empty(), found);
  }
}

TEST_CASE("so do graphs of fewer vertices than devices, without edges, and with all edges in one row") {
  compare_with_one<float>(test::random_network(1, 2), {3});
  compare_with_one<double>(test::random_network(5, 2), {7});
  for (const std::int64_t hub : {0, 7, 15}) {
    Gcn<double> net = test::random_network(16, 2);
    put_all_in_one_row(net, hub);
    compare_with_one<float>(net, {3});
  }
  Gcn<double> net = test::random_network(9, 2);
  net.a = {9, 9, std::vector<std::int32_t>(10, 0), {}, {}};
  compare_with_one<float>(net, {3});
}

TEST_CASE("so do layers wider than the fused kernel holds, before and after others") {
  compare_with_one<double>(of_widths(4, {5, 260, 3}), {2});
  compare_with_one<double>(of_widths(4, {260, 4, 3}), {2});
}

TEST_CASE("NaN of one device's rows reaches the others' as on one device") {
  Gcn<double> net = test::random_network(24, 3);
  net.x_dense.data[33] = std::numeric_limits<double>::quiet_NaN();
  const Gcn<float> net32 = convert<float>(net);
  const auto want = reference_gcn(convert<double>(net32), Dtype::f32);
  const auto found = findings_of(1, [&] {
    CHECK(test::misses_of(gcn::run_with_fault(ExchangeFault::none, net32, GcnOrder::transform_first, 3),
                          want) == 0);
  });
  CHECK_MESSAGE(found.empty(), found);
}

TEST_CASE("several devices take the same form of a layer, whichever is the fastest on the slowest of them") {
  using gcn::FastestForm;
  for (const bool scaled : {false, true}) {
    const Gcn<double> net = scaled ? test::of_degrees(of_widths(14, {6, 9, 7})) : of_widths(14, {6, 9, 7});
    const Gcn<float> net32 = convert<float>(net);
    const auto want = reference_gcn(net, Dtype::f32, rounding_of_inputs(net, true, false));
    for (const FastestForm form :
         {FastestForm::with_next, FastestForm::alone, FastestForm::composed, FastestForm::with_next_stored,
          FastestForm::alone_stored, FastestForm::another_on_each_device}) {
      const bool stored = form == FastestForm::with_next_stored || form == FastestForm::alone_stored;
      if (!scaled && form != FastestForm::alone && form != FastestForm::composed) continue;
      CAPTURE(static_cast<int>(form));
      const auto found = findings_of(3, [&] {
        const auto run = [&](int count) {
          return gcn::run_with_form(form, net32, GcnOrder::transform_first, count);
        };
        const GcnRun<float> one = run(0), three = run(3);
        CHECK(test::misses_of(one, want) == 0);
        CHECK(test::misses_of(three, want) == 0);
        if (form == FastestForm::another_on_each_device) return;
        CHECK(same_bits(run(2), one));
        CHECK(same_bits(three, one));
        const auto steps_of = [&](const char* what) {
          return std::count_if(three.steps.begin(), three.steps.end(), [&](const GcnStep& step) {
            return step.name.find(what) != std::string::npos;
          });
        };
        CHECK((steps_of("ReLU, H W2") > 0) ==
              (form == FastestForm::with_next || form == FastestForm::with_next_stored));
        CHECK((steps_of("spmm") > 0) == (form == FastestForm::composed));
        CHECK((steps_of("A S1, scaled") > 0) == (scaled && !stored && form != FastestForm::composed));
        CHECK(three.layers_from_degrees <= (scaled ? 2 : 0));  // forms that were only tried do not count
        if (scaled && form == FastestForm::alone) CHECK(three.layers_from_degrees == 2);
      });
      CHECK_MESSAGE(found.empty(), found);
    }
  }
  const Gcn<double> little =
      test::of_degrees(test::random_network(3, 3));  // devices without rows, and scales
  const auto want = reference_gcn(little, Dtype::f32, rounding_of_inputs(little, true, false));
  for (const FastestForm form : {FastestForm::alone, FastestForm::another_on_each_device}) {
    const auto found = findings_of(4, [&] {
      const auto run = gcn::run_with_form(form, convert<float>(little), GcnOrder::transform_first, 5);
      CHECK(test::misses_of(run, want) == 0);
    });
    CHECK_MESSAGE(found.empty(), found);
  }
}

TEST_CASE("parts are consecutive, hold all entries, and exchange the rows that others gather") {
  // a path of six vertices, cut in three: each part gathers one row of each neighbour
  Gcn<float> net;
  net.a = {6, 6, {0, 2, 5, 8, 11, 14, 16}, {0, 1, 0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5}, {}};
  net.a.val.assign(16, 0.5F);
  net.x_dense = {6, 3, std::vector<float>(18, 1)};
  net.weights = {{3, 8, std::vector<float>(24, 1)}, {8, 5, std::vector<float>(40, 1)}};
  net.biases = {{}, {}};
  const GcnPipeline& pipeline = *pipelines_of_several().at(0);
  findings_of(1, [&] {
    const auto run = run_on(pipeline, net, GcnOrder::transform_first, 3);
    REQUIRE(run.parts.size() == 3);
    std::int64_t next = 0, entries = 0;
    for (const GcnDevicePart& part : run.parts) {
      CHECK(part.first == next);
      CHECK(part.name == "CPU executor");
      CHECK(part.direct);
      CHECK(part.peak_bytes > 0);
      next += part.rows, entries += part.entries;
    }
    CHECK(next == 6);
    CHECK(entries == 16);
    // a row of X W1 has 8 columns, one of H W2 5, which take 8: 64 bytes in all
    CHECK(run.parts[0].sent == 64);
    CHECK(run.parts[1].sent == 128);
    CHECK(run.parts[1].received == 128);
    CHECK(run.parts[2].received == 64);
    // A X needs no exchange; A H one of 8 columns
    CHECK(run_on(pipeline, net, GcnOrder::aggregate_first, 3).parts[0].sent == 32);
  });
}

TEST_CASE("the judge sees rows that arrive one place off, a layer late, or without their last columns") {
  Gcn<double> net = of_widths(25, {12, 8, 8, 8});
  for (std::size_t i = 0; i < net.x_dense.data.size(); ++i) net.x_dense.data[i] = random_unit(37, 1, i);
  const Gcn<float> net32 = convert<float>(net);
  const auto want = reference_gcn(convert<double>(net32), Dtype::f32);
  const auto missed = [&](ExchangeFault fault) {
    std::int64_t count = 0;
    findings_of(1, [&] {
      count = test::misses_of(gcn::run_with_fault(fault, net32, GcnOrder::transform_first, 3), want);
    });
    return count;
  };
  CHECK(missed(ExchangeFault::none) == 0);
  CHECK(missed(ExchangeFault::off_by_one_row) > 0);
  CHECK(missed(ExchangeFault::layer_before) > 0);
  CHECK(missed(ExchangeFault::a_pack_too_narrow) > 0);
}

TEST_CASE("an exchange that does not wait, at its begin, for its rows or for their arrival, is a race") {
  if (!simt_test::checked()) return;
  const Gcn<float> net = convert<float>(test::random_network(25, 3));
  for (const ExchangeFault fault : {ExchangeFault::arrival_not_awaited, ExchangeFault::sent_before_computed,
                                    ExchangeFault::pass_not_awaited}) {
    CAPTURE(static_cast<int>(fault));
    const std::string found =
        findings_of(1, [&] { (void)gcn::run_with_fault(fault, net, GcnOrder::transform_first, 2); });
    CHECK(found.find("race") != std::string::npos);
  }
}
