// The GCN within bounded device memory, on the CPU executor: within the bounds of every value and of the memory, whatever is held and however
// blocks fall, and mistakes of streaming that are found.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpu/device/devices.hpp"
#include "gpu/tests/faults/gcn.hpp"
#include "gpu/tests/findings.hpp"
#include "reference/core/error.hpp"
#include "reference/core/random.hpp"
#include "reference/models/gcn/gcn.hpp"
#include "reference/models/gcn/judge.hpp"
#include "reference/tests/models/random_gcn.hpp"

namespace {

using namespace plumb;
using gcn::CopyFault;
using simt_test::findings_of;

constexpr GcnOrder kOrders[] = {GcnOrder::transform_first, GcnOrder::aggregate_first};

const GcnPipeline& streaming_pipeline() {
  for (const GcnPipeline* p : gcn_pipelines()) {
    if (p->streamed_f32 != nullptr && p->space == Space::device) return *p;
  }
  throw Error("no pipeline of a device runs within bounded memory");
}

template <class T>
GcnRun<T> run_within(const Gcn<T>& net, GcnOrder order, std::int64_t memory) {
  if constexpr (sizeof(T) == 4) {
    return streaming_pipeline().streamed_f32(net, order, memory);
  } else {
    return streaming_pipeline().streamed_f64(net, order, memory);
  }
}

/// What that counts before: bytes.
template <class T>
std::int64_t counted_memory(const Gcn<T>& net, GcnOrder order, std::int64_t memory) {
  plumb::GcnDeviceMemory m;
  if constexpr (sizeof(T) == 4) {
    m = streaming_pipeline().memory_f32(net, order, memory);
  } else {
    m = streaming_pipeline().memory_f64(net, order, memory);
  }
  std::int64_t sum = 0;
  for (const auto& [name, bytes] : m.parts) sum += bytes;
  return sum;
}

/// The same on a new thread, whose memory on the device is only that of the run.
template <class T>
GcnRun<T> run_apart(const Gcn<T>& net, GcnOrder order, std::int64_t memory) {
  return std::async(std::launch::async,
                    [&] {
                      GcnRun<T> run = run_within(net, order, memory);
                      const std::int64_t counted = counted_memory(net, order, memory);
                      CHECK(counted <= memory);
                      CHECK(device_peak_bytes() <= counted);
                      CHECK(device_peak_bytes() > 0);
                      return run;
                    })
      .get();
}

/// The least bytes that a run takes, as its refusal says.
template <class T>
std::int64_t least_memory(const Gcn<T>& net, GcnOrder order) {
  try {
    (void)run_within(net, order, 1);
  } catch (const Error& e) {
    const std::string text = e.what();
    REQUIRE(text.find("gcn: 1 KiB of memory are too little: ") == 0);
    REQUIRE(text.substr(text.size() - 4) == " KiB");
    return std::stoll(text.substr(text.rfind(' ', text.size() - 5))) << 10;
  }
  FAIL("one byte is enough");
  return 0;
}

/// What the plans of several runs had.
struct Seen {
  std::set<std::int64_t> blocks;  // of a layer
  std::set<bool> holds_a, direct, ragged;
  std::set<GcnOrder> orders;
  template <class T>
  void add(const GcnRun<T>& run, const Gcn<T>& net) {
    REQUIRE(run.streaming.has_value());
    holds_a.insert(run.streaming->holds_a);
    for (std::size_t l = 0; l < net.weights.size(); ++l) {
      const GcnStreamedLayer& layer = run.streaming->layers.at(l);
      blocks.insert(layer.blocks), direct.insert(layer.direct), orders.insert(layer.order);
      const std::int64_t pack = 16 / static_cast<std::int64_t>(sizeof(T));
      ragged.insert(layer.blocks > 1 && (net.weights[l].cols + pack - 1) / pack * pack % layer.columns != 0);
    }
  }
};

/// From the least memory on, in both orders: within bounds and memory. All rows come from the host, and all answers go there.
template <class T>
void judge_within(const Gcn<double>& net64, Seen& seen, const std::vector<double>& shares = {1, 1.3, 2, 8}) {
  validate(net64);
  const Gcn<T> net = convert<T>(net64);
  const auto want = reference_gcn(net64, sizeof(T) == 4 ? Dtype::f32 : Dtype::f64,
                                  rounding_of_inputs(net64, sizeof(T) == 4, false));
  for (const GcnOrder order : kOrders) {
    CAPTURE(to_string(order));
    const std::string found = findings_of(static_cast<std::uint64_t>(net.vertices()), [&] {
      const std::int64_t least = least_memory(net, order);
      CHECK_THROWS_AS((void)run_within(net, order, least - 1024), Error);
      for (const double share : shares) {
        CAPTURE(share);
        const GcnRun<T> run =
            run_apart(net, order, static_cast<std::int64_t>(share * static_cast<double>(least)));
        CHECK(test::misses_of(run, want) == 0);
        seen.add(run, net);
        CHECK(run.streaming->loaded_bytes > 0);
        CHECK(run.streaming->stored_bytes > 0);
        CHECK(run.layers_from_degrees ==
              static_cast<std::int64_t>(net.scales.empty() ? 0 : net.weights.size()));
      }
    });
    CHECK_MESSAGE(found.empty(), found);
  }
}

/// A network of random_network's graph and these widths.
Gcn<double> of_widths(std::int64_t n, const std::vector<std::int64_t>& widths, bool biased) {
  Gcn<double> net = test::random_network(n, 1);
  const auto value = [at = std::uint64_t{0}]() mutable { return random_unit(41, 1, at++) - 0.5; };
  net.x_dense = {n, widths[0], {}};
  net.weights.clear(), net.biases.clear();
  auto draw = value;
  for (std::int64_t i = 0; i < n * widths[0]; ++i) net.x_dense.data.push_back(draw());
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    Dense<double> w{widths[l], widths[l + 1], {}};
    for (std::int64_t i = 0; i < w.rows * w.cols; ++i) w.data.push_back(draw());
    std::vector<double> b;
    for (std::int64_t j = 0; biased && j < w.cols; ++j) b.push_back(draw());
    net.weights.push_back(std::move(w)), net.biases.push_back(std::move(b));
  }
  return net;
}

