// Inline PTX on the executor: what it synchronises and moves is ordered and checked like the language's own, and it computes what it says.
#include <doctest/doctest.h>

#include <cstring>

#include "gpu/tests/simt_support.hpp"

using namespace plumb::simt_test;
using plumb::simt::FindingKind;

TEST_CASE("a producer warp and a consumer warp synchronise by bar.sync and bar.arrive") {
  const std::vector<int> in = counting(5 * 32);
  std::vector<int> out(32);
  twin(
      "ptx", "ptx slot write", "ptx slot read",
      [&](Form f, Run& run) { ptx_specialised(f, run.input(in), run.output(out), 5); },
      [&] { return out[0] == 5 * 31 + 32 * 10 && out[31] == 32 * 10; });
}

TEST_CASE("a store that releases and loads that acquire order what went before") {
  std::vector<int> data(1), out(3);
  std::vector<unsigned> flag(1);
  twin(
      "ptx", "ptx publish write", "ptx publish read",
      [&](Form f, Run& run) {
        ptx_publish(f, 3, run.output(data, "data"), run.output(flag, "flag"), run.output(out));
      },
      [&] { return out[1] == 7 && out[2] == 7; });
}

TEST_CASE("a counter with acquire and release replaces the fences of the last block") {
  const std::vector<int> in = counting(6);
  std::vector<int> partial(6), out(1);
  std::vector<unsigned> count(1);
  twin(
      "ptx", "ptx counted write", "ptx counted read",
      [&](Form f, Run& run) {
        ptx_count_in(f, 6, run.input(in), run.output(partial, "partial"), run.output(count, "count"),
                     run.output(out));
      },
      [&] { return out[0] == 30; });
}

TEST_CASE("a copy by cp.async is complete after its wait, and not before") {
  const std::vector<int> in = counting(4 * 64);
  std::vector<int> out(64);
  const int copy = line_of("ptx", "ptx tile copy"), use = line_of("ptx", "ptx tile use");
  REQUIRE(copy > 0);
  REQUIRE(use > 0);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    for (const Form form : {Form::right, Form::wrong}) {
      Run run(seed);
      ptx_tiles(form, run.input(in), run.output(out), 4);
      const auto findings = Run::findings();
      if (form == Form::right) {
        CHECK_MESSAGE(findings.empty(), all_of(findings));
        CHECK(out[0] == 4 * 63 + 64 * 6);
      } else if (checked()) {
        bool named = false;
        for (const auto& f : findings) named = named || f.place.line == use || f.other_place.line == use;
        CHECK_MESSAGE(named, all_of(findings));
      }
    }
  }
}

TEST_CASE("mbarriers order a ring of stages between a producer warp and a consumer warp") {
  const std::vector<int> in = counting(7 * 32);
  std::vector<int> out(32);
  twin(
      "mbarriers", "mbarrier write", "mbarrier read",
      [&](Form f, Run& run) { mbarrier_ring(f, run.input(in), run.output(out), 7); },
      [&] { return out[0] == 7 * 31 + 32 * 21 && out[31] == 32 * 21; });
}

TEST_CASE("bulk copies complete on their barrier, and a wait that gave up is no wait") {
  std::vector<int> in(64 * 5 + 4);
  std::iota(in.begin(), in.end(), 0);
  const int use = line_of("mbarriers", "bulk use");
  REQUIRE(use > 0);
  int reported = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    for (const Form form : {Form::right, Form::wrong}) {
      std::vector<int> out(64);
      Run run(seed);
      const int* from = run.input(in);
      mbarrier_bulk(form, from + (4 - reinterpret_cast<std::uintptr_t>(from) / 4 % 4) % 4, run.output(out),
                    5);
      const int first = *(from + (4 - reinterpret_cast<std::uintptr_t>(from) / 4 % 4) % 4);
      const auto findings = Run::findings();
      if (form == Form::right) {
        CHECK_MESSAGE(findings.empty(), all_of(findings));
        CHECK(out[0] == 5 * (63 + first) + 64 * 10);
        CHECK(out[63] == 5 * first + 64 * 10);
      } else {
        for (const auto& f : findings) {
          if (f.place.line == use || f.other_place.line == use) {
            ++reported;
            break;
          }
        }
      }
    }
  }
  if (checked()) CHECK(reported > static_cast<int>(kSeeds) / 2);  // in the others no wait gave up
}

