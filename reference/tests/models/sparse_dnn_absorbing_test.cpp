// Which layers leave rows at an absorbing state as they are, and the host's pipeline that does not compute them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "reference/models/sparse_dnn/absorbing.hpp"
#include "reference/models/sparse_dnn/drawn.hpp"
#include "reference/models/sparse_dnn/judge.hpp"
#include "reference/tests/models/absorbing_networks.hpp"

namespace {

using plumb::AbsorbingStates;
using plumb::Csr;
using plumb::SparseDnn;
using plumb::test::csr;

using Edges = std::vector<std::pair<int, float>>;

/// A layer of three neurons: the first two keep any row of caps, `third` is the edges of the last.
SparseDnn three(const Edges& third, float bias, float cap) {
  return {3, bias, cap, {csr(3, {{{0, 2}}, {{1, 1}, {2, 1}}, third})}};
}
bool keeps_caps(const SparseDnn& net) { return plumb::find_absorbing_states(net).caps_stay(0, net.layers()); }

bool same(const plumb::SdnnRun& a, const plumb::SdnnRun& b) {
  const auto equal = [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return a.y.row_ptr == b.y.row_ptr && a.y.col == b.y.col && a.active == b.active &&
         std::equal(a.y.val.begin(), a.y.val.end(), b.y.val.begin(), b.y.val.end(), equal);
}

}  // namespace

TEST_CASE("a layer keeps rows of caps only where every neuron's sum is above the cap by more than rounding") {
  CHECK(keeps_caps(three({{0, 0.5F}, {1, 0.75F}}, -0.25F, 4)));
  CHECK(keeps_caps(three({{0, 2}, {1, -0.5F}}, -0.25F, 4)));        // a negative weight, and enough beside it
  CHECK_FALSE(keeps_caps(three({{0, 1}, {1, -0.5F}}, -0.25F, 4)));  // and not enough
  CHECK_FALSE(keeps_caps(three({{0, 1.0625F}}, -0.3F, 4)));         // 4.25 - 0.3 < 4
  CHECK_FALSE(keeps_caps(three({{0, std::nextafter(1.0F, 0.0F)}}, 0, 4)));
  CHECK_FALSE(keeps_caps(three({{0, 1}}, 0, 4)));  // the cap itself: within rounding, not decided
  CHECK_FALSE(keeps_caps(three({{0, std::nextafter(1.0F, 2.0F)}}, 0, 4)));
  CHECK(keeps_caps(three({{0, 1.0001F}}, 0, 4)));
  CHECK_FALSE(keeps_caps(three({}, -0.25F, 4)));  // no edge: 0
  CHECK_FALSE(keeps_caps(three({{0, 2}}, 0, std::numeric_limits<float>::infinity())));
  CHECK_FALSE(keeps_caps(three({{0, 2}}, 0, 0)));
  // a partial sum may be infinite, and then NaN
  CHECK_FALSE(keeps_caps(three({{0, 3}, {1, 3}, {2, -1}}, 0, 1e38F)));
  CHECK(keeps_caps(three({{0, 3}, {1, 3}, {2, -1}}, 0, 1e37F)));
  CHECK_FALSE(keeps_caps(three({{0, 2e38F}, {0, 2e38F}, {1, -1e38F}}, 0, 0.01F)));  // nor a sum of weights
}

TEST_CASE("a bias counts with its neuron, and one that is added only at non-zeros lifts nothing for sure") {
  CHECK_FALSE(keeps_caps(three({{0, 1}}, 0.5F, 4)));
  const std::vector<Csr<float>> gather{csr(3, {{{0, 2}}, {{1, 2}}, {{2, 1}}})};
  CHECK(keeps_caps(plumb::square_network(gather, {{-1, -1, 0.5F}}, 4)));
  CHECK_FALSE(keeps_caps(plumb::square_network(gather, {{-1, -1, -0.5F}}, 4)));
  CHECK_FALSE(keeps_caps(plumb::square_network(gather, {{-5, 1, 0.5F}}, 4)));
}

TEST_CASE("rows may leave before a layer only where all further layers of the run keep them") {
  const Csr<float> keeps = csr(2, {{{0, 2}}, {{1, 2}}}), loses = csr(2, {{{0, 2}}, {{1, 0.5F}}});
  const SparseDnn one_bias{2, -0.25F, 4, {keeps, loses, keeps, keeps}};
  CHECK(plumb::find_absorbing_states(one_bias).caps_until == std::vector<std::int64_t>{1, 1, 4, 4});
  CHECK(plumb::find_absorbing_states(one_bias).zeros_until == std::vector<std::int64_t>{0, 1, 2, 3});
  const SparseDnn lifted =
      plumb::square_network({keeps, keeps, keeps, keeps}, {{0, -1}, {-1, -1}, {0.5F, -1}, {-1, -1}}, 4);
  const AbsorbingStates states = plumb::find_absorbing_states(lifted);
  CHECK(states.zeros_until == std::vector<std::int64_t>{2, 2, 2, 4});
  CHECK(states.zeros_stay(0, 2));
  CHECK_FALSE(states.zeros_stay(0, 3));
  CHECK(states.zeros_stay(3, 4));
  CHECK_FALSE(states.zeros_stay(4, 4));
}

TEST_CASE("what counts as kept is kept by sums in several orders, near the edge too") {
  int kept = 0, lost = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const auto degree = static_cast<int>(1 + plumb::random_below(seed, 1, 0, 40));
    Edges edges;
    double sum = 0;
    for (int k = 0; k < degree; ++k) {
      const double u = plumb::random_unit(seed, 2, static_cast<std::uint64_t>(k));
      edges.emplace_back(k, static_cast<float>(seed % 3 == 0 ? 2 * u - 1 : u));
      sum += static_cast<double>(edges.back().second);
    }
    // the last weight brings the sum to within some units in the last place of 1
    const auto steps = static_cast<double>(plumb::random_below(seed, 3, 0, 400)) - 100;
    edges.back().second += static_cast<float>(1 + steps * std::ldexp(1.0, -24) - sum);
    Csr<float> w = csr(40, {edges});
    w.rows = 40;
    w.row_ptr.resize(41, w.row_ptr.back());
    const float cap = seed % 2 == 0 ? 32.0F : 0.7F;
    const SparseDnn net{40, 0, cap, {w}};
    // only the first neuron is asked about: the others have no edges
    SparseDnn first = net;
    first.neurons = 1;
    if (!keeps_caps(first)) {
      ++lost;
      continue;
    }
    ++kept;
    float forward = 0, backward = 0, fused = 0;
    for (int k = 0; k < degree; ++k) {
      forward += cap * edges[static_cast<std::size_t>(k)].second;
      fused = std::fma(cap, edges[static_cast<std::size_t>(k)].second, fused);
      backward += cap * edges[static_cast<std::size_t>(degree - 1 - k)].second;
    }
    CHECK(std::min({forward, backward, fused}) >= cap);
  }
  CHECK(kept > 100);
  CHECK(lost > 100);
}

