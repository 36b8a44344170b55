// The device pipeline that computes one of equal neurons, on the CPU executor: each way of running its first layer, near-equal
// neurons, rows at an absorbing state, and mistakes that are found.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "gpu/models/sparse_dnn/neuron_tiles.hpp"
#include "gpu/tests/faults/sparse_dnn.hpp"
#include "gpu/tests/findings.hpp"
#include "reference/core/error.hpp"
#include "reference/models/sparse_dnn_absorbing.hpp"
#include "reference/models/sparse_dnn_judge.hpp"
#include "reference/tests/equal_neurons_networks.hpp"

namespace {

using plumb::Csr;
using plumb::SparseDnn;
using plumb::simt_test::findings_of;
using plumb::test::csr;
using plumb::test::folded_network;

const plumb::SdnnPipeline& pipeline_of(plumb::SdnnStructure structure) {
  for (const plumb::SdnnPipeline* p : plumb::sdnn_pipelines()) {
    if (p->space == plumb::Space::device && p->structure == structure && p->has_streamed_plan()) return *p;
  }
  throw plumb::Error("no such pipeline");
}
const plumb::SdnnPipeline& equal_neurons() { return pipeline_of(plumb::SdnnStructure::identical_columns); }

bool same_answer(const plumb::SdnnRun& a, const plumb::SdnnRun& b) {
  return a.y.row_ptr == b.y.row_ptr && a.y.col == b.y.col && a.y.val == b.y.val && a.active == b.active;
}

bool same_parts(const std::vector<plumb::SdnnLayerPart>& a, const std::vector<plumb::SdnnLayerPart>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.neurons == y.neurons && x.edges == y.edges;
  });
}

bool passes(const SparseDnn& net, plumb::SdnnPlan& plan, const Csr<float>& y, const plumb::SdnnRun& run) {
  plumb::SdnnExpectation expectation;
  expectation.check = true;
  return !plumb::judge_sdnn(net, plan, y, run, expectation).differs();
}

/// Values of a third of the neurons; every ninth row is empty.
Csr<float> thirds(std::int64_t rows, std::int64_t neurons) {
  std::vector<std::vector<std::pair<int, float>>> all(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = i % 3; j < neurons && i % 9 != 4; j += 3) {
      const double value = plumb::random_unit(19, 3, static_cast<std::uint64_t>(i * neurons + j));
      all[static_cast<std::size_t>(i)].emplace_back(static_cast<int>(j), static_cast<float>(0.25 + value));
    }
  }
  return csr(neurons, all);
}

}  // namespace

TEST_CASE(
    "random networks with equal and nearly equal neurons pass the check, and compute what the host "
    "computes") {
  std::map<plumb::test::CopyChange, int> planted;
  std::int64_t left_out = 0, absorbed = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    plumb::DrawnNetwork drawn = plumb::draw_network(seed, 90, 40);
    plumb::test::CopiedNeurons copies(seed);
    copies.plant(drawn.net);
    for (const auto& [change, count] : copies.planted) planted[change] += count;
    plumb::validate(drawn.net);
    const std::int64_t layers = drawn.net.layers();
    const plumb::SdnnRun host = plumb::kSdnnEqualNeurons.plan(drawn.net)->run(drawn.y, 0, layers);
    CHECK(findings_of(seed, [&] {
            const auto plan = equal_neurons().plan(drawn.net);
            const plumb::SdnnRun run = plan->run(drawn.y, 0, layers);
            CHECK(passes(drawn.net, *plan, drawn.y, run));
            CHECK(same_parts(run.computed, host.computed));
            const auto states = plumb::find_absorbing_states(drawn.net);
            const plumb::SdnnRun without =
                equal_neurons().plan_absorbing(drawn.net, states)->run(drawn.y, 0, layers);
            CHECK(same_answer(without, run));
            // as many rows leave, and as early, as where all neurons are computed: a neuron that carries biases stops none
            const plumb::SdnnRun all = pipeline_of(plumb::SdnnStructure::general)
                                           .plan_absorbing(drawn.net, states)
                                           ->run(drawn.y, 0, layers);
            CHECK(without.absorbed == all.absorbed);
            absorbed += without.absorbed.back();
            for (const plumb::SdnnLayerPart& part : run.computed)
              left_out += drawn.net.neurons - part.neurons;
          }).empty());
  }
  CHECK(planted.size() == 6);
  CHECK(left_out > 500);
  CHECK(absorbed > 0);
}

