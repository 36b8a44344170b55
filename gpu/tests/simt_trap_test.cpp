// Traps: each forbidden thing is reported with its line, and stops the run.
#include <doctest/doctest.h>

#include "gpu/tests/simt_support.hpp"

using namespace plumb::simt_test;
using plumb::simt::FindingKind;

TEST_CASE("a barrier that some threads never reach is reported at its line") {
  for (const int threads : {32, 256, 1024}) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(threads);
      CAPTURE(seed);
      const int n = 2 * threads - 5;
      const std::vector<float> in(static_cast<std::size_t>(n), 1.0f);
      std::vector<float> out(static_cast<std::size_t>(n));
      {
        // Every value has a neighbour but perhaps the last: its partner lies past n and reads as 0.
        Run run(seed);
        early_return(Form::right, 2, threads, run.input(in), run.output(out), n);
        const auto findings = Run::findings();
        CHECK_MESSAGE(findings.empty(), all_of(findings));
      }
      {
        Run run(seed);
        early_return(Form::wrong, 2, threads, run.input(in), run.output(out), n);
        CHECK_FALSE(plumb::simt::stopped());  // a device lets the others pass
        CHECK(out[static_cast<std::size_t>(threads) - 1] == 1.0f);
        expect_finding(FindingKind::divergent_barrier, "barriers", "early return");
      }
    }
  }
}

TEST_CASE("threads that meet at two different barriers are reported with both lines") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    for (const int threads : {32, 64}) {  // lanes apart; and warps apart, one of them at a barrier more
      CAPTURE(threads);
      std::vector<float> out(64);
      {
        Run run(seed);
        barrier_in_branch(Form::right, threads, run.output(out));
        expect_none();
        CHECK(out[0] == 2.0f);
      }
      Run run(seed);
      barrier_in_branch(Form::wrong, threads, run.output(out));
      expect_finding(FindingKind::divergent_barrier, "barriers", "branch one", "branch two");
    }
  }
}

TEST_CASE("a barrier with a vote does not pair with a barrier without one") {
  std::vector<int> out(64);
  Run run;
  vote_meets_barrier(run.output(out));
  const auto findings = expect_finding(FindingKind::divergent_barrier, "traps", "a vote", "no vote");
}

TEST_CASE("a lane that is missing in its own mask is reported") {
  for (const unsigned mask : {0xffu, 0x1fu}) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      std::vector<int> out(32);
      {
        Run run(seed);
        short_mask(Form::right, mask, run.output(out));
        expect_none();
        CHECK(out[7] == 496);
      }
      Run run(seed);
      short_mask(Form::wrong, mask, run.output(out));
      expect_finding(FindingKind::lane_outside_mask, "warps", "short mask");
    }
  }
}

TEST_CASE("the value of a lane outside the mask is poison, so a maximum of negatives becomes wrong") {
  std::vector<int> in(20, -5);
  std::vector<int> out(1);
  {
    Run run;
    shuffle_from_absent(Form::right, run.input(in), run.output(out), 20);
    expect_none();
    CHECK(out[0] == -5);
  }
  Run run;
  shuffle_from_absent(Form::wrong, run.input(in), run.output(out), 20);
  expect_none();
  CHECK(out[0] != -5);
}

TEST_CASE("threads that wait for what cannot happen are reported, each with its place") {
  std::vector<int> out(64);
  {
    Run run;
    waits_for_exited_named(run.output(out));
    const auto findings = expect_finding(FindingKind::deadlock, "traps", "named wait");
  }
  {
    Run run;
    wrong_mask_pair(run.output(out));
    const auto findings = expect_finding(FindingKind::deadlock, "traps", "half arrives", "half waits");
    CHECK(findings[0].text.find("__shfl_sync") != std::string::npos);
    CHECK(findings[0].text.find("__syncthreads") != std::string::npos);
  }
  Run run;
  std::vector<int> flag(1);
  plumb::simt::add_array("flag", flag.data(), sizeof(int), true, true);
  poll_forever(flag.data());
  const auto findings = expect_finding(FindingKind::deadlock, "traps", "poll");
  CHECK_MESSAGE(
      findings[0].text.find("2 threads (first (0,0,0)) poll 'flag' at byte 0, which holds 0, by an atomic") !=
          std::string::npos,
      all_of(findings));
}

