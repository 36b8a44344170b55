// The sparse DNN's device pipelines within bounded memory, on the CPU executor: the same bits as without a bound, never more
// memory than it, and mistakes of streaming that are found.
#include <doctest/doctest.h>

#include <algorithm>
#include <future>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpu/device/devices.hpp"
#include "gpu/tests/faults/sparse_dnn.hpp"
#include "gpu/tests/findings.hpp"
#include "reference/core/error.hpp"
#include "reference/models/sparse_dnn/judge.hpp"
#include "reference/models/sparse_dnn/sparse_dnn.hpp"
#include "reference/tests/models/sparse_dnn_inputs.hpp"

namespace {

using plumb::Csr;
using plumb::SparseDnn;
using plumb::simt_test::findings_of;
using plumb::test::csr;
using plumb::test::identity;
using plumb::test::random_inputs;
using plumb::test::random_weights;

constexpr std::int64_t kOfEntries = 1 << 17;  // bytes: the entries of 32 rows take less, 32 rows more
constexpr std::int64_t kWide = 1056;          // neurons whose rows do not stay on chip
constexpr std::int64_t kRows = 40;            // two panels

/// Hardly a row becomes inactive: layers share launches.
SparseDnn steady_network(std::int64_t neurons, std::int64_t layers) {
  SparseDnn net{neurons, -0.05F, 4, {}};
  for (std::int64_t l = 0; l < layers; ++l)
    net.gather.push_back(random_weights(neurons, 3 + l % 4, 40 + static_cast<std::uint64_t>(l)));
  return net;
}

/// Row i is active for i % 7 layers, none to the end.
struct Ending {
  SparseDnn net{kWide, -1, 32, {}};
  Csr<float> y;
  explicit Ending(std::int64_t layers) {
    net.gather.assign(static_cast<std::size_t>(layers), identity(kWide));
    std::vector<std::vector<std::pair<int, float>>> rows;
    for (int i = 0; i < kRows; ++i) rows.push_back({{i % 5, static_cast<float>(i % 7)}});
    y = csr(kWide, rows);
  }
};

std::vector<const plumb::SdnnPipeline*> streaming_pipelines() {
  std::vector<const plumb::SdnnPipeline*> all = plumb::sdnn_pipelines();
  all.erase(std::remove_if(
                all.begin(), all.end(),
                [](const auto* p) { return p->space != plumb::Space::device || !p->has_streamed_plan(); }),
            all.end());
  return all;
}

bool same_answer(const plumb::SdnnRun& a, const plumb::SdnnRun& b) {
  return a.y.row_ptr == b.y.row_ptr && a.y.col == b.y.col && a.y.val == b.y.val && a.active == b.active;
}

/// The bytes that plan_streamed() takes at least, for inputs without entries, as its refusals say.
std::int64_t least_memory(const plumb::SdnnPipeline& pipeline, const SparseDnn& net) {
  for (std::int64_t memory = 1 << 10;;) {
    try {
      (void)pipeline.plan_streamed(net, memory);
      return memory;
    } catch (const plumb::Error& e) {
      const std::string text = e.what();
      REQUIRE(text.find("of memory are too little: weights of ") != std::string::npos);
      REQUIRE(text.substr(text.size() - 4) == " KiB");
      const std::int64_t needed = std::stoll(text.substr(text.rfind(' ', text.size() - 5))) << 10;
      REQUIRE(needed > memory);
      memory = needed;
    }
  }
}

/// A run of a new thread, whose memory on the device is only that of the run: at most `memory`.
plumb::SdnnRun run_within(const plumb::SdnnPipeline& pipeline, const SparseDnn& net, const Csr<float>& y,
                          std::int64_t memory) {
  return std::async(std::launch::async,
                    [&] {
                      plumb::SdnnRun run = pipeline.plan_streamed(net, memory)->run(y, 0, net.layers());
                      const std::int64_t peak = plumb::device_peak_bytes();
                      CHECK(peak <= memory);
                      CHECK(peak > 0);
                      return run;
                    })
      .get();
}

}  // namespace

TEST_CASE(
    "layers that come and go give the bits that held layers give, within the bound, in several batches") {
  REQUIRE(streaming_pipelines().size() == 2);
  REQUIRE(streaming_pipelines().size() == 2);
  const Ending ending(7);
  const SparseDnn steady = steady_network(kWide, 5);
  const Csr<float> y = random_inputs(kRows, kWide, 5);
  for (const auto* pipeline : streaming_pipelines()) {
    CAPTURE(pipeline->name);
    for (const auto& [net, inputs] : {std::pair{&steady, &y}, {&ending.net, &ending.y}}) {
      CHECK(findings_of(3, [&, net = net, inputs = inputs] {
              const plumb::SdnnRun want = pipeline->plan(*net)->run(*inputs, 0, net->layers());
              const std::int64_t least = least_memory(*pipeline, *net);
              const plumb::SdnnRun run = run_within(*pipeline, *net, *inputs, least + kOfEntries);
              CHECK(same_answer(run, want));
              CHECK(run.layer_seconds.size() == static_cast<std::size_t>(net->layers()));
              REQUIRE(run.streaming.has_value());
              CHECK(run.streaming->window == 2);
              CHECK(run.streaming->batches == 2);
              CHECK(run.streaming->batch == 32);
              CHECK(run.streaming->loaded_bytes > 0);
              CHECK(run.streaming->waited_seconds <= run.streaming->load_seconds + 1);
            }).empty());
    }
  }
}

