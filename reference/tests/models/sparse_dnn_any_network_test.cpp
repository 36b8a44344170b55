// The sparse DNN's host pipelines on networks that are not the challenge's.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>

#include "reference/core/error.hpp"
#include "reference/models/sparse_dnn/drawn.hpp"
#include "reference/models/sparse_dnn/judge.hpp"
#include "reference/models/sparse_dnn/sparse_dnn.hpp"
#include "reference/tests/models/sparse_dnn_inputs.hpp"

namespace {

using plumb::Csr;
using plumb::SparseDnn;
using plumb::test::csr;

constexpr float kNoCap = std::numeric_limits<float>::infinity();

std::vector<const plumb::SdnnPipeline*> host_pipelines() {
  std::vector<const plumb::SdnnPipeline*> all;
  for (const plumb::SdnnPipeline* p : plumb::sdnn_pipelines()) {
    if (p->space == plumb::Space::host) all.push_back(p);
  }
  return all;
}

/// What `infer sdnn --check` says of a plan.
bool differs(const SparseDnn& net, plumb::SdnnPlan& plan, const Csr<float>& y) {
  plumb::SdnnExpectation expectation;
  expectation.check = true;
  return plumb::judge_sdnn(net, plan, y, plan.run(y, 0, net.layers()), expectation).differs();
}

/// Two neurons of which the second has a bias that makes a value of nothing, and then one of each.
SparseDnn lifting_network() {
  return plumb::square_network({csr(2, {{{0, 1}}, {{0, -1}}}), csr(2, {{{1, 2}}, {{0, 1}}})},
                               {{-0.5F, 0.25F}, {0, -0.125F}}, 8);
}

}  // namespace

TEST_CASE("two hundred random networks: every pipeline passes the check of every layer, or says why not") {
  constexpr std::uint64_t kNetworks = 200;
  std::set<std::string> met;
  for (std::uint64_t seed = 1; seed <= kNetworks; ++seed) {
    const plumb::DrawnNetwork drawn = plumb::draw_network(seed, 130, 70);
    met.insert(drawn.classes.begin(), drawn.classes.end());
    CAPTURE(seed);
    plumb::validate(drawn.net);
    plumb::validate_inputs(drawn.net, drawn.y);
    for (const auto* pipeline : host_pipelines()) {
      CAPTURE(pipeline->name);
      REQUIRE(pipeline->unsupported(drawn.net) == nullptr);
      CHECK_FALSE(differs(drawn.net, *pipeline->plan(drawn.net), drawn.y));
    }
  }
  CHECK(met.size() == 34);  // every class of every property
}

TEST_CASE("a bias of each neuron goes everywhere, also into rows of zeros") {
  const SparseDnn net = lifting_network();
  REQUIRE(net.biases.size() == 2);
  const Csr<float> y = csr(2, {{}, {{0, 1}}, {{0, -2}}});
  for (const auto* pipeline : host_pipelines()) {
    CAPTURE(pipeline->name);
    const auto plan = pipeline->plan(net);
    const plumb::SdnnRun first = plan->run(y, 0, 1);
    // Z + b = (-0.5, 0.25), (0.5, -0.75), (-2.5, 2.25)
    CHECK(first.y.row_ptr == std::vector<std::int32_t>{0, 1, 2, 3});
    CHECK(first.y.col == std::vector<std::int32_t>{1, 0, 1});
    CHECK(first.y.val == std::vector<float>{0.25F, 0.5F, 2.25F});
    // (0.5, -0.125), (0, 0.375), (4.5, -0.125)
    const plumb::SdnnRun both = plan->run(y, 0, 2);
    CHECK(both.y.cols == 2);
    CHECK(both.y.col == std::vector<std::int32_t>{0, 1, 0});
    CHECK(both.y.val == std::vector<float>{0.5F, 0.375F, 4.5F});
    CHECK(both.active == std::vector<std::int64_t>{3, 3, 3});
    CHECK(plan->run(csr(2, {}), 0, 2).y.rows == 0);
    CHECK(plan->run(y, 1, 1).y.val == y.val);
  }
}

TEST_CASE("a cap below one, of zero, or as small as numbers are does not change a bias") {
  for (const float cap : {0.3F, 0.0F, std::ldexp(1.0F, -140)}) {
    const float bias = std::ldexp(1.0F, -141);
    const SparseDnn net = plumb::square_network({csr(1, {{}, {}})}, {{bias, -bias}}, cap);
    plumb::validate(net);
    for (const auto* pipeline : host_pipelines()) {
      CAPTURE(pipeline->name);
      CAPTURE(cap);
      const Csr<float> y = pipeline->plan(net)->run(csr(2, {{}}), 0, 1).y;
      CHECK(y.val == (cap > 0 ? std::vector<float>{bias} : std::vector<float>{}));
    }
  }
}