TEST_CASE("a loop on a volatile that nobody writes is told with its line, its place and what it finds") {
  Run run;
  int unused = 0;
  plumb::simt::add_array("unused", &unused, sizeof unused, true, true);
  poll_shared_forever(&unused);
  const auto findings = expect_finding(FindingKind::deadlock, "traps", "shared poll", "met by one");
  CHECK_MESSAGE(
      all_of(findings).find("63 threads (first (1,0,0)) poll shared 'turn' at byte 4, which holds 17 (0x11), "
                            "by a volatile read") != std::string::npos,
      all_of(findings));
}

TEST_CASE("a vector access or copy at a misaligned address is reported; an aligned one is not") {
  alignas(16) static float data[64] = {1, 2, 3, 4};
  std::vector<float> out(4);
  for (int offset = 0; offset < 4; ++offset) {
    CAPTURE(offset);
    {
      Run run;
      plumb::simt::add_array("in", data, sizeof data, true, false);
      misaligned_vector(data, run.output(out), offset);
      const auto findings = Run::findings();
#if defined(__clang__)
      if (offset != 0) continue;  // clang checks accesses to members, but not the copy of a whole vector
#endif
      CHECK(findings.empty() == (offset == 0));
      if (offset != 0)
        CHECK_MESSAGE(reports(findings, FindingKind::misaligned, line_of("traps", "misaligned")),
                      all_of(findings));
      if (offset == 0) CHECK(out[0] == 5.0f);
    }
    Run run;
    plumb::simt::add_array("in", data, sizeof data, true, false);
    misaligned_copy(data, run.output(out), offset);
    const auto findings = Run::findings();
    CHECK(findings.empty() == (offset == 0));
    if (offset != 0)
      CHECK_MESSAGE(reports(findings, FindingKind::misaligned, line_of("traps", "misaligned copy")),
                    all_of(findings));
  }
}

TEST_CASE("a write past shared memory is reported, with its line where accesses are checked") {
  std::vector<float> out(33);
  {
    Run run;
    shared_overrun(32, run.output(out));
    expect_none();
  }
  Run run;
  shared_overrun(33, run.output(out));
  const auto findings = Run::findings();
  REQUIRE(!findings.empty());
  CHECK(findings[0].kind == FindingKind::out_of_bounds);
  CHECK(findings[0].array == "s");
  CHECK(findings[0].offset == 128);
  if (plumb::simt_test::checked()) CHECK(findings[0].place.line == line_of("traps", "shared overrun"));
}

TEST_CASE("an index beside an array of the thread's own is reported with the array's name and the line") {
  struct {
    OwnArray where;
    int right, wrong;
    const char *array, *mark;
  } const cases[] = {
      {OwnArray::written, 8, 9, "sum", "own written"},
      {OwnArray::read, 7, 8, "sum", "own read"},
      {OwnArray::read, 0, -1, "sum", "own read"},
      {OwnArray::of_a_variable, 3, 4, "one.lane", "own of a variable"},
      {OwnArray::of_an_element, 3, 4, "held[0].lane", "own of an element"},
      {OwnArray::of_the_first_row, 7, 8, "rows", "own of the first row"},  // eight numbers in two rows
      {OwnArray::of_the_last_row, 3, 4, "rows", "own of the last row"},
      {OwnArray::its_end, 8, 9, "sum", "own end"},
  };
  const std::vector<float> in(9, 1.0f);
  std::vector<float> out(1);
  for (const auto& c : cases) {
    CAPTURE(c.mark);
    {
      Run run;
      own_array(c.where, c.right, run.input(in), run.output(out));
      const auto findings = Run::findings();
      CHECK_MESSAGE(findings.empty(), all_of(findings));
    }
    Run run;
    own_array(c.where, c.wrong, run.input(in), run.output(out));
    const auto findings = Run::findings();
    CHECK_MESSAGE(reports(findings, FindingKind::out_of_bounds, line_of("traps", c.mark)), all_of(findings));
    if (!findings.empty()) CHECK(findings[0].array == c.array);
  }
}

TEST_CASE("rows of shared memory may be indexed as one run of elements") {
  std::vector<float> out(32);
  Run run;
  rows_as_one(run.output(out));
  expect_none();
  CHECK(out[5] == 3 * 33 + 5);
}

TEST_CASE("a failed assertion and an impossible launch are findings, not crashes") {
  std::vector<int> out(1);
  {
    Run run;
    failed_assert(run.output(out), 4);
    expect_none();
    CHECK(out[0] == 4);
  }
  {
    Run run;
    failed_assert(run.output(out), 5);
    failed_assert(out.data(), 4);  // does nothing: the run has stopped
    expect_finding(FindingKind::trap, "traps", "assert");
    CHECK(out[0] == 4);
  }
  Run run;
  too_many_threads(run.output(out));
  const auto findings = Run::findings();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == FindingKind::bad_launch);
}

