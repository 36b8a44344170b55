// The device pipelines of the sparse DNN on the CPU executor, checked and not: each layer
// against the host's reference, under several schedules.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpu/simt/executor.hpp"
#include "gpu/tests/checked.hpp"
#include "gpu/tests/faults/sparse_dnn.hpp"
#include "reference/core/random.hpp"
#include "reference/models/sparse_dnn/absorbing.hpp"
#include "reference/models/sparse_dnn/drawn.hpp"
#include "reference/models/sparse_dnn/judge.hpp"
#include "reference/models/sparse_dnn/sparse_dnn.hpp"
#include "reference/tests/models/absorbing_networks.hpp"
#include "reference/tests/models/sparse_dnn_inputs.hpp"

namespace {

using plumb::Csr;
using plumb::SparseDnn;
using plumb::test::csr;
using plumb::test::identity;
using plumb::test::random_inputs;
using plumb::test::random_weights;

/// Groups of 16 neurons that gather from the same 32 of 128 neurons, with weights of their own: what the
/// challenge's networks look like.
Csr<float> shared_weights(std::int64_t n, std::uint64_t seed) {
  std::vector<std::vector<std::pair<int, float>>> rows;
  for (std::int64_t j = 0; j < n; ++j) {
    auto& row = rows.emplace_back();
    const std::int64_t group = j % (n / 16);
    for (std::int64_t k = 0; k < 32; ++k) {
      row.emplace_back(
          static_cast<int>((group + k * (n / 32) + k % 2) % n),
          static_cast<float>(plumb::random_unit(seed, 6, static_cast<std::uint64_t>(j * 32 + k)) - 0.4));
    }
  }
  return csr(n, rows);
}

std::vector<const plumb::SdnnPipeline*> device_pipelines() {
  std::vector<const plumb::SdnnPipeline*> all;
  for (const plumb::SdnnPipeline* p : plumb::sdnn_pipelines()) {
    if (p->space == plumb::Space::device) all.push_back(p);
  }
  return all;
}

/// Runs `work` on the executor; its findings, if any, fail the test.
template <class Work>
void on_executor(std::uint64_t seed, Work&& work) {
  plumb::simt::Options options;
  options.seed = seed;
  options.resident_blocks = 2;
  options.check = plumb::simt_test::checked();
  plumb::simt::begin_run(options);
  work();
  for (const auto& finding : plumb::simt::end_run()) FAIL_CHECK(finding.describe());
}

/// Whether `all`, the answer of all layers at once, has the very bits of one after the other: whatever shares a
/// launch, sums are made in the same order.
bool same_as_chained(plumb::SdnnPlan& plan, const SparseDnn& net, const Csr<float>& y,
                     const Csr<float>& all) {
  Csr<float> chained = y;
  for (std::int64_t l = 0; l < net.layers(); ++l) chained = plan.run(chained, l, l + 1).y;
  bool same = all.row_ptr == chained.row_ptr && all.col == chained.col;
  for (std::size_t k = 0; same && k < all.val.size(); ++k)
    same = all.val[k] == chained.val[k] || (std::isnan(all.val[k]) && std::isnan(chained.val[k]));
  return same;
}

/// Every layer on its own input within its bound, and a run through all of them that agrees with it. The
/// networks are small enough that no value is undecidable.
void judge(const plumb::SdnnPipeline& pipeline, const SparseDnn& net, const Csr<float>& y) {
  CAPTURE(pipeline.name);
  plumb::validate(net);
  plumb::validate_inputs(net, y);
  const auto plan = pipeline.plan(net);
  const plumb::SdnnCheck check = plumb::check_run(net, *plan, y);
  for (const auto& layer : check.layers) {
    CHECK(layer.compared == y.rows * net.neurons);
    CHECK(layer.misses == 0);
  }
  const plumb::SdnnRun run = plan->run(y, 0, net.layers());
  CHECK(check.ids == plumb::categories(run.y));
  REQUIRE(run.active.size() == static_cast<std::size_t>(net.layers() + 1));
  REQUIRE(run.layer_seconds.size() == static_cast<std::size_t>(net.layers()));
  CHECK(run.active.front() == static_cast<std::int64_t>(plumb::categories(y).size()));
  CHECK(run.active.back() == static_cast<std::int64_t>(check.ids.size()));
  CHECK(same_as_chained(*plan, net, y, run.y));
}

}  // namespace