TEST_CASE("layers of any widths become square, and one bias up to 0 for all stays one bias") {
  const Csr<float> narrow = csr(3, {{{2, 1}}}), wide = csr(1, {{{0, 2}}, {}, {{0, 3}}, {{0, 4}}});
  const SparseDnn one = plumb::square_network({narrow, wide}, {{-1}, {-1, -1, -1, -1}}, kNoCap);
  CHECK(one.neurons == 4);
  CHECK(one.biases.empty());
  CHECK(one.bias == -1);
  CHECK(one.gather[0].row_ptr == std::vector<std::int32_t>{0, 1, 1, 1, 1});
  CHECK(one.gather[1].cols == 4);
  const SparseDnn each = plumb::square_network({narrow, wide}, {{-1}, {-1, -1, -1, 0.5F}}, kNoCap);
  CHECK(each.biases == std::vector<std::vector<float>>{{-1, 0, 0, 0}, {-1, -1, -1, 0.5F}});
  CHECK_FALSE(each.keeps_zero_rows());
  CHECK(plumb::square_network({narrow}, {{-1}}, 1).keeps_zero_rows());
  const SparseDnn lifted = plumb::square_network({narrow, wide}, {{1}, {1, 1, 1, 1}}, kNoCap);
  CHECK_FALSE(lifted.biases.empty());
  CHECK(plumb::square_network({narrow, wide}, 0.5F, 1).biases.empty());
  CHECK_THROWS_WITH_AS(static_cast<void>(plumb::square_network({narrow, narrow}, -1, 1)),
                       "sparse DNN, layer 2: takes 3 inputs, the layer before has 1 outputs", plumb::Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(plumb::square_network({narrow}, {{-1, -1}}, 1)),
                       "sparse DNN, layer 1: 2 biases, 1 outputs", plumb::Error);
}

TEST_CASE("validate names what is wrong with the biases") {
  SparseDnn net = lifting_network();
  net.biases[1][0] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH_AS(plumb::validate(net), "sparse DNN, layer 2: a bias is not finite: nan", plumb::Error);
  net.biases[1].pop_back();
  CHECK_THROWS_WITH_AS(plumb::validate(net), "sparse DNN, layer 2: 1 biases, neurons are 2", plumb::Error);
  net.biases.pop_back();
  CHECK_THROWS_WITH_AS(plumb::validate(net), "sparse DNN: biases of 1 layers, weights of 2", plumb::Error);
  net = lifting_network();
  net.cap = 1e-20F;
  net.biases[0][0] = 1e30F;
  CHECK_THROWS_WITH_AS(plumb::validate(net),
                       "sparse DNN, layer 1: a bias is more than 3.4e38 times the cap: 1e+30, cap 1e-20",
                       plumb::Error);
}

namespace {

/// Leaves rows of zeros as they are, as a pipeline does that drops them.
class DropsZeroRows final : public plumb::SdnnPlan {
 public:
  explicit DropsZeroRows(std::unique_ptr<plumb::SdnnPlan> plan) : plan_(std::move(plan)) {}
  plumb::SdnnRun run(const Csr<float>& y, std::int64_t first, std::int64_t last) override {
    plumb::SdnnRun result = plan_->run(y, first, last);
    Csr<float> kept;
    kept.rows = y.rows;
    kept.cols = y.cols;
    for (std::size_t r = 0; r < static_cast<std::size_t>(y.rows); ++r) {
      for (std::int32_t k = result.y.row_ptr[r];
           y.row_ptr[r] < y.row_ptr[r + 1] && k < result.y.row_ptr[r + 1]; ++k) {
        kept.col.push_back(result.y.col[static_cast<std::size_t>(k)]);
        kept.val.push_back(result.y.val[static_cast<std::size_t>(k)]);
      }
      kept.row_ptr.push_back(static_cast<std::int32_t>(kept.col.size()));
    }
    result.y = kept;
    return result;
  }

 private:
  std::unique_ptr<plumb::SdnnPlan> plan_;
};

}  // namespace

TEST_CASE(
    "the check notices dropped rows of zeros, a bias of another neuron or layer, one left out, and a cap") {
  const SparseDnn net = lifting_network();
  const auto plan_of = [](const SparseDnn& of) { return plumb::kSdnnCacheBlocked.plan(of); };
  const Csr<float> y = csr(2, {{}, {{0, 1}}, {{0, -2}}});
  REQUIRE_FALSE(differs(net, *plan_of(net), y));
  DropsZeroRows drops(plan_of(net));
  CHECK(differs(net, drops, y));
  // Each half of the check by itself: the layers, and the ids of the whole run.
  CHECK(plumb::check_run(net, drops, csr(2, {{}})).layers[0].misses == 1);
  CHECK(plumb::reference_run(net, y).ids == std::vector<std::int32_t>{1, 2, 3});

  SparseDnn wrong = net;
  std::swap(wrong.biases[0][0], wrong.biases[0][1]);
  CHECK(differs(net, *plan_of(wrong), y));
  wrong = net;
  std::swap(wrong.biases[0], wrong.biases[1]);
  CHECK(differs(net, *plan_of(wrong), y));
  wrong = net;
  wrong.biases.clear();
  CHECK(differs(net, *plan_of(wrong), y));
  wrong = net;
  wrong.cap = 4;
  CHECK(differs(net, *plan_of(wrong), y));
}

TEST_CASE("without a cap, a sum beyond fp32 may be infinite, and a number may not") {
  const SparseDnn net = plumb::square_network({csr(1, {{{0, 1e38F}}})}, {{0.0F}}, kNoCap);
  const Csr<float> y = csr(1, {{{0, 1e10F}}, {{0, 1}}});
  const auto answer = [&](float first, float second) {
    return plumb::judge_layer(net, 0, y, csr(1, {{{0, first}}, {{0, second}}}), 0, 2).misses;
  };
  CHECK(answer(kNoCap, 1e38F) == 0);
  CHECK(answer(1e38F, 1e38F) == 1);
  CHECK(answer(kNoCap, kNoCap) == 1);
  for (const auto* pipeline : host_pipelines()) {
    CAPTURE(pipeline->name);
    CHECK(plumb::judge_layer(net, 0, y, pipeline->plan(net)->run(y, 0, 1).y, 0, 2).misses == 0);
  }
}
