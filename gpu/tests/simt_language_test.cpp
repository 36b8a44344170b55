// The language of the shim: warp operations, groups, asynchronous copies, matrix products, launches as users
// write them.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "gpu/tests/simt_support.hpp"

using namespace plumb::simt_test;
using plumb::simt::FindingKind;

TEST_CASE("shuffles, votes, matches and reductions give what the programming guide says") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::vector<int> out(32 * 16);
    Run run(seed);
    warp_algebra(run.output(out));
    expect_none();
    for (int lane = 0; lane < 32; ++lane) {
      const int* r = &out[static_cast<std::size_t>(lane) * 16];
      CHECK(r[0] == 5);
      CHECK(r[1] == (lane < 3 ? lane : lane - 3));
      CHECK(r[2] == (lane > 28 ? lane : lane + 3));
      CHECK(r[3] == (lane ^ 9));
      CHECK(r[4] == (lane % 8 < 3 ? lane : lane - 3));
      CHECK(r[5] == (lane % 8 > 4 ? lane : lane + 3));
      CHECK(r[6] == lane / 8 * 8 + 2);
      CHECK(static_cast<unsigned>(r[7]) == 0x49249249u);
      CHECK(r[8] == 1);
      CHECK(r[9] == 0);
      CHECK(r[10] == 496);
      CHECK(r[11] == 31);
      CHECK(static_cast<unsigned>(r[12]) == 0xfu << (lane / 4 * 4));
      CHECK(static_cast<unsigned>(r[13]) == 0xffffffffu);
      CHECK(r[14] == 1);
      CHECK(r[15] == (lane ^ 1) * 2 + 1);
    }
  }
}

TEST_CASE("lanes that have exited are not waited for") {
  std::vector<int> out(32, -1);
  Run run;
  exited_lanes(run.output(out), 20);
  expect_none();
  CHECK(out[0] == 20);
  CHECK(out[19] == 20);
  CHECK(out[20] == -1);
}

TEST_CASE("tiles and coalesced groups count their own lanes") {
  bool whole = false, split = false;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::vector<int> in(64);
    std::iota(in.begin(), in.end(), 0);
    std::vector<int> out(64);
    {
      Run run(seed);
      tiles_of_8(run.input(in), run.output(out), 64);
      expect_none();
      CHECK(out[0] == 28 + 7000);
      CHECK(out[63] == 476 + 63000);
    }
    std::vector<int> ranks(32);
    Run run(seed);
    coalesced(run.output(ranks));
    expect_none();
    CHECK(ranks[0] == -1);
    // The odd lanes form one group or several: in each every rank below its size comes once.
    std::map<int, int> lanes;
    for (std::size_t lane = 1; lane < 32; lane += 2) ++lanes[ranks[lane]];
    for (const auto& [size_and_rank, count] : lanes) {
      const int size = size_and_rank / 100;
      for (int rank = 0; rank < size; ++rank) CHECK(lanes[size * 100 + rank] == count);
    }
    whole = whole || lanes.count(1600) != 0;
    split = split || lanes.count(1600) == 0;
  }
  CHECK(whole);
  CHECK(split);
}

TEST_CASE("a warp scan in double precision adds up") {
  std::vector<double> in(32, 0.5);
  std::vector<double> out(32);
  Run run(1);
  warp_scan(run.input(in), run.output(out));
  expect_none();
  CHECK(out[31] == 16.0);
}

TEST_CASE("barrier votes give the count, all and any") {
  for (const int threads : {1, 40, 1024}) {
    std::vector<int> out(3);
    Run run(1);
    barrier_votes(threads, run.output(out));
    expect_none();
    CHECK(out[0] == threads / 2);
    CHECK(out[1] == 0);
    CHECK(out[2] == (threads > 1 ? 1 : 0));
  }
}

