// The kernels of layers too wide for the chip, on networks of any width.
#include <doctest/doctest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "gpu/tests/faults/sparse_dnn.hpp"
#include "gpu/tests/findings.hpp"
#include "reference/models/sparse_dnn/drawn.hpp"
#include "reference/models/sparse_dnn/judge.hpp"
#include "reference/tests/models/sparse_dnn_inputs.hpp"

namespace {

using plumb::Csr;
using plumb::SparseDnn;
using plumb::simt_test::findings_of;

using Size = std::size_t;
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

// 300 rows: the last unit of four panels has two, and lanes without a panel must read none that another unit writes.
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