template <class T>
bool same_bits(const Dense<T>& a, const Dense<T>& b) {
  return a.rows == b.rows && a.cols == b.cols && a.data.size() == b.data.size() &&
         std::memcmp(a.data.data(), b.data.data(), a.data.size() * sizeof(T)) == 0;
}

}  // namespace

TEST_CASE("a GCN within bounded memory is within its bounds, with one block of columns or several") {
  Seen seen;
  judge_within<float>(of_widths(40, {5, 18, 9, 3}, true), seen);
  judge_within<double>(of_widths(33, {6, 9, 5}, false), seen, {1, 1.6});
  CHECK(seen.blocks.count(1) == 1);
  CHECK(seen.blocks.size() >= 3);
  CHECK(seen.holds_a.size() == 2);
  CHECK(seen.direct.size() == 2);
  CHECK(seen.ragged.size() == 2);
  CHECK(seen.orders.size() == 2);
}

TEST_CASE("so it is with one layer, one column, one vertex, X in CSR, and A's values from the degrees") {
  Seen seen;
  judge_within<float>(of_widths(30, {7, 9}, true), seen, {1, 8});
  judge_within<float>(of_widths(30, {1, 1, 1}, false), seen, {1});
  judge_within<double>(of_widths(1, {5, 3}, true), seen, {1});
  findings_of(1, [] {
    CHECK(run_within(of_widths(0, {5, 3}, true), GcnOrder::by_cost, 1 << 20).logits.rows == 0);
  });
  judge_within<float>(test::with_sparse_features(test::random_network(24, 3)), seen, {1, 2});
  Gcn<double> few = test::of_degrees(test::random_network(20, 2));  // fewer vertices than X has columns
  judge_within<double>(test::with_sparse_features(few), seen, {1, 2});
  judge_within<float>(test::of_degrees(of_widths(24, {6, 13, 4}, true)), seen, {1});
}