TEST_CASE("matrix products across a warp equal the product by hand, fragment by fragment") {
  // Small integers: exact in tf32, so any wrong index shows.
  std::vector<double> a(16 * 16);
  std::vector<double> b(16 * 8);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(static_cast<int>(i * 7 % 13) - 6);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(static_cast<int>(i * 5 % 11) - 5);
  const auto product = [&](int row, int col, int depth) {
    double sum = 0;
    for (int k = 0; k < depth; ++k)
      sum += a[static_cast<std::size_t>(row * depth + k)] * b[static_cast<std::size_t>(k * 8 + col)];
    return sum;
  };
  const int shapes[][2] = {{8, 4}, {16, 4}, {16, 8}, {16, 16}};
  for (const auto& shape : shapes) {
    for (const bool whole : {true, false}) {  // as sm_90 has them, and as an older chip makes them
      CAPTURE(shape[0]);
      CAPTURE(shape[1]);
      CAPTURE(whole);
      std::vector<double> c(static_cast<std::size_t>(shape[0]) * 8);
      Run run;
      plumb::simt::add_array("b", b.data(), b.size() * sizeof(double), true, false);
      tensor_f64(shape[0], shape[1], whole, run.input(a), b.data(), run.output(c));
      expect_none();
      for (int i = 0; i < shape[0]; ++i) {
        for (int j = 0; j < 8; ++j) CHECK(c[static_cast<std::size_t>(i * 8 + j)] == product(i, j, shape[1]));
      }
    }
  }
  const std::vector<float> fa(a.begin(), a.begin() + 128);
  const std::vector<float> fb(b.begin(), b.begin() + 64);
  std::vector<float> fc(128);
  Run run;
  plumb::simt::add_array("b", fb.data(), fb.size() * sizeof(float), true, false);
  tensor_tf32(run.input(fa), fb.data(), run.output(fc));
  expect_none();
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 8; ++j)
      CHECK(fc[static_cast<std::size_t>(i * 8 + j)] == static_cast<float>(product(i, j, 8)));
  }
}

TEST_CASE("asynchronous copies land by their wait, and a pipeline of them is clean") {
  for (const int threads : {32, 64, 256}) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(threads);
      CAPTURE(seed);
      const int tiles = 5;
      const std::vector<float> in(static_cast<std::size_t>(4 * threads * tiles), 1.0f);
      const std::vector<float> want(static_cast<std::size_t>(threads), 20.0f);
      std::vector<float> out(want.size());
      using Launcher = void (*)(int, const float*, float*, int);
      const Launcher right[] = {
          [](int t, const float* i, float* o, int k) { pipelined(CopyFault::none, t, i, o, k); },
          &pipelined_primitives, &groups_copy};
      for (const Launcher launch : right) {
        Run run(seed);
        launch(threads, run.input(in), run.output(out), tiles);
        expect_none();
        CHECK(out == want);
      }
      if (!plumb::simt_test::checked()) continue;
      for (const CopyFault fault : {CopyFault::no_wait, CopyFault::commit_after_wait}) {
        Run run(seed);
        pipelined(fault, threads, run.input(in), run.output(out), tiles);
        const auto findings = expect_finding(FindingKind::async_copy_not_waited_for, "copies", "use");
      }
      {
        // Read by others with no barrier after the wait: a race or, in another schedule, a copy still under
        // way.
        Run run(seed);
        pipelined(CopyFault::no_barrier, threads, run.input(in), run.output(out), tiles);
        CHECK(!Run::findings().empty());
      }
      Run run(seed);
      pipelined(CopyFault::reused_early, threads, run.input(in), run.output(out), tiles);
      expect_finding(FindingKind::race, "copies", "reused early", "use");
    }
  }
}

TEST_CASE("a missing wait shows in the numbers of some schedule") {
  const std::vector<float> in(4 * 64 * 5, 1.0f);
  const std::vector<float> want(64, 20.0f);
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::vector<float> out(64);
    Run run(seed);
    pipelined(CopyFault::no_wait, 64, run.input(in), run.output(out), 5);
    Run::findings();
    wrong += out != want ? 1 : 0;
  }
  CHECK(wrong > 0);
}

TEST_CASE("a short copy reads only its valid bytes and fills the rest with zeros") {
  const std::vector<float> in(37, 1.0f);
  std::vector<float> out(12);
  Run run(2);
  ragged_copy(12, run.input(in), run.output(out), 37);
  expect_none();
  CHECK(out[8] == 4.0f);
  CHECK(out[9] == 1.0f);
  CHECK(out[10] == 0.0f);
}