TEST_CASE("random networks, biases of either sign, any cap, empty rows: every layer is within its bound") {
  constexpr float kNoCap = std::numeric_limits<float>::infinity();
  for (const auto& [bias, cap] : {std::pair{-0.05F, 32.0F}, {0.1F, 1.5F}, {0.0F, kNoCap}}) {
    CAPTURE(bias);
    SparseDnn net{37, bias, cap, {}};
    for (std::uint64_t l = 0; l < 4; ++l) net.gather.push_back(random_weights(37, 9, 100 + l));
    const Csr<float> y = random_inputs(71, 37, 7);
    for (const auto* pipeline : device_pipelines())
      on_executor(static_cast<std::uint64_t>(cap * 8), [&] { judge(*pipeline, net, y); });
  }
}

namespace {

/// What `infer sdnn --check` says, and the same bits in one run as layer by layer.
void judge_any(const plumb::SdnnPipeline& pipeline, const SparseDnn& net, const Csr<float>& y) {
  CAPTURE(pipeline.name);
  plumb::validate(net);
  plumb::validate_inputs(net, y);
  REQUIRE(pipeline.unsupported(net) == nullptr);
  const auto plan = pipeline.plan(net);
  const plumb::SdnnRun run = plan->run(y, 0, net.layers());
  plumb::SdnnExpectation expectation;
  expectation.check = true;
  CHECK_FALSE(plumb::judge_sdnn(net, *plan, y, run, expectation).differs());
  CHECK(run.active.size() == static_cast<std::size_t>(net.layers() + 1));
  CHECK(same_as_chained(*plan, net, y, run.y));
}

}  // namespace

TEST_CASE("random networks of any shape, with a bias for each neuron: every pipeline passes the check") {
  constexpr std::uint64_t kNetworks = 40;
  std::set<std::string> met;
  for (std::uint64_t seed = 1; seed <= kNetworks; ++seed) {
    CAPTURE(seed);
    const plumb::DrawnNetwork drawn = plumb::draw_network(seed, 40, 36);
    met.insert(drawn.classes.begin(), drawn.classes.end());
    for (const auto* pipeline : device_pipelines())
      on_executor(seed, [&] { judge_any(*pipeline, drawn.net, drawn.y); });
  }
  CHECK(met.size() == 34);  // every class of every property
}

TEST_CASE("a bias for each neuron in networks of 1024 neurons and more, whose rows no longer stay on chip") {
  for (const std::int64_t n : {1023, 1024}) {
    CAPTURE(n);
    std::vector<Csr<float>> gather;
    std::vector<std::vector<float>> biases;
    for (std::uint64_t l = 0; l < 4; ++l) {
      gather.push_back(random_weights(n, 3, 70 + l));
      auto& layer = biases.emplace_back(static_cast<std::size_t>(n));
      for (std::size_t j = 0; j < layer.size(); ++j)
        layer[j] = static_cast<float>(plumb::random_unit(80 + l, 7, j) - 0.7);
    }
    const SparseDnn net = plumb::square_network(std::move(gather), std::move(biases), 4);
    const Csr<float> y = random_inputs(20, n, 5);
    for (const auto* pipeline : device_pipelines()) on_executor(3, [&] { judge_any(*pipeline, net, y); });
  }
}

TEST_CASE("neurons that share their inputs, and a last neuron that takes all inputs, are within the bound") {
  SparseDnn net{128, -0.3F, 4, {shared_weights(128, 1), shared_weights(128, 2), random_weights(128, 5, 3)}};
  std::vector<std::vector<std::pair<int, float>>> rows(128);
  for (int i = 0; i < 128; ++i) rows[127].emplace_back(i, 0.01F * static_cast<float>(i % 7));
  net.gather.push_back(csr(128, rows));
  const Csr<float> y = random_inputs(40, 128, 5);
  for (const auto* pipeline : device_pipelines()) {
    on_executor(3, [&] { judge(*pipeline, net, y); });
  }
}

