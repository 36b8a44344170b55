// Clusters of blocks: each other's shared memory, their barrier, copies and arrivals across blocks, and the mistakes made with each.
#include <doctest/doctest.h>

#include "gpu/tests/kernels/clusters.hpp"
#include "gpu/tests/simt_support.hpp"

using namespace plumb::simt_test;
using plumb::simt::Finding;
using plumb::simt::FindingKind;

namespace {

using Findings = std::vector<Finding>;
using Launch = std::function<void(ClusterFault, Run&)>;

Findings run(const Launch& launch, ClusterFault f, std::uint64_t seed) {
  Run run(seed);
  launch(f, run);
  return Run::findings();
}

/// The right form is silent and passes `check`, over seeds; each wrong one must be reported in checked runs, or where it shows by itself
/// in all. `other`: null for any line.
struct Wrong {
  ClusterFault fault;
  FindingKind kind;
  const char *line, *other;
  bool by_itself = false;
};
void right_and_wrong(const Launch& launch, const std::function<bool()>& check,
                     const std::vector<Wrong>& wrong) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const Findings none = run(launch, ClusterFault::none, seed);
    CHECK_MESSAGE(none.empty(), all_of(none));
    CHECK(check());
    for (const Wrong& w : wrong) {
      if (!checked() && !w.by_itself) continue;
      CAPTURE(static_cast<int>(w.fault));
      const int line = line_of("clusters", w.line),
                other = w.other != nullptr ? line_of("clusters", w.other) : 0;
      REQUIRE(line > 0);
      const Findings findings = run(launch, w.fault, seed);
      CHECK_MESSAGE(reports(findings, w.kind, line, other), all_of(findings));
    }
  }
}

}  // namespace

TEST_CASE("a block knows where it lies in its cluster") {
  std::vector<int> out(8 * 16);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Run run(seed);
    cluster_places(run.output(out));
    const Findings findings = Run::findings();
    CHECK_MESSAGE(findings.empty(), all_of(findings));
    for (int y = 0; y < 2; ++y) {
      for (int x = 0; x < 4; ++x) {
        const int rank = x % 2 + 2 * y;
        const std::vector<int> wanted{y, 2,    rank,           4, x / 2, 2, rank, 4, 2, x % 2, rank * 2 + 1,
                                      8, rank, (rank + 1) % 4, 0, 1};
        const auto first = out.begin() + (x + 4 * y) * 16;
        CHECK(std::vector<int>(first, first + 16) == wanted);
      }
    }
  }
}

TEST_CASE("a histogram across a cluster's shared memory") {
  const std::vector<int> in = counting(1000, 7);
  std::vector<int> bins(32), none(32, 0);
  right_and_wrong(
      [&](ClusterFault f, Run& run) {
        bins = none;
        plumb::simt::add_array("bins", bins.data(), bins.size() * sizeof(int), true, true);
        cluster_histogram(f, run.input(in), 1000, bins.data(), 32);
      },
      [&] {
        for (int i = 0; i < 32; ++i) {
          if (bins.data()[i] != (1000 + 31 - (i + 32 - 7) % 32) / 32) return false;
        }
        return true;
      },
      {{ClusterFault::no_first_sync, FindingKind::race, "cluster zero", "cluster count"},
       {ClusterFault::no_last_sync, FindingKind::race, "cluster take", "cluster count"}});
}

TEST_CASE("a sum across a cluster, and the ways to lose it") {
  const std::vector<int> in = counting(512, 1);
  std::vector<int> out(2);
  right_and_wrong([&](ClusterFault f, Run& run) { cluster_sum(f, run.input(in), run.output(out), 2); },
                  [&] { return out[0] == 256 * 257 / 2 && out[0] + out[1] == 512 * 513 / 2; },
                  {{ClusterFault::no_first_sync, FindingKind::race, "cluster partial", "cluster read"},
                   {ClusterFault::no_last_sync, FindingKind::exited_block, "cluster read", nullptr},
                   {ClusterFault::past_the_end, FindingKind::out_of_bounds, "cluster read", nullptr},
                   {ClusterFault::rank_outside, FindingKind::out_of_bounds, "cluster read", nullptr}});
}

TEST_CASE("a cluster's barrier in two halves orders by release alone") {
  const std::vector<int> in = counting(128, 1);
  std::vector<int> out(128);
  right_and_wrong([&](ClusterFault f, Run& run) { cluster_split(f, run.input(in), run.output(out)); },
                  [&] {
                    for (int i = 0; i < 128; ++i) {
                      if (out.data()[i] != 3 * in.data()[i] + in.data()[(i + 64) % 128]) return false;
                    }
                    return true;
                  },
                  {{ClusterFault::relaxed_arrival, FindingKind::race, "split write", "split read"},
                   {ClusterFault::init_fence, FindingKind::race, "split write", "split read"},
                   {ClusterFault::second_arrival, FindingKind::trap, "cluster arrive", nullptr, true},
                   {ClusterFault::no_arrival, FindingKind::trap, "cluster wait", nullptr, true}});
}