TEST_CASE("kernels and launches as users write them run through the rewriter") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::vector<float> in(32);
    std::iota(in.begin(), in.end(), 0.0f);
    std::vector<float> out(32);
    Run run(seed);
    written_launches(run.input(in), run.output(out), 32);
    expect_none();
    // shifted by one, reversed plus element 1 (which is 2), then twice 1 + 2 + 4 + 8 + 16, then doubled
    CHECK(out[0] == 2.0f * (0.0f + 2.0f + 62.0f));
    CHECK(out[31] == 2.0f * (1.0f + 2.0f + 62.0f));
  }
}

TEST_CASE("operations on the bytes and half words of a word saturate, compare and sum as CUDA says") {
  const std::vector<unsigned> in{0x80ff017f, 0x7f020181};
  const std::vector<unsigned> want{0x00000105, 0x0000fe06, 0xff010200, 0xffff02ff, 0x8000fffe, 0x01fd0000,
                                   0x8001017f, 0x7f01017f, 0x7f01fe81, 0x7f01ff81, 0x00000001, 0x0000ffff,
                                   0x00000000, 0x00000200, 0x000001ff, 0x7f800180};
  std::vector<unsigned> out(want.size());
  Run run;
  parts_of_words(run.input(in), run.output(out));
  expect_none();
  for (std::size_t i = 0; i < want.size(); ++i) {
    CAPTURE(i);
    CHECK(out[i] == want[i]);
  }
}

TEST_CASE("functions beyond the C library's have their known values") {
  const std::vector<double> x{1, 0.75};
  const std::vector<double> want{3,
                                 10,
                                 10,
                                 1.25,
                                 1.0 / 3,
                                 0.1,
                                 0.2,
                                 0.5,
                                 0.42758357615580700,
                                 0.018795888861416751,
                                 5.0089800807622835,
                                 1.2660658777520084,
                                 -0.56515910399248503,
                                 HUGE_VAL,
                                 2};
  std::vector<double> out(want.size());
  Run run(1);
  special_functions(run.input(x), run.output(out));
  expect_none();
  for (std::size_t i = 0; i < want.size(); ++i) {
    CAPTURE(i);
    if (std::isinf(want[i])) {
      CHECK(out[i] == want[i]);
    } else {
      CHECK(out[i] == doctest::Approx(want[i]).epsilon(i == 5 ? 1e-7 : 1e-14));  // one is a float
    }
  }
}

TEST_CASE("functions of dynamic programming, on words and on half words") {
  const std::vector<int> x{std::numeric_limits<int>::max(), 1,         -7, static_cast<int>(0x7fff0002u),
                           static_cast<int>(0x0001fffcu),   0x00050003};
  const std::vector<int> want{std::numeric_limits<int>::max(),
                              -7,
                              0,
                              -7,  // the sum wraps around
                              0,
                              std::numeric_limits<int>::max(),
                              0x00050003,
                              0x00050003,
                              0x7fff0002,
                              static_cast<int>(0x0001fffcu),
                              10,  // not the first
                              static_cast<int>(0x0001fffcu),
                              0};
  std::vector<int> out(want.size());
  Run run(1);
  dpx_functions(run.input(x), run.output(out));
  expect_none();
  for (std::size_t i = 0; i < want.size(); ++i) {
    CAPTURE(i);
    CHECK(out[i] == want[i]);
  }
}

TEST_CASE("bits are found, lanes compared, and a block meets at a barrier by its number") {
  const std::vector<unsigned> want{63, 1, 0, 5, 4, ~0u, 5, 1, 2, 5};
  std::vector<unsigned> out(want.size());
  Run run(1);
  searched_bits(run.output(out));
  expect_none();
  CHECK(out == want);
}

TEST_CASE("the same seed gives the same schedule") {
  std::int64_t switches[2];
  for (std::int64_t& s : switches) {
    std::vector<int> lock(1), value(1);
    Run run(7);
    spin_lock(Form::right, 3, 256, run.output(lock), run.output(value));
    s = plumb::simt::counters().switches;
    expect_none();
  }
  CHECK(switches[0] == switches[1]);
}