TEST_CASE(
    "networks wider than a block, and wider than a tile, are within the bound where rows become steady "
    "early") {
  for (const std::int64_t n : {600, 1056}) {
    CAPTURE(n);
    SparseDnn net{n, -0.05F, 4, {shared_weights(n, 1)}};
    // Three layers to find that the rows have steady-state, three in one launch.
    for (std::uint64_t l = 0; l < 5; ++l) net.gather.push_back(random_weights(n, 6, 40 + l));
    const Csr<float> y = random_inputs(35, n, 5);
    for (const auto* pipeline : device_pipelines()) {
      on_executor(3, [&] { judge(*pipeline, net, y); });
    }
  }
}

TEST_CASE(
    "a positive bias is added only where Z is not 0: not in empty columns, inactive rows or sums that "
    "cancel") {
  SparseDnn net{3, 0.25F, 32, {csr(3, {{{0, 1}, {1, 1}}, {{0, 1}, {1, -1}}, {}})}};
  const Csr<float> y = csr(3, {{{0, 1}, {1, 1}}, {}, {{1, 3}}, {{1, 0.125F}}});
  for (const auto* pipeline : device_pipelines()) {
    CAPTURE(pipeline->name);
    on_executor(1, [&] {
      const Csr<float> got = pipeline->plan(net)->run(y, 0, 1).y;
      CHECK(got.row_ptr == std::vector<std::int32_t>{0, 1, 1, 2, 4});
      CHECK(got.col == std::vector<std::int32_t>{0, 0, 0, 1});
      CHECK(got.val == std::vector<float>{2.25F, 3.25F, 0.375F, 0.125F});
    });
  }
}

TEST_CASE("NaN stays NaN, counts as a non-zero, and stays in its row") {
  SparseDnn net{2, -1, 32, {identity(2), identity(2)}};
  const Csr<float> y = csr(2, {{{0, std::numeric_limits<float>::quiet_NaN()}}, {{1, 1}}});
  for (const auto* pipeline : device_pipelines()) {
    CAPTURE(pipeline->name);
    on_executor(1, [&] {
      const Csr<float> got = pipeline->plan(net)->run(y, 0, 2).y;
      CHECK(got.row_ptr == std::vector<std::int32_t>{0, 1, 1});
      REQUIRE(got.val.size() == 1);
      CHECK(std::isnan(got.val[0]));
    });
  }
}

TEST_CASE("a NaN in an input that no neuron reads changes nothing") {
  // fewer edges than are loaded together, and neurons that are equal
  SparseDnn net{40, 0, 32, {csr(40, {}), identity(40)}};
  std::vector<std::vector<std::pair<int, float>>> rows, in;
  for (int j = 0; j < 40; ++j) rows.push_back({{j % 5, 1.0F}});
  net.gather[0] = csr(40, rows);
  for (int i = 5; i < 40; ++i) in.push_back({{0, 2.0F}, {i, std::numeric_limits<float>::quiet_NaN()}});
  const Csr<float> y = csr(40, in);
  for (const auto* pipeline : device_pipelines()) {
    CAPTURE(pipeline->name);
    on_executor(1, [&] {
      const Csr<float> got = pipeline->plan(net)->run(y, 0, 2).y;
      CHECK(got.nnz() == y.rows * 8);
      CHECK(std::all_of(got.val.begin(), got.val.end(), [](float v) { return v == 2; }));
    });
  }
}