TEST_CASE("copies of cp.async arrive at an mbarrier by themselves, and not with their thread") {
  alignas(16) static const std::vector<int> in = counting(128);
  std::vector<int> out(32);
  const int copy = line_of("mbarriers", "arriving copy"), read = line_of("mbarriers", "arriving read");
  REQUIRE(copy > 0);
  REQUIRE(read > 0);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    for (const bool counted : {true, false}) {
      Run run(seed);
      mbarrier_copies_arrive(Form::right, run.input(in), run.output(out), counted);
      expect_none();
      CHECK(out[31] == 31 + 63 + 95 + 127);
    }
    if (!checked()) continue;
    Run run(seed);
    mbarrier_copies_arrive(Form::wrong, run.input(in), run.output(out), true);
    const auto findings = Run::findings();
    bool named = false;
    for (const auto& f : findings) named = named || f.place.line == read || f.other_place.line == read;
    CHECK_MESSAGE(named, all_of(findings));
  }
}

TEST_CASE("the token of an arrival names its phase, and threads that drop out are not waited for again") {
  const std::vector<int> in = counting(64);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    std::vector<int> out(32);
    Run run(seed);
    mbarrier_states(run.input(in), run.output(out));
    expect_none();
    for (int t = 0; t < 32; ++t)
      CHECK(out[static_cast<std::size_t>(t)] == 2 * t + 32 + 3 * (2 * (31 - t) + 32));
  }
}

TEST_CASE("branches inside an asm statement are taken as written") {
  std::vector<int> out(2);
  Run run;
  ptx_loop(run.output(out));
  expect_none();
  CHECK(out == std::vector<int>{3628800, 3628800});
}

TEST_CASE("bulk copies that are misaligned, never waited for, or fewer than announced") {
  alignas(16) static const int in[68] = {};
  std::vector<int> out(1);
  const auto begin = [&](Run&) { plumb::simt::add_array("in", in, sizeof in, true, false); };
  {
    Run run;
    begin(run);
    mbarrier_misaligned(in);
    const auto findings = expect_finding(FindingKind::misaligned, "mbarriers", "misaligned bulk");
  }
  int unfinished = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Run run(seed);
    begin(run);
    mbarrier_unfinished(in);
    unfinished += reports(Run::findings(), plumb::simt::FindingKind::async_copy_not_waited_for,
                          line_of("mbarriers", "unfinished copy"))
                      ? 1
                      : 0;
  }
  CHECK(unfinished > 0);
  Run run;
  begin(run);
  mbarrier_bytes_missing(in, run.output(out));
  const auto findings = expect_finding(FindingKind::deadlock, "mbarriers", "missing bytes");
}

TEST_CASE("a wait that is over at once lets no copy land whose bytes nobody announced") {
  if (!checked()) return;
  alignas(16) static const std::vector<int> in = counting(64);
  std::vector<int> out(64);
  int reported = 0;
  for (std::uint64_t seed = 0; seed < 4 * kSeeds; ++seed) {
    Run run(seed);
    plumb::simt::add_array("in", in.data(), in.size() * sizeof(int), true, false);
    mbarrier_bytes_unannounced(in.data(), run.output(out));
    reported += reports(Run::findings(), FindingKind::async_copy_not_waited_for,
                        line_of("mbarriers", "unannounced read"))
                    ? 1
                    : 0;
  }
  CHECK(reported > static_cast<int>(2 * kSeeds));  // in the others the copy was faster than the thread
}

TEST_CASE("registers, vectors, bits and votes of inline PTX give what PTX defines") {
  alignas(16) static const float in[4] = {2, 3, 5, 7};
  std::vector<unsigned> out(32 * kPtxNumbers);
  Run run(1);
  plumb::simt::add_array("in", in, sizeof in, true, false);
  ptx_algebra(in, run.output(out));
  expect_none();
  const auto bits = [](float x) {
    unsigned b;
    std::memcpy(&b, &x, sizeof b);
    return b;
  };
  for (unsigned t = 0; t < 32; ++t) {
    CAPTURE(t);
    const unsigned* v = &out[t * kPtxNumbers];
    const unsigned want[kPtxNumbers] = {t,
                                        (1u << t) - 1u,
                                        0,
                                        bits(5),
                                        bits(2 * 3 + 5),
                                        t ^ 0xf0f0u ^ 0x3333u,
                                        0x05010400u,
                                        0xcdu,
                                        0xfffff5ffu,
                                        0xbbccdd11u,
                                        3,
                                        static_cast<unsigned>(-14),
                                        t < 16 ? 1u : 5u,
                                        16,
                                        bits(1.0009765625f),
                                        t ^ 1u,
                                        (t & ~7u) | 3u,
                                        0,
                                        static_cast<unsigned>(-2),
                                        static_cast<unsigned>(-7),
                                        0x40490fdbu,
                                        1,
                                        0xffffu,
                                        ~(1u << 5),
                                        t % 8 < 4 ? t + 2 : 99,
                                        t > 4 ? t - 1 : t,
                                        0xf0000000u,
                                        6,
                                        10,
                                        29,
                                        t + 1,
                                        7,
                                        0x40003u,
                                        8};
    for (int i = 0; i < kPtxNumbers; ++i) {
      CAPTURE(i);
      CHECK(v[i] == want[i]);
    }
  }
}
