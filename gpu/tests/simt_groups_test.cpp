// Groups beyond a warp, arithmetic intrinsics and the device's heap, as CUDA defines them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "gpu/tests/simt_support.hpp"

using namespace plumb::simt_test;
using plumb::simt::FindingKind;

TEST_CASE("tiles of more than a warp reduce, scan, shuffle and vote across their warps") {
  for (const int size : {64, 128, 256, 512}) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto in = counting(512, 1);
      std::vector<int> out(8 * 512);
      Run run(seed);
      wide_tile(size, 512, run.input(in), run.output(out));
      const auto findings = Run::findings();
      REQUIRE_MESSAGE(findings.empty(), all_of(findings));
      for (int t = 0; t < 512; ++t) {
        const int first = t / size * size, last = first + size;  // values first + 1 to last
        const int before = t * (t + 1) / 2 - first * (first + 1) / 2;
        const int* mine = out.data() + 8 * t;
        REQUIRE(mine[0] == last * (last + 1) / 2 - first * (first + 1) / 2);
        REQUIRE(mine[1] == last);
        REQUIRE(mine[2] == before + t + 1);
        REQUIRE(mine[3] == before);
        REQUIRE(mine[4] == last);
        REQUIRE(mine[5] == (first == 0));
        REQUIRE(mine[6] == 1);
        REQUIRE(mine[7] == first + 1);
      }
    }
  }
}

TEST_CASE("what a tile of two warps votes on orders its memory, and without the vote two lines race") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto in = counting(128);
    std::vector<int> out(128);
    Run run(seed);
    wide_tile_order(Form::right, run.input(in), run.output(out));
    const auto findings = Run::findings();
    CHECK_MESSAGE(findings.empty(), all_of(findings));
    CHECK(out[0] == 63);
    CHECK(out[64] == 127);
    if (!checked()) continue;
    Run wrong(seed);
    wide_tile_order(Form::wrong, wrong.input(in), wrong.output(out));
    CHECK(reports(Run::findings(), FindingKind::race, line_of("groups", "wide_tile store"),
                  line_of("groups", "wide_tile load")));
  }
}

TEST_CASE("a tile of two warps that one thread never joins is a deadlock") {
  std::vector<int> out(128);
  Run run(3);
  wide_tile_divergent(run.output(out));
  const auto findings = Run::findings();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == FindingKind::deadlock);
}

TEST_CASE("scans and partitions of a warp are in the order of ranks") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto in = counting(32, 1);
    std::vector<int> out(6 * 32);
    Run run(seed);
    scans(run.input(in), run.output(out));
    const auto findings = Run::findings();
    REQUIRE_MESSAGE(findings.empty(), all_of(findings));
    for (int t = 0; t < 32; ++t) {
      const int* mine = out.data() + 6 * t;
      CHECK(mine[0] == (t + 1) * (t + 2) / 2);
      CHECK(mine[1] == t * (t + 1) / 2);
      CHECK(mine[2] == t / 8 * 8 + 1);
      CHECK(mine[3] == t / 8 + 1);
      int same = 0, label = 0;
      for (int v = 1; v <= t; ++v) same += v % 2 == (t + 1) % 2 ? v : 0;
      for (int v = 1; v <= 32; ++v) label += v % 3 == (t + 1) % 3 ? 1 : 0;
      CHECK(mine[4] == same);
      CHECK(mine[5] == label);
    }
  }
}

TEST_CASE("invoke_one calls in one thread of each group") {
  std::vector<int> count(1, 0);
  Run run(1);
  plumb::simt::add_array("count", count.data(), 4, true, true);
  invoke_one(5, count.data());
  expect_none();
  CHECK(count[0] == 5 * 4 * 3);
}