TEST_CASE(
    "the first layer may be carried on chip with the others, be a launch of its own, or be staged as they "
    "are") {
  struct Size {
    std::int64_t neurons, different;
  };
  // on chip up to 1024 neurons
  for (const auto& [neurons, different] : {Size{200, 40}, Size{1100, 70}, Size{1100, 1050}}) {
    CAPTURE(neurons);
    CAPTURE(different);
    const SparseDnn net = folded_network(neurons, different, 5);
    const Csr<float> y = thirds(40, neurons);
    Csr<float> repeated = y;  // columns that do not ascend are brought in otherwise
    for (std::size_t k = 1; k < 4; ++k) repeated.col[k] = repeated.col[0];
    CHECK(findings_of(3, [&] {
            const auto plan = equal_neurons().plan(net);
            const plumb::SdnnRun run = plan->run(y, 0, 5);
            CHECK(run.computed[4].neurons == different);
            CHECK(passes(net, *plan, y, run));
            CHECK(plan->run(plan->run(y, 0, 2).y, 2, 5).y.val == run.y.val);
            CHECK(passes(net, *plan, repeated, plan->run(repeated, 0, 5)));
            // other values of equal neurons: all of them are computed
            const plumb::SdnnRun other = plan->run(y, 1, 5);
            CHECK(other.computed.empty());
            const auto general = pipeline_of(plumb::SdnnStructure::general).plan(net);
            CHECK(same_answer(other, general->run(y, 1, 5)));
            CHECK(plan->run(y, 0, 0).y.val == y.val);
          }).empty());
  }
}

TEST_CASE(
    "neurons that share no input have as many edges in each stage of their inputs, so that chunks are few") {
  std::vector<std::vector<std::pair<int, float>>> rows(plumb::sdnn::kLanes);
  for (int j = 0; j < plumb::sdnn::kLanes; ++j)
    for (int k = 0; k < 32; ++k) rows[static_cast<std::size_t>(j)].emplace_back(32 * j + k, 1.0F);
  const plumb::sdnn::StagedNeuronTiles tiles = plumb::sdnn::staged_neuron_tiles(csr(1024, rows));
  REQUIRE(tiles.stages.size() == 16);
  for (const plumb::sdnn::Stage& stage : tiles.stages) CHECK(stage.chunks == 1);
}

TEST_CASE("every mistake with equal neurons is found, and the correct plan passes") {
  using plumb::sdnn_faults::EqualFault;
  for (const EqualFault fault :
       {EqualFault::none, EqualFault::weights_not_compared, EqualFault::repeats_dropped,
        EqualFault::same_names_only, EqualFault::answer_of_before}) {
    CAPTURE(static_cast<int>(fault));
    bool found = false;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      SparseDnn net{24, -0.02F, 2, {}};
      for (std::uint64_t l = 0; l < 4; ++l)
        net.gather.push_back(plumb::test::random_weights(24, 5, 10 * seed + l));
      plumb::test::CopiedNeurons(seed).plant(net);
      const Csr<float> y = plumb::test::random_inputs(40, 24, seed);
      CHECK(findings_of(5, [&] {
              const auto plan = plumb::sdnn_faults::faulty_equal_plan(net, fault);
              found |= !passes(net, *plan, y, plan->run(y, 0, 4));
            }).empty());
    }
    CHECK(found == (fault != EqualFault::none));
  }
}