TEST_CASE(
    "rows that become inactive in different layers keep their ids and values, whatever the batch and depth") {
  struct Size {
    std::int64_t rows, layers, neurons;
  };
  // The last is too wide for whole rows to stay on chip.
  for (const auto& [rows, layers, neurons] :
       {Size{1, 12, 5}, Size{31, 12, 5}, Size{32, 12, 5}, Size{33, 12, 5}, Size{130, 12, 5}, Size{70, 150, 5},
        Size{35, 5, 1040}}) {
    SparseDnn net{neurons, -1, 999, {}};
    for (std::int64_t l = 0; l < layers; ++l) net.gather.push_back(identity(neurons));
    std::vector<std::vector<std::pair<int, float>>> in, want;
    std::vector<std::int64_t> active(static_cast<std::size_t>(layers) + 1, 0);
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t value = i * 7 % 17 * layers / 12;  // row i lives `value` layers
      in.emplace_back();
      want.emplace_back();
      if (value > 0) in.back().emplace_back(static_cast<int>(i % 5), static_cast<float>(value));
      if (value > layers)
        want.back().emplace_back(static_cast<int>(i % 5), static_cast<float>(value - layers));
      for (std::int64_t l = 0; l <= layers; ++l) active[static_cast<std::size_t>(l)] += value > l;
    }
    const Csr<float> y = csr(neurons, in), expected = csr(neurons, want);
    for (const auto* pipeline : device_pipelines()) {
      CAPTURE(pipeline->name);
      CAPTURE(rows);
      CAPTURE(layers);
      on_executor(static_cast<std::uint64_t>(rows), [&] {
        const plumb::SdnnRun run = pipeline->plan(net)->run(y, 0, layers);
        CHECK(run.y.row_ptr == expected.row_ptr);
        CHECK(run.y.col == expected.col);
        CHECK(run.y.val == expected.val);
        CHECK(run.active == active);
      });
    }
  }
}

TEST_CASE("rows that become inactive in steady-state layers are counted in their layer") {
  // The last width is too wide for whole rows to stay on chip. Two panels of a warp's four are there.
  for (const std::int64_t neurons : {5, 1040}) {
    constexpr std::int64_t kRows = 40, kLayers = 9, kLate = 7;
    SparseDnn net{neurons, -1, 999, {}};
    for (std::int64_t l = 0; l < kLayers; ++l) net.gather.push_back(identity(neurons));
    std::vector<std::vector<std::pair<int, float>>> in;
    for (std::int64_t i = 0; i < kRows; ++i)
      in.push_back({{static_cast<int>(i % 5), static_cast<float>(i % 4 == 0 ? kLate : kLayers + 1)}});
    std::vector<std::int64_t> active(kLayers + 1, kRows);
    for (std::int64_t l = kLate; l <= kLayers; ++l) active[static_cast<std::size_t>(l)] -= kRows / 4;
    const Csr<float> y = csr(neurons, in);
    for (const auto* pipeline : device_pipelines()) {
      CAPTURE(pipeline->name);
      CAPTURE(neurons);
      on_executor(1, [&] { CHECK(pipeline->plan(net)->run(y, 0, kLayers).active == active); });
    }
  }
}

TEST_CASE("repeated columns of an input add up, and an input of zeros does not live") {
  SparseDnn net{2, -1, 32, {identity(2)}};
  const Csr<float> y = csr(2, {{{0, 1}, {0, 2}, {1, 0}}, {{1, 0}}, {{1, 5}}});
  for (const auto* pipeline : device_pipelines()) {
    CAPTURE(pipeline->name);
    on_executor(2, [&] {
      const plumb::SdnnRun run = pipeline->plan(net)->run(y, 0, 1);
      CHECK(run.active == std::vector<std::int64_t>{2, 2});
      CHECK(run.y.col == std::vector<std::int32_t>{0, 1});
      CHECK(run.y.val == std::vector<float>{2, 4});
    });
  }
}

TEST_CASE("subnormal inputs count, also where columns are repeated, near and far") {
  // 2^-130 is subnormal; the weight of 2^100 makes a normal number of it, and nothing of a zero.
  const float tiny = std::ldexp(1.0F, -130), large = std::ldexp(1.0F, 100), product = std::ldexp(1.0F, -30);
  const SparseDnn net{2, 0, 32, {csr(2, {{{0, large}}, {{1, large}}})}};
  std::vector<std::pair<int, float>> many;  // more than a warp has lanes
  for (int i = 0; i < 70; ++i) many.emplace_back(i % 2, tiny);
  const Csr<float> distinct = csr(2, {{{0, tiny}, {1, 2 * tiny}}});
  const Csr<float> repeated = csr(2, {{{1, tiny}, {0, tiny}, {1, tiny}}, many});
  for (const auto* pipeline : device_pipelines()) {
    CAPTURE(pipeline->name);
    on_executor(6, [&] {
      const auto plan = pipeline->plan(net);
      CHECK(plan->run(distinct, 0, 1).y.val == std::vector<float>{product, 2 * product});
      CHECK(plan->run(repeated, 0, 1).y.val ==
            std::vector<float>{product, 2 * product, 35 * product, 35 * product});
    });
  }
}