TEST_CASE(
    "what the processor refuses in a kernel is a finding, and arrays that the stack has no room for are "
    "not") {
  const std::vector<float> in(32);
  std::vector<float> out(32);
  for (const bool again : {false, true}) {
    CAPTURE(again);
    for (const auto& [how, line] :
         {std::pair{Refused::call, "no function"}, {Refused::division, "divided"}}) {
      Run run;
      refused(how, run.input(in), run.output(out));
      const auto findings = Run::findings();
      CHECK_MESSAGE(reports(findings, FindingKind::trap, line_of("traps", line)), all_of(findings));
    }
    Run run;
    refused(Refused::recursion, run.input(in), run.output(out));
    const auto findings = Run::findings();
    REQUIRE(findings.size() == 1);
    CHECK_MESSAGE(findings[0].text.find("a recursion fills a stack") != std::string::npos, all_of(findings));
    Run other;
    refused(Refused::large_array, other.input(in), other.output(out));
    CHECK(plumb::simt::shortage().find("out of stack: a thread of a kernel has 144 KiB") == 0);
    expect_none();
  }
}

TEST_CASE("copies of any size are seen as what they read and write") {
  if (!plumb::simt_test::checked()) return;
  const std::vector<float> in(32, 1.0f);
  const std::pair<Copying, const char*> ways[] = {{Copying::read, "copied read"},
                                                  {Copying::written, "copied write"},
                                                  {Copying::moved, "moved"},
                                                  {Copying::filled, "filled"},
                                                  {Copying::of_some_size, "copied by size"}};
  for (const auto& [how, line] : ways) {
    for (const int at : {29, 30}) {  // of 32 floats
      CAPTURE(line);
      CAPTURE(at);
      std::vector<float> out(32);
      Run run;
      copies(how, run.input(in), run.output(out), at);
      const auto findings = Run::findings();
      if (at == 29) {
        CHECK_MESSAGE(findings.empty(), all_of(findings));
      } else {
        CHECK_MESSAGE(reports(findings, FindingKind::out_of_bounds, line_of("traps", line)),
                      all_of(findings));
      }
    }
  }
  {
    std::vector<float> out(32);
    Run run;
    assigned(run.output(out), 30);
    const auto findings = expect_finding(FindingKind::out_of_bounds, "traps", "assigned");
  }
  {
    std::vector<float> out(1);
    Run run;
    handed(run.input(in), run.output(out), 30);
    const auto findings = expect_finding(FindingKind::out_of_bounds, "traps", "handed");
  }
  for (const int apart : {3, 2}) {
    std::vector<float> out(32);
    Run run;
    copies_to_one(run.output(out), apart);
    const auto findings = Run::findings();
    CHECK(findings.empty() == (apart == 3));
    if (apart == 2)
      CHECK_MESSAGE(reports(findings, FindingKind::race, line_of("traps", "copied to one place")),
                    all_of(findings));
  }
}

TEST_CASE("accesses out of bounds, to inputs, and to what nobody wrote are reported at their lines") {
  if (!plumb::simt_test::checked()) return;
  const std::vector<float> in(32, 1.0f);
  std::vector<float> out(64);
  {
    Run run;
    global_overrun(64, run.input(in), run.output(out), 31);
    expect_none();
  }
  {
    Run run;
    global_overrun(64, run.input(in), run.output(out), 32);
    const auto findings = expect_finding(FindingKind::out_of_bounds, "traps", "global overrun");
    CHECK(findings[0].text.find("'in'") != std::string::npos);
  }
  {
    Run run;
    write_input(run.input(in));
    expect_finding(FindingKind::read_only_written, "traps", "input written");
    CHECK(in[3] == 1.0f);
  }
  {
    Run run;
    read_unwritten_shared(64, run.output(out));
    const auto findings = expect_finding(FindingKind::uninitialised, "traps", "unwritten shared");
  }
  {
    Run run;
    std::vector<float> workspace(32);
    read_unwritten_global(run.output(workspace, "workspace"), run.output(out));
    const auto findings = expect_finding(FindingKind::uninitialised, "traps", "unwritten global");
  }
  for (const Form form : {Form::right, Form::wrong}) {
    Run run;
    accumulate(form, 32, run.input(in), run.output(out));
    const auto findings = Run::findings();
    CHECK(findings.empty() == (form == Form::right));
    if (form == Form::wrong)
      CHECK_MESSAGE(reports(findings, FindingKind::uninitialised, line_of("global", "uncleared")),
                    all_of(findings));
  }
}