TEST_CASE("directed rounding brackets the exact result by neighbours") {
  const std::vector<float> x = {1.0f, 1e-10f, 3.0f};
  const std::vector<double> y = {1.0, 1e-20, 3.0, 0.1};
  std::vector<float> f(16);
  std::vector<double> d(10);
  Run run(0);
  rounded_intrinsics(run.input(x), run.input(y), run.output(f, "f"), run.output(d, "d"));
  expect_none();
  const float up = std::nextafter(1.0f, 2.0f), down = std::nextafter(1.0f, 0.0f);
  CHECK(f[0] == 1.0f);
  CHECK(f[1] == 1.0f);
  CHECK(f[2] == up);
  CHECK(f[3] == 1.0f);
  CHECK(f[4] == 9.0f);  // exact: every direction agrees
  CHECK(f[5] == 9.0f);
  CHECK(f[7] == std::nextafter(f[6], 1.0f));
  CHECK(3.0 * f[6] < 1.0);
  CHECK(3.0 * f[7] > 1.0);
  CHECK(f[8] == f[6]);
  CHECK(static_cast<double>(f[9]) * f[9] < 3.0);
  CHECK(static_cast<double>(f[10]) * f[10] > 3.0);
  CHECK(f[11] == 9.0f);
  CHECK(f[12] == down);
  CHECK(f[13] == 1.0f);
  CHECK(f[14] == 16777216.0f);
  CHECK(f[15] == 16777218.0f);
  CHECK(d[0] == 1.0);
  CHECK(d[1] == std::nextafter(1.0, 2.0));
  CHECK(d[2] == 9.0);
  CHECK(d[3] == 9.0);
  CHECK(d[5] == std::nextafter(d[4], 1.0));
  CHECK(d[7] == std::nextafter(d[6], 2.0));
  CHECK(d[8] < 0.1);
  CHECK(d[9] > 0.1);
  CHECK(std::nextafter(static_cast<float>(d[8]), 1.0f) == static_cast<float>(d[9]));
}

TEST_CASE(
    "products of bytes, bytes in a word, 24-bit products and saturating conversions are as PTX defines "
    "them") {
  const unsigned inf = 0x7f800000u, nan = 0x7fc00000u;
  const std::vector<unsigned> x = {0xff020380u, 0x01fe0407u, inf, nan};  // bytes -1 2 3 -128 and 1 -2 4 7
  std::vector<int> out(19);
  Run run(0);
  packed_intrinsics(run.input(x), run.output(out));
  expect_none();
  CHECK(out[0] == 100 - 1 - 4 + 12 - 896);
  CHECK(out[1] == 100 + 255 * 1 + 2 * 254 + 3 * 4 + 128 * 7);
  CHECK(out[2] == 0x0380 * 7 + static_cast<short>(0xff02) * 4);
  CHECK(out[3] == 0x0380 * -2 + static_cast<short>(0xff02) * 1);
  CHECK(out[4] == 0x00000787);
  CHECK(static_cast<unsigned>(out[5]) == 0xfd04ff79u);
  CHECK(out[6] == 0x01020407);
  CHECK(static_cast<unsigned>(out[7]) == 0xfefc0179u);
  CHECK(static_cast<unsigned>(out[8]) == 0xff0000ffu);
  CHECK(out[9] == 17);
  CHECK(out[10] == -6);
  CHECK(out[11] == 6);
  CHECK(out[12] == -1);
  CHECK(out[13] == 0);
  CHECK(out[14] == std::numeric_limits<int>::max());
  CHECK(out[15] == 0);
  CHECK(out[16] == 0);
  CHECK(out[17] == -3);
  CHECK(out[18] == 2);
}

TEST_CASE("kernels allocate, call virtual functions and release; what they get is watched like any array") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::vector<int> out(32);
    for (const int mistake : {0, 4, 1, 2, 3}) {
      Run run(seed);
      heap(mistake, run.output(out));
      const auto findings = Run::findings();
      if (mistake == 0 || mistake == 4) {
        CHECK_MESSAGE(findings.empty(), all_of(findings));
        for (int t = 0; t < 32; ++t)
          CHECK(out[static_cast<std::size_t>(t)] == t + 3 + (t % 2 == 0 ? t * t : t) + t);
      } else if (mistake == 3) {
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].kind == FindingKind::trap);
      } else if (checked()) {
        const FindingKind kind = mistake == 1 ? FindingKind::out_of_bounds : FindingKind::uninitialised;
        CHECK_MESSAGE(reports(findings, kind, line_of("objects", "heap load")), all_of(findings));
      }
    }
    Run run(seed);
    heap_full(run.output(out));
    expect_none();
    CHECK(out[31] == 1);
  }
}
