// Neurons that share their inputs in layers too wide for the chip: how groups become teams, and the kernels of such layers on networks of
// any width.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "gpu/models/sparse_dnn/neuron_tiles.hpp"
#include "gpu/tests/faults/sparse_dnn.hpp"
#include "gpu/tests/findings.hpp"
#include "reference/models/sparse_dnn_drawn.hpp"
#include "reference/models/sparse_dnn_judge.hpp"
#include "reference/tests/sparse_dnn_inputs.hpp"

namespace {

using plumb::Csr;
using plumb::SparseDnn;
using plumb::sdnn::GroupTeams;
using plumb::sdnn::kGroup;
using plumb::sdnn::kTeamGroups;
using plumb::sdnn::kTeamLines;
using plumb::simt_test::findings_of;

using Size = std::size_t;
using Edges =
    std::map<std::pair<std::int32_t, std::int32_t>, float>;  // neuron, input: the sum of its weights

Edges edges_of(const Csr<float>& w) {
  Edges all;
  for (std::int32_t j = 0; j < w.rows; ++j) {
    for (auto k = static_cast<Size>(w.row_ptr[static_cast<Size>(j)]);
         k < static_cast<Size>(w.row_ptr[static_cast<Size>(j) + 1]); ++k)
      all[{j, w.col[k]}] += w.val[k];
  }
  return all;
}

/// What warps of a block read, stage after stage. Each neuron must stand in one group, each input once in a team.
Edges edges_of(const GroupTeams& t) {
  Edges all;
  for (Size team = 0; team < static_cast<Size>(t.teams()); ++team) {
    std::map<std::int32_t, int> listed;
    Size at[kTeamGroups];
    for (Size g = 0; g < kTeamGroups; ++g) at[g] = static_cast<Size>(t.weight_begin[team * kTeamGroups + g]);
    for (auto s = static_cast<Size>(t.stage_begin[team]); s < static_cast<Size>(t.stage_begin[team + 1]);
         ++s) {
      for (Size i = 0; i < kTeamLines; ++i) {
        const std::int32_t input = t.line[s * kTeamLines + i];
        if (input >= 0) CHECK(++listed[input] == 1);
        for (Size g = 0; g < kTeamGroups; ++g) {
          if ((t.used[s * kTeamGroups + g] >> i & 1U) == 0) continue;
          REQUIRE(input >= 0);
          for (Size n = 0; n < kGroup; ++n) {
            const std::int32_t neuron = t.neuron[(team * kTeamGroups + g) * kGroup + n];
            const float w = t.weight[at[g] * kGroup + n];
            if (neuron >= 0) CHECK(all.emplace(std::pair{neuron, input}, w).second);
            if (neuron < 0) CHECK(w == 0);
          }
          ++at[g];
        }
      }
    }
  }
  return all;
}

/// Groups of 16 neurons in a chain: group g reads 16 inputs that group g - 1 reads too, and 16 that group g + 1 reads too. What the
/// challenge's layers look like.
Csr<float> chained_groups(int groups) {
  const int n = 16 * groups;
  std::vector<std::vector<std::pair<int, float>>> rows(static_cast<Size>(n));
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < 32; ++k)
      rows[static_cast<Size>(j)].emplace_back((j % groups * 16 + k) % n,
                                              0.01F * static_cast<float>(1 + j + k));
  }
  return plumb::test::csr(n, rows);
}

}  // namespace

TEST_CASE("teams of groups hold every edge of a layer once, with the sum of repeated ones") {
  Csr<float> repeated =
      plumb::test::csr(5, {{{1, 1}, {1, 2}, {0, 1}}, {}, {{0, 3}, {1, 1}}, {{4, 1}}, {{4, 2}}});
  CHECK(edges_of(plumb::sdnn::group_teams(repeated)) == edges_of(repeated));
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const plumb::DrawnNetwork drawn = plumb::draw_network(seed, 90, 2);
    for (const Csr<float>& w : drawn.net.gather) CHECK(edges_of(plumb::sdnn::group_teams(w)) == edges_of(w));
  }
  const Csr<float> chain = chained_groups(10);
  CHECK(edges_of(plumb::sdnn::group_teams(chain)) == edges_of(chain));
}

TEST_CASE("four groups of a chain list 80 inputs, not 128, and each reads about as many of every stage") {
  const GroupTeams t = plumb::sdnn::group_teams(chained_groups(64));
  REQUIRE(t.teams() == 16);
  for (Size team = 0; team < 16; ++team) {
    const auto begin = static_cast<Size>(t.stage_begin[team]),
               end = static_cast<Size>(t.stage_begin[team + 1]);
    CHECK(end - begin == 7);
    const auto lines = std::count_if(t.line.begin() + static_cast<std::ptrdiff_t>(begin * kTeamLines),
                                     t.line.begin() + static_cast<std::ptrdiff_t>(end * kTeamLines),
                                     [](std::int32_t i) { return i >= 0; });
    CHECK(lines == 80);
    int most = 0;  // of each stage, together: the steps of a block
    for (Size s = begin; s < end; ++s) {
      const std::uint32_t* const used = t.used.data() + s * kTeamGroups;
      int of_stage = 0;
      for (Size g = 0; g < kTeamGroups; ++g) of_stage = std::max(of_stage, std::popcount(used[g]));
      most += of_stage;
    }
    CHECK(most <= 34);  // a group has 32
  }
}

TEST_CASE("random networks by the kernels of layers too wide for the chip are within their bounds") {
  int judged = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const plumb::DrawnNetwork drawn = plumb::draw_network(seed, 60, 150);
    if (!drawn.net.biases.empty()) continue;
    CAPTURE(seed);
    ++judged;
    for (const auto structure : {plumb::SdnnStructure::general, plumb::SdnnStructure::shared_inputs}) {
      CAPTURE(plumb::to_string(structure));
      CHECK(findings_of(seed, [&] {
              const auto plan = plumb::sdnn_faults::wide_plan(drawn.net, structure);
              const plumb::SdnnRun run = plan->run(drawn.y, 0, drawn.net.layers());
              plumb::SdnnExpectation expectation;
              expectation.check = true;
              CHECK_FALSE(plumb::judge_sdnn(drawn.net, *plan, drawn.y, run, expectation).differs());
            }).empty());
    }
  }
  CHECK(judged > 10);
}

TEST_CASE("groups in a chain, in listed and in steady-state layers, are within their bounds") {
  SparseDnn net{160, -0.05F, 4, {}};
  for (int l = 0; l < 7; ++l) net.gather.push_back(chained_groups(10));
  const Csr<float> y = plumb::test::random_inputs(300, 160, 5);
  CHECK(findings_of(3, [&] {
          const auto plan = plumb::sdnn_faults::wide_plan(net, plumb::SdnnStructure::shared_inputs);
          const plumb::SdnnRun run = plan->run(y, 0, 7);
          plumb::SdnnExpectation expectation;
          expectation.check = true;
          CHECK_FALSE(plumb::judge_sdnn(net, *plan, y, run, expectation).differs());
        }).empty());
}
