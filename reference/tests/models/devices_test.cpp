// A sparse DNN over several devices of one process, on a device side of the test's own: the answer of one device to the last bit, and
// a device that fails.
#include "reference/parallel/devices.hpp"

#include <atomic>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "reference/core/error.hpp"
#include "reference/models/sparse_dnn/devices.hpp"
#include "reference/models/sparse_dnn/drawn.hpp"
#include "reference/models/sparse_dnn/judge.hpp"
#include "reference/tests/models/absorbing_networks.hpp"
#include "reference/tests/models/sparse_dnn_inputs.hpp"

namespace {

using namespace plumb;

constexpr int kBroken = 5;               // use() of this device fails
thread_local int device_in_use = -1;     // of this thread
std::atomic<int> plans_alive{0};         // of FragilePlan
std::atomic<int> released_elsewhere{0};  // plans that another thread than their own has released

const DeviceSide kSide{[]() -> const char* { return nullptr; }, []() -> int { return 8; },
                       [](int device) {
                         if (device == kBroken) throw Error("it is lost");
                         device_in_use = device;
                       },
                       []() -> std::string { return "device " + std::to_string(device_in_use); },
                       []() -> std::int64_t { return 1000 + device_in_use; }};

bool same_bits(const Csr<float>& a, const Csr<float>& b) {
  return a.rows == b.rows && a.cols == b.cols && a.row_ptr == b.row_ptr && a.col == b.col && a.val == b.val;
}

SparseDnn network() {
  SparseDnn net{64, -0.05F, 32, {}};
  for (std::uint64_t l = 0; l < 5; ++l) net.gather.push_back(test::random_weights(64, 9, 20 + l));
  return net;
}

/// Runs as the host's plan does, and fails on device 2 where the network's cap is 7.
class FragilePlan final : public SdnnPlan {
 public:
  explicit FragilePlan(const SparseDnn& net)
      : fails_(net.cap == 7), device_(device_in_use), plan_(kSdnnCsrSpmm.plan(net)) {
    ++plans_alive;
  }
  ~FragilePlan() override {
    --plans_alive;
    if (device_ != device_in_use) ++released_elsewhere;
  }
  SdnnRun run(const Csr<float>& y, std::int64_t first, std::int64_t last) override {
    if (device_ != device_in_use) throw Error("run by another thread than the one that planned");
    if (fails_ && device_ == 2) throw Error("an error of its memory");
    return plan_->run(y, first, last);
  }

 private:
  bool fails_;
  int device_;
  std::unique_ptr<SdnnPlan> plan_;
};

const char* runs_here(const SparseDnn&) { return nullptr; }

/// Its plan fails on device 1 where the network's cap is 8.
std::unique_ptr<SdnnPlan> plan_fragile(const SparseDnn& net) {
  if (net.cap == 8 && device_in_use == 1) throw Error("no memory for the weights");
  return std::make_unique<FragilePlan>(net);
}

const SdnnPipeline kFragile{"fragile", SdnnStructure::general, Space::device, "", runs_here, plan_fragile};

/// What `work` throws, "" where nothing.
template <class Work>
std::string error_of(Work&& work) {
  try {
    work();
  } catch (const Error& e) { return e.what(); }
  return "";
}

}  // namespace

TEST_CASE("rows are dealt and collected in their order, for any number of rows and parts") {
  for (const std::int64_t rows : {0, 1, 2, 7, 40}) {
    const Csr<float> all = test::random_inputs(rows, 30, 9);
    for (const int parts : {1, 2, 3, 4, 7, 50}) {
      CAPTURE(rows);
      CAPTURE(parts);
      const RowShares shares = deal_rows(all, parts);
      std::vector<Csr<float>> dealt;
      for (const std::vector<std::int64_t>& share : shares) {
        const auto size = static_cast<std::int64_t>(share.size());
        CHECK(size >= rows / parts);
        CHECK(size <= rows / parts + 1);
        dealt.push_back(take_rows(all, share));
        CHECK(dealt.back().rows == size);
      }
      CHECK(same_bits(collect_rows(dealt, shares), all));
    }
  }
}

TEST_CASE("each part gets as many entries, whatever regularity the order of the rows has") {
  for (const int period : {2, 3, 4, 8}) {
    Csr<float> all;
    all.rows = 240, all.cols = 100;
    for (std::int64_t r = 0; r < all.rows; ++r) {  // one row of a period has fifty times the others' entries
      for (std::int32_t c = 0; c < (r % period == 0 ? 100 : 2); ++c)
        all.col.push_back(c), all.val.push_back(1);
      all.row_ptr.push_back(static_cast<std::int32_t>(all.col.size()));
    }
    for (const int parts : {2, 3, 4, 5}) {
      CAPTURE(period);
      CAPTURE(parts);
      for (const std::vector<std::int64_t>& share : deal_rows(all, parts)) {
        const std::int64_t entries = take_rows(all, share).nnz();
        CHECK(std::abs(entries - all.nnz() / parts) <= 100);
      }
    }
  }
}