TEST_CASE("networks without rows, without neurons and without layers run") {
  const SparseDnn empty{0, -1, 32, {csr(0, {})}};
  const SparseDnn shallow{2, -1, 32, {}};
  const SparseDnn one{2, -1, 32, {identity(2)}};
  for (const auto* pipeline : device_pipelines()) {
    CAPTURE(pipeline->name);
    on_executor(4, [&] {
      CHECK(pipeline->plan(empty)->run(csr(0, {{}, {}}), 0, 1).y.rows == 2);
      CHECK(pipeline->plan(shallow)->run(csr(2, {{{1, 7}}}), 0, 0).y.val == std::vector<float>{7});
      CHECK(pipeline->plan(one)->run(csr(2, {}), 0, 1).y.rows == 0);
    });
  }
}

namespace {

/// Rows that die one by one, a value that the cap cuts, sums that cancel, an empty neuron, a NaN: what each
/// planted fault needs to show.
struct Telling {
  SparseDnn net{4, 0, 8, {}};
  Csr<float> y;

  explicit Telling(float bias) {
    net.bias = bias;
    for (int l = 0; l < 4; ++l)
      net.gather.push_back(csr(4, {{{0, 1}}, {{1, 2}, {0, 0.25F}}, {{0, 1}, {0, -1}}, {}}));
    std::vector<std::vector<std::pair<int, float>>> rows;
    for (int i = 0; i < 45; ++i) rows.push_back({{i % 2, 0.6F * static_cast<float>(i % 9)}});
    rows[7] = {{1, std::numeric_limits<float>::quiet_NaN()}};
    y = csr(4, rows);
  }
};

bool right(plumb::SdnnPlan& plan, const SparseDnn& net, const Csr<float>& y) {
  for (const auto& layer : plumb::check_run(net, plan, y).layers) {
    if (layer.misses > 0) return false;
  }
  return same_as_chained(plan, net, y, plan.run(y, 0, net.layers()).y);
}

}  // namespace

TEST_CASE("every mutant of a device pipeline is detected, and the correct pipeline passes") {
  using plumb::sdnn_faults::Fault;
  for (const Fault fault :
       {Fault::none, Fault::cap_before_bias, Fault::bias_everywhere, Fault::nan_lost, Fault::stale_places,
        Fault::whole_tiles_only, Fault::last_edge_dropped, Fault::dead_rows_listed}) {
    CAPTURE(static_cast<int>(fault));
    bool noticed = false;
    for (const float bias : {-0.5F, 0.25F}) {
      const Telling telling(bias);
      on_executor(5, [&] {
        noticed |= !right(*plumb::sdnn_faults::faulty_plan(telling.net, fault), telling.net, telling.y);
      });
    }
    CHECK(noticed == (fault != Fault::none));
  }
}

namespace {

std::vector<const plumb::SdnnPipeline*> absorbing_pipelines() {
  std::vector<const plumb::SdnnPipeline*> all = device_pipelines();
  all.erase(std::remove_if(all.begin(), all.end(), [](const auto* p) { return !p->has_absorbing_plan(); }),
            all.end());
  return all;
}

bool same_answer(const plumb::SdnnRun& a, const plumb::SdnnRun& b) {
  return a.y.row_ptr == b.y.row_ptr && a.y.col == b.y.col && a.y.val == b.y.val && a.active == b.active;
}

/// The same bits as `all`, which computes every row, and no row leaves before it may. Returns how many had left by layer.
std::vector<std::int64_t> judge_absorbing(const plumb::SdnnPipeline& pipeline, const SparseDnn& net,
                                          const Csr<float>& y, plumb::SdnnPlan& all) {
  const plumb::AbsorbingStates states = plumb::find_absorbing_states(net);
  const plumb::SdnnRun run = pipeline.plan_absorbing(net, states)->run(y, 0, net.layers());
  CHECK(same_answer(run, all.run(y, 0, net.layers())));
  CHECK(run.layer_seconds.size() == static_cast<std::size_t>(net.layers()));
  const auto most = plumb::test::rows_that_may_leave(net, states, *plumb::kSdnnCacheBlocked.plan(net), y);
  REQUIRE(run.absorbed.size() == most.size());
  for (std::size_t l = 0; l < most.size(); ++l) CHECK(run.absorbed[l] <= most[l]);
  CHECK(std::is_sorted(run.absorbed.begin(), run.absorbed.end()));
  return run.absorbed;
}

}  // namespace