TEST_CASE("a window of more layers, of half of which one launch may read, gives the same bits") {
  const SparseDnn net = steady_network(kWide, 6);
  const Csr<float> y = random_inputs(20, kWide, 5);
  for (const auto* pipeline : streaming_pipelines()) {
    CAPTURE(pipeline->name);
    CHECK(findings_of(4, [&] {
            const plumb::SdnnRun want = pipeline->plan(net)->run(y, 0, net.layers());
            const std::int64_t least = least_memory(*pipeline, net);
            std::set<std::int64_t> windows;
            for (const std::int64_t memory : {2 * least, 5 * least, 10 * least, 60 * least}) {
              const plumb::SdnnRun run = run_within(*pipeline, net, y, memory);
              CHECK(same_answer(run, want));
              windows.insert(run.streaming->window);
              CHECK((run.streaming->loaded_bytes == 0) == (run.streaming->window == net.layers()));
            }
            CHECK(windows.size() == 3);
            CHECK(windows.count(net.layers()) == 1);
          }).empty());
  }
}

TEST_CASE("the check judges a plan whose layers come and go, with a bias for each neuron too") {
  std::vector<Csr<float>> gather;
  std::vector<std::vector<float>> biases;
  for (std::uint64_t l = 0; l < 4; ++l) {
    gather.push_back(random_weights(kWide, 3, 70 + l));
    biases.emplace_back(static_cast<std::size_t>(kWide), 0.01F * static_cast<float>(l) - 0.02F);
  }
  const SparseDnn net = plumb::square_network(std::move(gather), std::move(biases), 4);
  REQUIRE_FALSE(net.biases.empty());
  const Csr<float> y = random_inputs(20, kWide, 5);
  for (const auto* pipeline : streaming_pipelines()) {
    CAPTURE(pipeline->name);
    CHECK(findings_of(5, [&] {
            const auto plan = pipeline->plan_streamed(net, 2 * least_memory(*pipeline, net));
            const plumb::SdnnRun run = plan->run(y, 0, net.layers());
            plumb::SdnnExpectation expectation;
            expectation.check = true;
            CHECK_FALSE(plumb::judge_sdnn(net, *plan, y, run, expectation).differs());
            CHECK(same_answer(run, pipeline->plan(net)->run(y, 0, net.layers())));
          }).empty());
  }
}

TEST_CASE("networks whose rows stay on chip hold their weights, and run in batches within the bound") {
  const SparseDnn net = steady_network(48, 6);
  const Csr<float> y = random_inputs(70, 48, 5);
  for (const auto* pipeline : streaming_pipelines()) {
    CAPTURE(pipeline->name);
    CHECK(findings_of(6, [&] {
            const std::int64_t least = least_memory(*pipeline, net);
            const plumb::SdnnRun run = run_within(*pipeline, net, y, least + least / 4);
            CHECK(same_answer(run, pipeline->plan(net)->run(y, 0, net.layers())));
            CHECK(run.streaming->window == 6);
            CHECK(run.streaming->batches >= 2);
            CHECK(run.streaming->loaded_bytes == 0);
            CHECK_THROWS_AS((void)pipeline->plan_streamed(net, least / 2), plumb::Error);
          }).empty());
  }
}

TEST_CASE("a layer read too early, overwritten too early, or taken for another, is found") {
  using plumb::sdnn_faults::StreamFault;
  const SparseDnn net = steady_network(kWide, 6);
  const Csr<float> y = random_inputs(20, kWide, 5);
  const plumb::SdnnPipeline& general = *streaming_pipelines().front();
  const std::int64_t memory = 2 * least_memory(general, net);
  plumb::SdnnRun want;
  REQUIRE(findings_of(7, [&] { want = general.plan(net)->run(y, 0, net.layers()); }).empty());
  const auto found = [&](StreamFault fault, bool& same) {
    same = false;
    return findings_of(7, [&] {
      try {
        const auto plan = plumb::sdnn_faults::faulty_streamed_plan(net, memory, fault);
        same = same_answer(plan->run(y, 0, net.layers()), want);
      } catch (const plumb::Error&) {  // a finding stopped the run: nothing could be read any more
      }
    });
  };
  bool same = false;
  CHECK(found(StreamFault::none, same).empty());
  CHECK(same);
  if (!plumb::simt_test::checked()) return;  // what follows reads what was never written, or is a race
  for (const StreamFault fault : {StreamFault::layer_before, StreamFault::place_next_door}) {
    CAPTURE(static_cast<int>(fault));
    const std::string findings = found(fault, same);
    CHECK((!same || !findings.empty()));
  }
  for (const StreamFault fault :
       {StreamFault::arrival_not_awaited, StreamFault::overwritten_before_computed}) {
    CAPTURE(static_cast<int>(fault));
    CHECK(found(fault, same).find("race") != std::string::npos);
  }
}
