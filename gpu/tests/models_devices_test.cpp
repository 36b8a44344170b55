// The device pipelines of the sparse DNN on several logical devices of the CPU executor, whose host threads launch at the same time.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "gpu/simt/executor.hpp"
#include "gpu/tests/checked.hpp"
#include "reference/core/error.hpp"
#include "reference/models/sparse_dnn/devices.hpp"
#include "reference/models/sparse_dnn/sparse_dnn.hpp"
#include "reference/tests/models/sparse_dnn_inputs.hpp"

namespace {

using namespace plumb;

bool same_bits(const Csr<float>& a, const Csr<float>& b) {
  return a.rows == b.rows && a.row_ptr == b.row_ptr && a.col == b.col && a.val == b.val;
}

}  // namespace

TEST_CASE("every device pipeline on three devices gives the bits of one, for splits that do not divide") {
  REQUIRE(device_side != nullptr);
  REQUIRE(device_side->count() >= 3);
  SparseDnn net{64, -0.05F, 4, {}};
  for (std::uint64_t l = 0; l < 6; ++l) net.gather.push_back(test::random_weights(64, 9, 40 + l));
  int run_pipelines = 0;
  for (const SdnnPipeline* pipeline : sdnn_pipelines()) {
    if (pipeline->space != Space::device) continue;
    ++run_pipelines;
    for (const std::int64_t rows : {2, 70}) {
      CAPTURE(pipeline->name);
      CAPTURE(rows);
      const Csr<float> y = test::random_inputs(rows, 64, 5);
      simt::Options options;
      options.seed = static_cast<std::uint64_t>(rows);
      options.resident_blocks = 2;
      options.check = simt_test::checked();
      simt::begin_run(options);
      const SdnnRun one = pipeline->plan(net)->run(y, 0, net.layers());
      {
        SdnnDevicesPlan plan([&] { return pipeline->plan(net); }, *device_side, 3);
        const SdnnRun run = plan.run(y, 0, net.layers());
        CHECK(same_bits(run.y, one.y));
        CHECK(run.active == one.active);
        CHECK(same_bits(plan.run(y, 0, net.layers()).y, one.y));
        for (const SdnnDevicePart& part : plan.parts()) {
          CHECK(part.name == "CPU executor");
          CHECK(part.peak_bytes >= 6 * 64 * 9 * 4);  // the weights at least
        }
      }
      for (const simt::Finding& finding : simt::end_run()) FAIL_CHECK(finding.describe());
    }
  }
  CHECK(run_pipelines >= 3);
}

TEST_CASE("a device that is not there is refused") {
  CHECK_THROWS_WITH_AS(device_side->use(device_side->count()), "the CPU executor has no device 8", Error);
}