TEST_CASE("a sparse DNN on any number of devices gives the bits of one, and says what each did") {
  const SparseDnn net = network();
  for (const std::int64_t rows : {1, 2, 5, 41}) {
    const Csr<float> y = test::random_inputs(rows, 64, 5);
    const SdnnRun one = kSdnnCsrSpmm.plan(net)->run(y, 0, net.layers());
    for (const int count : {1, 2, 3, 4}) {
      CAPTURE(rows);
      CAPTURE(count);
      SdnnDevicesPlan plan([&] { return kFragile.plan(net); }, kSide, count);
      const SdnnRun run = plan.run(y, 0, net.layers());
      CHECK(same_bits(run.y, one.y));
      CHECK(run.active == one.active);
      CHECK(run.layer_seconds.size() == 5);
      std::int64_t inputs = 0;
      REQUIRE(plan.parts().size() == static_cast<std::size_t>(count));
      for (int d = 0; d < count; ++d) {
        const SdnnDevicePart& part = plan.parts()[static_cast<std::size_t>(d)];
        CHECK(part.name == "device " + std::to_string(d));
        CHECK(part.peak_bytes == 1000 + d);
        CHECK(part.seconds <= run.seconds);
        inputs += static_cast<std::int64_t>(part.inputs.size());
      }
      CHECK(inputs == rows);
      CHECK(run.seconds <= plan.host_to_host());
      SdnnExpectation expectation;
      expectation.check = true;
      CHECK_FALSE(judge_sdnn(net, plan, y, run, expectation).differs());
    }
  }
  CHECK(plans_alive == 0);
  CHECK(released_elsewhere == 0);
}

TEST_CASE("rows at an absorbing state leave on every device, and are counted together") {
  const test::AbsorbingNetwork drawn = test::losing_network(40, 16, 150);
  const AbsorbingStates states = find_absorbing_states(drawn.net);
  const SdnnPlanMaker make_plan = [&] { return kSdnnCacheBlocked.plan_absorbing(drawn.net, states); };
  const SdnnRun one = make_plan()->run(drawn.y, 0, 15);
  REQUIRE(one.absorbed.back() > 0);
  for (const int count : {1, 3, 5}) {
    CAPTURE(count);
    const SdnnRun run = SdnnDevicesPlan(make_plan, kSide, count).run(drawn.y, 0, 15);
    CHECK(same_bits(run.y, one.y));
    CHECK(run.active == one.active);
    CHECK(run.absorbed.back() == one.absorbed.back());
  }
}

TEST_CASE("networks with a bias for each neuron are dealt to devices too") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    const plumb::DrawnNetwork drawn = plumb::draw_network(seed, 40, 36);
    const SdnnRun one = kFragile.plan(drawn.net)->run(drawn.y, 0, drawn.net.layers());
    const SdnnRun run = SdnnDevicesPlan([&] { return kFragile.plan(drawn.net); }, kSide, 3)
                            .run(drawn.y, 0, drawn.net.layers());
    CHECK(same_bits(run.y, one.y));
    CHECK(run.active == one.active);
  }
}

TEST_CASE("a device that fails is named, and the others' plans are released by their own threads") {
  const Csr<float> y = test::random_inputs(9, 64, 5);
  SparseDnn net = network();
  released_elsewhere = 0;
  CHECK(error_of([&] { SdnnDevicesPlan([&] { return kFragile.plan(net); }, kSide, 7); }) ==
        "device 5: it is lost");
  net.cap = 8;
  CHECK(error_of([&] { SdnnDevicesPlan([&] { return kFragile.plan(net); }, kSide, 3); }) ==
        "device 1: no memory for the weights");
  CHECK(plans_alive == 0);
  net.cap = 7;
  SdnnDevicesPlan plan([&] { return kFragile.plan(net); }, kSide, 4);
  CHECK(error_of([&] { static_cast<void>(plan.run(y, 0, 5)); }) == "device 2: an error of its memory");
  CHECK(plans_alive == 4);
  net.cap = 32;
  CHECK(error_of([&] {
          static_cast<void>(SdnnDevicesPlan([&] { return kFragile.plan(net); }, kSide, 2).run(y, 0, 5));
        }).empty());
  CHECK(released_elsewhere == 0);
}

TEST_CASE("devices meet: none goes on before all have come, as often as they meet") {
  DeviceTeam team(kSide, 3);
  std::atomic<int> came{0}, early{0};
  team.run([&](int) {
    for (int round = 1; round <= 50; ++round) {
      ++came;
      team.meet();
      if (came < 3 * round) ++early;
      team.meet();
    }
  });
  CHECK(came == 150);
  CHECK(early == 0);
}

TEST_CASE(
    "a device that fails or ends before a meeting leaves no other waiting; the reason is the first one's") {
  DeviceTeam team(kSide, 3);
  CHECK(error_of([&] {
          team.run([&](int device) {
            if (device == 2) throw Error("an error of its memory");
            team.meet();
          });
        }) == "device 2: an error of its memory");
  CHECK(error_of([&] {
          team.run([&](int device) {
            if (device != 1) team.meet();
          });
        }) == "device 0: another device has ended its work");
  std::atomic<int> met{0};
  team.run([&](int) { team.meet(), ++met; });  // the next work starts anew
  CHECK(met == 3);
}