TEST_CASE("a fence before a relaxed arrival orders what was done before the fence") {
  const std::vector<int> in = counting(128, 1);
  std::vector<int> out(128);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Findings none =
        run([&](ClusterFault f, Run& run) { cluster_split(f, run.input(in), run.output(out)); },
            ClusterFault::fenced_arrival, seed);
    CHECK_MESSAGE(none.empty(), all_of(none));
    for (int i = 0; i < 128; ++i) CHECK(out.data()[i] == 3 * in.data()[i] + in.data()[(i + 64) % 128]);
  }
}

TEST_CASE("a copy goes to several blocks, and completes on the barrier of each") {
  alignas(16) static int in[64];
  for (int i = 0; i < 64; ++i) in[i] = i + 1;
  std::vector<int> out(128);
  const Launch launch = [&](ClusterFault f, Run& run) {
    plumb::simt::add_array("in", in, sizeof in, true, false);
    cluster_multicast(f, in, run.output(out));
  };
  right_and_wrong(launch,
                  [&] {
                    for (int i = 0; i < 128; ++i) {
                      if (out.data()[i] != 2 * in[i % 64]) return false;
                    }
                    return true;
                  },
                  {{ClusterFault::too_many_bytes, FindingKind::deadlock, "multicast wait", nullptr, true}});
  const Findings many = run(launch, ClusterFault::too_many_bytes, 0);
  REQUIRE(!many.empty());
  CHECK_MESSAGE(many[0].text.find("'full' at byte 0, which has 1 of 1 arrivals and awaits 16 bytes more") !=
                    std::string::npos,
                all_of(many));
  // Without a barrier behind the initialisation: a race, or an arrival at a barrier that is none yet, as the schedule has it.
  const int init = line_of("clusters", "multicast init"), copy = line_of("clusters", "multicast copy");
  for (std::uint64_t seed = 0; seed < kSeeds && checked(); ++seed) {
    const Findings early = run(launch, ClusterFault::no_first_sync, seed);
    CHECK_MESSAGE((reports(early, FindingKind::race, init, copy) || reports(early, FindingKind::trap, copy)),
                  all_of(early));
  }
}

TEST_CASE("tiles of a tensor go to several blocks") {
  alignas(128) static float in[64];
  for (int i = 0; i < 64; ++i) in[i] = static_cast<float>(i + 1);
  std::vector<float> out(128);
  right_and_wrong(
      [&](ClusterFault f, Run& run) {
        plumb::simt::add_array("in", in, sizeof in, true, false);
        cluster_tensor(f, in, run.output(out));
      },
      [&] {
        for (int i = 0; i < 128; ++i) {
          if (out.data()[i] != 2.0f * in[i % 64]) return false;
        }
        return true;
      },
      {{ClusterFault::too_many_bytes, FindingKind::deadlock, "tensor wait", nullptr, true}});
}

TEST_CASE("blocks hand over tiles by copies between their shared memories") {
  const std::vector<int> in = counting(4 * 64, 1);
  std::vector<int> out(4 * 64);
  right_and_wrong([&](ClusterFault f, Run& run) { cluster_hand_over(f, run.input(in), run.output(out), 4); },
                  [&] {
                    for (int i = 0; i < 256; ++i) {
                      if (out.data()[i] != 2 * in.data()[i]) return false;
                    }
                    return true;
                  },
                  {{ClusterFault::no_free_wait, FindingKind::race, "hand write", "hand copy"},
                   {ClusterFault::no_last_sync, FindingKind::exited_block, "hand copy", nullptr},
                   {ClusterFault::too_many_bytes, FindingKind::deadlock, "hand free", "hand wait", true}});
}

TEST_CASE("a store to another block completes on a barrier there") {
  const std::vector<int> in = counting(64, 1);
  std::vector<int> out(64);
  int early = 0;
  const Launch launch = [&](ClusterFault f, Run& run) { cluster_store(f, run.input(in), run.output(out)); };
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Findings none = run(launch, ClusterFault::none, seed);
    CHECK_MESSAGE(none.empty(), all_of(none));
    for (int i = 0; i < 64; ++i) CHECK(out.data()[i] == 2 * in.data()[i]);
    const Findings unwaited = run(launch, ClusterFault::no_first_sync, seed);
    early += unwaited.empty() ? 0 : 1;
  }
  if (checked()) CHECK(early == static_cast<int>(kSeeds));
}

TEST_CASE("a device refuses clusters that do not divide the grid") {
  std::vector<int> out(4);
  Run run;
  cluster_unfit(run.output(out));
  const Findings findings = Run::findings();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == FindingKind::bad_launch);
  CHECK(findings[0].text.find("no multiple of its clusters of (3,1,1)") != std::string::npos);
}
