// Elected threads: a device may take any of a mask, and always the same; a kernel that counts on the first is found.
#include <doctest/doctest.h>

#include "gpu/tests/simt_support.hpp"

using namespace plumb::simt_test;
using plumb::simt::FindingKind;

namespace {

// The right form is silent under all seeds. The wrong one is found under those whose order is not that of the lanes: there the first is elected.
template <class Launch, class Is>
void caught_where_another_leads(const Launch& launch, const Is& is_told) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    {
      Run run(seed);
      launch(Form::right, run);
      expect_none();
    }
    if (!checked()) continue;
    Run run(seed);
    launch(Form::wrong, run);
    const auto findings = Run::findings();
    CHECK_MESSAGE((seed % 4 == 0 ? findings.empty() : is_told(findings)), all_of(findings));
  }
}

}  // namespace

TEST_CASE("elect.sync: lane 0's read of what the elected lane wrote is a race where another is elected") {
  const int write = line_of("elections", "elected write"), read = line_of("elections", "lane 0's read");
  REQUIRE(write > 0);
  std::vector<int> out(4);
  caught_where_another_leads(
      [&](Form f, Run& run) {
        elected_writer(f, run.output(out));
        if (f == Form::right) CHECK(out == counting(4, 10));
      },
      [&](const auto& findings) { return reports(findings, FindingKind::race, write, read); });
}

TEST_CASE("elect.sync: lane 0's wait is none for the copy that the elected lane started") {
  const int written = line_of("elections", "written again");
  REQUIRE(written > 0);
  std::vector<int> out(32);
  caught_where_another_leads(
      [&](Form f, Run& run) {
        elected_store(f, run.output(out));
        if (f == Form::right) CHECK(out == counting(32));
      },
      [&](const auto& findings) { return reports(findings, FindingKind::race, written); });
}

TEST_CASE("invoke_one: rank 0's read of what another thread wrote is a race") {
  const int write = line_of("elections", "invoked write"), read = line_of("elections", "rank 0's read");
  REQUIRE(write > 0);
  std::vector<int> out(1);
  for (const int kind : {0, 1, 2}) {
    CAPTURE(kind);
    caught_where_another_leads(
        [&](Form f, Run& run) {
          out[0] = 0;
          invoked_writer(f, kind, run.output(out));
          if (f == Form::right) CHECK(out[0] == 7);
        },
        [&](const auto& findings) { return reports(findings, FindingKind::race, write, read); });
  }
}

TEST_CASE("elect.sync takes a lane of the mask, for one mask always the same") {
  std::vector<unsigned> masks(32), first(32), second(32);
  for (const unsigned mask : {0xffffffffu, 0x80000001u, 0x0000fff0u, 0x00000100u}) {
    for (unsigned lane = 0; lane < 32; ++lane) masks[lane] = (mask >> lane & 1u) != 0 ? mask : ~mask;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(mask);
      CAPTURE(seed);
      std::vector<int> same(32);
      Run run(seed);
      electorate(run.input(masks), run.output(first, "first"), run.output(second, "second"),
                 run.output(same));
      expect_none();
      CHECK(first == second);
      CHECK(same == std::vector<int>(32, 3));
      for (std::size_t lane = 0; lane < 32; ++lane) {
        CHECK((masks[lane] >> first[lane] & 1u) != 0);
        CHECK(first[first[lane]] == first[lane]);
      }
      const auto lowest = static_cast<unsigned>(__builtin_ctz(mask));
      const unsigned leader = first[lowest];
      CHECK((seed % 4 == 0 || (mask & (mask - 1)) == 0) == (leader == lowest));
    }
  }
}