TEST_CASE("so it is with rows of A and X that are cut in parts, and without entries") {
  Seen seen;
  Gcn<double> net = of_widths(40, {5, 18, 6}, true);
  std::fill(net.a.row_ptr.begin() + 8, net.a.row_ptr.end(), 1300);  // row 7 has all entries
  std::fill(net.a.row_ptr.begin(), net.a.row_ptr.begin() + 8, 0);
  net.a.col.clear(), net.a.val.assign(1300, 0.01);
  for (std::uint64_t k = 0; k < 1300; ++k)
    net.a.col.push_back(static_cast<std::int32_t>(random_below(43, 1, k, 40)));
  judge_within<float>(net, seen, {1, 2});
  judge_within<float>(test::with_sparse_features(of_widths(12, {200, 10, 3}, false)), seen, {1, 2});
  net.a = {40, 40, std::vector<std::int32_t>(41, 0), {}, {}};
  judge_within<float>(net, seen, {1});
}

TEST_CASE("layers wider than the fused kernel holds come in blocks that it holds") {
  Seen seen;
  judge_within<double>(of_widths(6, {5, 261, 3}, true), seen, {8});
  CHECK(seen.blocks.count(2) == 1);
  judge_within<double>(of_widths(6, {261, 4, 260}, false), seen, {8});
}

TEST_CASE("one block of columns gives the bits of a run that holds all, in the same form") {
  const Gcn<float> net = convert<float>(of_widths(80, {9, 20, 12, 5}, true));
  for (const GcnOrder order : kOrders) {
    const std::string found = findings_of(2, [&] {
      const GcnRun<float> held = gcn::run_with_form(gcn::FastestForm::alone, net, order, 0);
      const GcnRun<float> run = run_within(net, order, 1 << 20);
      for (const GcnStreamedLayer& layer : run.streaming->layers) CHECK(layer.blocks == 1);
      CHECK(same_bits(run.logits, held.logits));
      CHECK(same_bits(run.log_softmax, held.log_softmax));
    });
    CHECK_MESSAGE(found.empty(), found);
  }
}

TEST_CASE("NaN stays in the rows that it reaches") {
  Gcn<double> net = of_widths(20, {6, 9, 5}, false);
  net.x_dense.data[50] = std::numeric_limits<double>::quiet_NaN();
  Seen seen;
  judge_within<float>(net, seen, {1});
}

TEST_CASE("copies that do not wait, and blocks of another width, are found") {
  const Gcn<double> net64 = of_widths(40, {5, 20, 9}, true);
  const Gcn<float> net = convert<float>(net64);
  const auto want = reference_gcn(net64, Dtype::f32, rounding_of_inputs(net64, true, false));
  const GcnOrder order = GcnOrder::transform_first;
  std::int64_t memory = 0, misses = 0;
  findings_of(1, [&] {  // 20 columns in blocks of 12 and 8
    const auto columns = [&] { return run_within(net, order, memory).streaming->layers[0].columns; };
    for (memory = least_memory(net, order); columns() < 12;) memory += 512;
    REQUIRE(columns() == 12);
  });
  const auto found = [&](CopyFault fault) {
    misses = -1;
    return findings_of(5, [&] {
      try {
        misses = test::misses_of(gcn::run_with_fault(fault, net, order, memory), want);
      } catch (const Error&) {  // a finding stopped the run: nothing could be read any more
      }
    });
  };
  CHECK(found(CopyFault::none).empty());
  CHECK(misses == 0);
  CHECK((!found(CopyFault::last_block_too_narrow).empty() || misses > 0));
  if (!simt_test::checked()) return;  // what follows reads what is not there, or is a race
  CHECK((!found(CopyFault::last_block_too_wide).empty() || misses > 0));
  for (const CopyFault fault :
       {CopyFault::arrival_not_awaited, CopyFault::overwritten_before_computed,
        CopyFault::stored_before_computed, CopyFault::buffer_reused, CopyFault::read_before_on_host}) {
    CAPTURE(static_cast<int>(fault));
    CHECK(found(fault).find("race") != std::string::npos);
  }
}