TEST_CASE(
    "without rows at an absorbing state the answer is the same, bit for bit, and those rows left at once") {
  std::map<std::string, std::int64_t> left_by_kind;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto neurons = static_cast<std::int64_t>(1 + plumb::random_below(seed, 9, 0, 90));
    const plumb::test::AbsorbingNetwork drawn = plumb::test::absorbing_network(seed, neurons, 16, 150);
    CAPTURE(seed);
    CAPTURE(drawn.kind);
    plumb::validate(drawn.net);
    const AbsorbingStates states = plumb::find_absorbing_states(drawn.net);
    for (const plumb::SdnnPipeline* const p : plumb::sdnn_pipelines()) {
      if (p->space != plumb::Space::host || !p->has_absorbing_plan()) continue;
      const auto plan = p->plan(drawn.net), absorbing = p->plan_absorbing(drawn.net, states);
      const plumb::SdnnRun run = absorbing->run(drawn.y, 0, 16);
      CHECK(same(run, plan->run(drawn.y, 0, 16)));
      CHECK(same(absorbing->run(drawn.y, 3, 9), plan->run(drawn.y, 3, 9)));
      CHECK(run.absorbed == plumb::test::rows_that_may_leave(drawn.net, states, *plan, drawn.y));
      CHECK(plan->run(drawn.y, 0, 16).absorbed.empty());
      left_by_kind[drawn.kind] += run.absorbed.back();
    }
  }
  CHECK(left_by_kind.size() == 6);
  for (const auto& [kind, left] : left_by_kind) {
    CAPTURE(kind);
    CHECK(left > 0);
  }
}

TEST_CASE("random networks of any shape give the same bits with and without rows at an absorbing state") {
  std::int64_t left = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const plumb::DrawnNetwork drawn = plumb::draw_network(seed, 130, 70);
    CAPTURE(seed);
    const std::int64_t layers = drawn.net.layers();
    const plumb::SdnnPipeline& p = plumb::kSdnnCacheBlocked;
    const auto absorbing = p.plan_absorbing(drawn.net, plumb::find_absorbing_states(drawn.net));
    const plumb::SdnnRun run = absorbing->run(drawn.y, 0, layers);
    CHECK(same(run, p.plan(drawn.net)->run(drawn.y, 0, layers)));
    left += run.absorbed.back();
  }
  CHECK(left > 0);
}

TEST_CASE(
    "a plan that is told of states that do not stay, or compares one neuron only, gives another answer") {
  const plumb::test::AbsorbingNetwork drawn = plumb::test::losing_network(40, 16, 150);
  const AbsorbingStates states = plumb::find_absorbing_states(drawn.net);
  const plumb::SdnnPipeline& p = plumb::kSdnnCacheBlocked;
  const plumb::SdnnRun want = p.plan(drawn.net)->run(drawn.y, 0, 16);
  AbsorbingStates wrong = states;
  std::fill(wrong.caps_until.begin(), wrong.caps_until.end(), 16);
  CHECK_FALSE(same(p.plan_absorbing(drawn.net, wrong)->run(drawn.y, 0, 16), want));
  CHECK(
      same(p.plan_absorbing(drawn.net, states)->run(drawn.y, 0, 15), p.plan(drawn.net)->run(drawn.y, 0, 15)));
  wrong.neurons = 1;
  CHECK_FALSE(same(p.plan_absorbing(drawn.net, wrong)->run(drawn.y, 0, 16), want));
}
