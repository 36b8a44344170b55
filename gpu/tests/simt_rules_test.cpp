// What is a finding, what is a note, and what is neither; and the options that move the line.
#include <algorithm>
#include <utility>

#include "gpu/tests/simt_support.hpp"

namespace plumb::simt_test {
namespace {

using simt::FindingKind;

/// A run under options of its own.
std::vector<simt::Finding> findings_with(simt::Options options, std::uint64_t seed,
                                         const std::function<void()>& launch) {
  options.seed = seed;
  options.resident_blocks = 2;
  options.check = checked();
  simt::begin_run(options);
  launch();
  return simt::end_run();
}

/// An array of zeros, known to the run under way.
int* zeros(std::vector<int>& v, std::size_t n, const char* name) {
  v.assign(n, 0);
  simt::add_array(name, v.data(), n * sizeof(int), true, true);
  return v.data();
}

bool same_thread(const simt::ThreadId& a, const simt::ThreadId& b) {
  const auto same = [](uint3 p, uint3 q) { return p.x == q.x && p.y == q.y && p.z == q.z; };
  return a.host == b.host && same(a.block, b.block) && same(a.thread, b.thread);
}

}  // namespace

TEST_CASE("a barrier passes without threads that have returned, and says so once") {
  for (const int n : {33, 50, 64}) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(n);
      CAPTURE(seed);
      std::vector<int> out;
      Run run(seed);
      votes_of_the_rest(64, n, zeros(out, 64, "out"));
      CHECK_FALSE(simt::stopped());
      const auto findings = Run::findings();
      CHECK(out[2] == (n - 1) * 10000 + 1010);
      CHECK(out[static_cast<std::size_t>(n) - 1] == out[2]);
      const bool reported = reports(findings, FindingKind::divergent_barrier, line_of("rules", "first vote"));
      CHECK_MESSAGE(reported == (n < 64), all_of(findings));
    }
  }
}

TEST_CASE("a barrier orders what a thread did before it returned") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::vector<int> out;
    Run run(seed);
    last_words(zeros(out, 64, "out"));
    const auto findings = Run::findings();
    REQUIRE_MESSAGE(findings.size() == 1, all_of(findings));
    CHECK(findings[0].kind == FindingKind::divergent_barrier);
    CHECK(findings[0].place.line == line_of("rules", "without one"));
    CHECK(out[63] == 7);
  }
}

TEST_CASE(
    "a plain read whose value a compare-and-exchange checks is a note, and a finding where it decides") {
  std::vector<int> in(128);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 37 % 128);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    for (const bool only_tried : {true, false}) {
      std::vector<int> most;
      const auto findings = findings_with({}, seed, [&] {
        simt::add_array("in", in.data(), in.size() * sizeof(int), true, false);
        tried_maximum(only_tried, 2, 64, in.data(), zeros(most, 1, "most"));
      });
      CHECK(most[0] == 127);
      if (!checked()) continue;
      REQUIRE_MESSAGE(!findings.empty(), all_of(findings));
      for (const auto& f : findings) CHECK_MESSAGE(f.is_note == only_tried, all_of(findings));
    }
  }
}

TEST_CASE("a value that is read in parts and tried whole is a note") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    std::vector<int> both;
    const auto findings = findings_with({}, seed, [&] { tried_pair(2, 64, zeros(both, 1, "both")); });
    CHECK(both[0] == 128 * 0x10001);
    if (!checked()) continue;
    CHECK_FALSE(findings.empty());
    for (const auto& f : findings) CHECK_MESSAGE(f.is_note, all_of(findings));
  }
}

TEST_CASE("an exchange needs nothing to have been written before") {
  std::vector<int> flags(4), out(1);
  Run run;
  exchanges(run.output(flags, "flags"), run.output(out));
  expect_none();
  CHECK(out[0] == 10);
}

TEST_CASE("plain stores of one value are silent, and findings where the run is strict") {
  if (!checked()) return;
  for (const bool strict : {false, true}) {
    simt::Options options;
    options.strict = strict;
    std::vector<int> out;
    const auto findings = findings_with(options, 0, [&] { same_value(2, zeros(out, 1, "out")); });
    CHECK_MESSAGE(findings.empty() != strict, all_of(findings));
    if (strict) CHECK(reports(findings, FindingKind::race, line_of("rules", "same value")));
  }
}

TEST_CASE("the two parties of a race are two threads") {
  if (!checked()) return;
  int seen = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::vector<int> one, out;
    const auto findings =
        findings_with({}, seed, [&] { read_by_all(zeros(one, 1, "one"), zeros(out, 32, "out")); });
    for (const auto& f : findings) {
      ++seen;
      CHECK_MESSAGE(!same_thread(f.thread, f.other_thread), f.describe());
    }
  }
  CHECK(seen > 0);
}

TEST_CASE("volatile in global memory is no atomic, unless the run takes it as PTX does; in PTX it is one") {
  if (!checked()) return;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const auto under = [&](bool volatile_is_atomic, bool ptx) {
      simt::Options options;
      options.volatile_is_atomic = volatile_is_atomic;
      std::vector<int> data, flag, out;
      auto findings = findings_with(options, seed, [&] {
        volatile_flag(ptx, zeros(data, 1, "data"), zeros(flag, 1, "flag"), zeros(out, 1, "out"));
      });
      CHECK(out[0] == 42);
      return findings;
    };
    CHECK_MESSAGE(under(true, false).empty(), "volatile taken as an atomic");
    CHECK_MESSAGE(under(false, true).empty(), "volatile of PTX");
    const auto findings = under(false, false);
    REQUIRE_MESSAGE(findings.size() == 1, all_of(findings));  // the flag; what it guards follows from that
    CHECK(reports(findings, FindingKind::race, line_of("rules", "volatile load"),
                  line_of("rules", "volatile store")));
    CHECK(findings[0].hint.find("PLUMB_SIMT_VOLATILE=atomic") != std::string::npos);
  }
}

TEST_CASE(
    "a lock without one of its fences is a race in every schedule, whether what it guards is volatile or "
    "not") {
  if (!checked()) return;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const bool is_volatile : {false, true}) {
      for (const auto& [first, last] : {std::pair{true, true}, {true, false}, {false, true}}) {
        CAPTURE(seed);
        CAPTURE(is_volatile);
        CAPTURE(first);
        CAPTURE(last);
        std::vector<int> data, lock;
        const auto findings = findings_with({}, seed, [&] {
          locked_store(is_volatile, first, last, zeros(data, 1, "data"), zeros(lock, 1, "lock"));
        });
        CHECK_MESSAGE(findings.empty() == (first && last), all_of(findings));
        if (!findings.empty())
          CHECK(reports(findings, FindingKind::race, line_of("rules", "under the lock")));
      }
    }
  }
}

}  // namespace plumb::simt_test