TEST_CASE("without rows at an absorbing state the device's answer is the same, bit for bit") {
  REQUIRE(absorbing_pipelines().size() == 2);
  for (const auto* pipeline : absorbing_pipelines()) {
    CAPTURE(pipeline->name);
    std::int64_t left[6] = {};
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      CAPTURE(seed);
      const auto drawn = plumb::test::absorbing_network(seed, seed < 6 ? 17 : 5, seed < 6 ? 14 : 40, 40);
      on_executor(seed, [&] {
        left[seed % 6] += judge_absorbing(*pipeline, drawn.net, drawn.y, *pipeline->plan(drawn.net)).back();
      });
    }
    // of the kinds in which no layer is in the way; in others it may be too late for a look
    CHECK(left[0] > 0);
    CHECK(left[5] > 0);
  }
}

TEST_CASE("networks too wide for whole rows on chip: rows leave between layers and between pieces") {
  // y -> 1.5 y - 1 up to 8: rows below 2 become zeros, four in each of the first layers, so that layers are launched one
  // by one for some time; one row above 2 reaches the cap in each of the first twelve
  constexpr std::int64_t kNeurons = 1026, kLayers = 20;
  SparseDnn net{kNeurons, -1, 8, {}};
  Csr<float> w = identity(kNeurons);
  std::fill(w.val.begin(), w.val.end(), 1.5F);
  net.gather.assign(kLayers, w);
  std::vector<std::vector<std::pair<int, float>>> in(32);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double scale = std::pow(1.5, i < 20 ? -static_cast<double>(i / 4) : -static_cast<double>(i - 20));
    const auto value = static_cast<float>(i < 20 ? 2 - 1.7 * scale : 2 + 6.5 * scale);
    for (int j = 0; j < kNeurons; ++j) in[i].emplace_back(j, value);
  }
  const Csr<float> y = csr(kNeurons, in);
  const auto host = plumb::kSdnnCacheBlocked.plan(net);  // final values are 0 or 8 in any arithmetic
  for (const auto* pipeline : absorbing_pipelines()) {
    CAPTURE(pipeline->name);
    on_executor(2, [&] {
      const std::vector<std::int64_t> absorbed = judge_absorbing(*pipeline, net, y, *host);
      CHECK(absorbed[3] == 0);
      CHECK(absorbed[4] > 0);
      CHECK(absorbed[kLayers - 1] > absorbed[8]);
    });
  }
}

TEST_CASE("a device plan that is told of states that do not stay, or compares one neuron only, is noticed") {
  const auto drawn = plumb::test::losing_network(33, 14, 40);
  for (const auto* pipeline : absorbing_pipelines()) {
    CAPTURE(pipeline->name);
    on_executor(3, [&] {
      const plumb::SdnnRun want = pipeline->plan(drawn.net)->run(drawn.y, 0, 14);
      plumb::AbsorbingStates wrong = plumb::find_absorbing_states(drawn.net);
      wrong.caps_until.assign(wrong.caps_until.size(), 14);
      CHECK_FALSE(same_answer(pipeline->plan_absorbing(drawn.net, wrong)->run(drawn.y, 0, 14), want));
      wrong.neurons = 1;
      CHECK_FALSE(same_answer(pipeline->plan_absorbing(drawn.net, wrong)->run(drawn.y, 0, 14), want));
    });
  }
}
