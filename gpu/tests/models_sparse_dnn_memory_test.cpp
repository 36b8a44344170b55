// The memory of a device that the sparse DNN's pipelines count before a run, beside what their arrays take on the CPU executor.
#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "gpu/device/devices.hpp"
#include "gpu/tests/findings.hpp"
#include "reference/core/error.hpp"
#include "reference/models/sparse_dnn/absorbing.hpp"
#include "reference/models/sparse_dnn/drawn.hpp"
#include "reference/models/sparse_dnn/sparse_dnn.hpp"
#include "reference/tests/models/sparse_dnn_inputs.hpp"

namespace {

using plumb::Csr;
using plumb::SdnnDeviceMemory;
using plumb::SdnnDeviceUse;
using plumb::SdnnPipeline;
using plumb::SparseDnn;
using plumb::simt_test::findings_of;

std::vector<const SdnnPipeline*> counting_pipelines() {
  std::vector<const SdnnPipeline*> all;
  for (const SdnnPipeline* p : plumb::sdnn_pipelines())
    if (p->has_device_count()) all.push_back(p);
  return all;
}

SdnnDeviceMemory counted(const SdnnPipeline& pipeline, const SparseDnn& net, const Csr<float>& y,
                         std::int64_t memory, bool absorbing) {
  const SdnnDeviceUse use{{227 << 10, 90}, memory, absorbing};  // as the executor
  return pipeline.device_count(net, use)(y);
}

/// The most that a plan's arrays and those of its run take, in a thread of its own.
std::int64_t peak_of(const std::function<std::unique_ptr<plumb::SdnnPlan>()>& make_plan, const Csr<float>& y,
                     std::int64_t layers) {
  return std::async(std::launch::async,
                    [&] {
                      (void)make_plan()->run(y, 0, layers);
                      return plumb::device_peak_bytes();
                    })
      .get();
}

SparseDnn random_network(std::int64_t neurons, std::int64_t layers) {
  SparseDnn net{neurons, -0.05F, 4, {}};
  for (std::int64_t l = 0; l < layers; ++l)
    net.gather.push_back(plumb::test::random_weights(neurons, 3, static_cast<std::uint64_t>(l)));
  return net;
}

/// Descriptions of layers are counted with 64 bytes each, and have 40 at least; how many rows the answer has is not known before.
void compare(const SdnnDeviceMemory& count, std::int64_t peak, std::int64_t layers) {
  CHECK(peak <= count.bytes());
  CHECK(peak >= count.bytes() - count.answer - 24 * layers);
}

}  // namespace

TEST_CASE(
    "what a pipeline counts before is what a run allocates: random networks, with absorbing rows or not") {
  REQUIRE(counting_pipelines().size() == 2);
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    CAPTURE(seed);
    const plumb::DrawnNetwork drawn = plumb::draw_network(seed, 90, 70);
    const SparseDnn& net = drawn.net;
    const auto states = plumb::find_absorbing_states(net);
    for (const SdnnPipeline* p : counting_pipelines()) {
      CAPTURE(p->name);
      CHECK(findings_of(seed, [&] {
              compare(counted(*p, net, drawn.y, 0, false),
                      peak_of([&] { return p->plan(net); }, drawn.y, net.layers()), net.layers());
              compare(counted(*p, net, drawn.y, 0, true),
                      peak_of([&] { return p->plan_absorbing(net, states); }, drawn.y, net.layers()),
                      net.layers());
            }).empty());
    }
  }
}

TEST_CASE("networks whose rows do not stay on chip are counted to the byte of their layers' descriptions") {
  SparseDnn net = random_network(1100, 5);
  const Csr<float> y = plumb::test::random_inputs(40, 1100, 5);
  for (const bool biases : {false, true}) {
    CAPTURE(biases);
    // above 0, so that every row of the answer is there
    if (biases) net.biases.assign(5, std::vector<float>(1100, 0.25F));
    for (const SdnnPipeline* p : counting_pipelines()) {
      CAPTURE(p->name);
      CHECK(findings_of(3, [&] {
              const SdnnDeviceMemory held = counted(*p, net, y, 0, false);
              const std::int64_t peak = peak_of([&] { return p->plan(net); }, y, 5);
              compare(held, peak, 5);
              if (biases) CHECK(held.bytes() - peak <= 24 * 5);
              CHECK(held.window == 5);
              CHECK(held.batches == 1);
              const std::int64_t memory = held.bytes() * 3 / 4;
              const SdnnDeviceMemory within = counted(*p, net, y, memory, false);
              CHECK(within.bytes() <= memory);
              CHECK((within.batches > 1 || within.window < 5));
              compare(within, peak_of([&] { return p->plan_streamed(net, memory); }, y, 5), 5);
            }).empty());
    }
  }
}

TEST_CASE("a bound that is too little is refused by the count as by the plan, with the same words") {
  const SparseDnn net = random_network(1100, 5);
  const Csr<float> y = plumb::test::random_inputs(40, 1100, 5);
  const auto reason = [](const std::function<void()>& work) -> std::string {
    try {
      work();
    } catch (const plumb::Error& e) { return e.what(); }
    return "";
  };
  for (const SdnnPipeline* p : counting_pipelines()) {
    CAPTURE(p->name);
    for (const std::int64_t memory : {1 << 10, 1 << 17, 1 << 19}) {
      CHECK(findings_of(3, [&] {
              const std::string of_plan = reason([&] { (void)p->plan_streamed(net, memory)->run(y, 0, 5); });
              const std::string of_count = reason([&] { (void)counted(*p, net, y, memory, false); });
              CHECK(of_plan.empty() == of_count.empty());
              CHECK((of_plan.find(" of memory are too little: ") ==
                     of_count.find(" of memory are too little: ")));
            }).empty());
    }
  }
}

TEST_CASE("limits of a device decide what is held: with little shared memory rows do not stay on chip") {
  const SparseDnn net = random_network(200, 3);
  const Csr<float> y = plumb::test::random_inputs(40, 200, 5);
  for (const SdnnPipeline* p : counting_pipelines()) {
    CAPTURE(p->name);
    const SdnnDeviceMemory on_chip = p->device_count(net, {{227 << 10, 90}, 0, false})(y);
    const SdnnDeviceMemory staged = p->device_count(net, {{1 << 10, 90}, 0, false})(y);
    CHECK(on_chip.plan == 0);
    CHECK(staged.plan > 0);
    CHECK(staged.workspace > on_chip.workspace);
    CHECK(staged.panels == on_chip.panels);
  }
}
