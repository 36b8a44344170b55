// The CPU executor as a device of verify: its workers, what they report, and what becomes of it.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include "reference/cases/case_id.hpp"
#include "reference/core/error.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/engine/process/simt_device.hpp"
#include "verify/judge/runner.hpp"

namespace plumb {
namespace {

VariantInfo find_variant(const std::string& op, const std::string& variant) {
  std::vector<std::string> defects;
  for (const VariantInfo& v : list_simt(PLUMB_SIMT_WORKER, defects)) {
    if (v.op == op && v.name == variant && v.dtype == Dtype::f32) return v;
  }
  throw Error("no variant " + variant);
}

// Judges a variant in fp32 on a case of its operator, by its id.
Record judge_on_simt(const std::string& id, const std::string& variant, bool race, RunOptions options = {}) {
  options.simt_program = PLUMB_SIMT_WORKER;
  options.race = race;
  Runner runner(options);
  const Case c = parse_case(id);
  const std::unique_ptr<PreparedCase> prepared = find_operator(c.op).prepare(c);
  return runner.judge(c, *prepared, find_variant(c.op, variant));
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE(
    "a product that is thin in all extents but one has one run on most rungs in a tier, other cases and a "
    "user's kernels have more") {
  RunOptions of_tier;
  of_tier.spare = true;
  const auto rungs_of_one_run = [](const std::string& id, const RunOptions& options,
                                   const std::string& prefix) {
    const Case c = parse_case(id);
    const std::unique_ptr<PreparedCase> prepared = find_operator(c.op).prepare(c);
    VariantHistories histories;
    int rungs = 0;
    for (int n = 0; n < 100; ++n) {
      VariantInfo rung;
      rung.device = Device::simt, rung.name = fmt::format("{}/{:02}_rung", prefix, n);
      rungs += plan_runs({c, rung, options, *prepared, histories, options.repeat}).runs.size() == 1 ? 1 : 0;
    }
    return rungs;
  };
  for (const char* thin :
       {"gemm.f32(m=1,n=1,k=14625,fill=exact,seed=1)", "gemm.f64(m=70001,n=3,k=63,fill=exact,seed=1)",
        "conv2d.f32(n=1,c=1,h=1,w=70003,k=1,r=1,s=3,pad=1,fill=real,seed=1)"}) {
    CAPTURE(thin);
    CHECK(rungs_of_one_run(thin, of_tier, "gpu") > 50);
    CHECK(rungs_of_one_run(thin, of_tier, "gpu") < 100);
    CHECK(rungs_of_one_run(thin, of_tier, "user") == 0);
    CHECK(rungs_of_one_run(thin, RunOptions{}, "gpu") == 0);
  }
  for (const char* other :
       {"gemm.f32(m=65,n=1,k=14625,fill=exact,seed=1)", "gemm.f32(m=1,n=1,k=3999,fill=exact,seed=1)",
        "reduce.f32(kind=max,n=184320,fill=exact,seed=1)", "gemv.f32(rows=70001,cols=3,fill=exact,seed=1)"}) {
    CAPTURE(other);
    CHECK(rungs_of_one_run(other, of_tier, "gpu") == 0);
  }
}

TEST_CASE("the worker holds every rung that was compiled for it, and nothing of the host's") {
  std::vector<std::string> defects;
  const std::vector<VariantInfo> all = list_simt(PLUMB_SIMT_WORKER, defects);
  CHECK(defects.empty());
  CHECK(std::any_of(all.begin(), all.end(), [](const VariantInfo& v) { return v.name == "gpu/03_padded"; }));
  CHECK(std::any_of(all.begin(), all.end(),
                    [](const VariantInfo& v) { return v.mutant && v.fault.number == 2; }));
  CHECK(std::all_of(all.begin(), all.end(), [](const VariantInfo& v) {
    return v.device == Device::simt && v.name.rfind("cpu/", 0) != 0;
  }));
}

TEST_CASE("a correct kernel passes, with and without race detection, and the report says where it ran") {
  for (const bool race : {false, true}) {
    const Record r = judge_on_simt("transpose.f32(rows=33,cols=17,fill=index,seed=1)", "gpu/03_padded", race);
    CHECK(r.verdict == Verdict::pass);
    CHECK(r.variant == "gpu/03_padded (simt)");
    CHECK(contains(r.repro, race ? "--variant gpu/03_padded --device simt --race"
                                 : "--variant gpu/03_padded --device simt"));
  }
}

// Rows that lie pages apart make the first image large, rows without a gap the second one small: of the first no bits are kept.
TEST_CASE(
    "a case that is small in its second run alone has no further run, which nothing could be compared with") {
  RunOptions options;
  options.repeat = 2;
  const Record r = judge_on_simt(
      "dense_to_csr.f32(rows=256,cols=4,pattern=pairs,density=0.075,layout=pages,fill=real,seed=9)",
      "gpu/01_thread_per_row", false, options);
  CHECK(r.verdict == Verdict::pass);
}

// A number of rows for which the case, which decides, gives rungs and other kernels two callers in one run, or gives them none.
int rows_with(bool two) {
  RunOptions options;
  options.race = true;
  for (int rows = 35;; ++rows) {
    const Case c = parse_case(fmt::format("transpose.f32(rows={},cols=17,fill=index,seed=1)", rows));
    const std::unique_ptr<PreparedCase> prepared = find_operator(c.op).prepare(c);
    VariantHistories histories;
    int pairs = 0;
    for (const char* name : {"gpu/03_padded", "mutant/tile_read_without_barrier"}) {
      VariantInfo v;
      v.name = name, v.device = Device::simt;
      const RunPlan plan = plan_runs({c, v, options, *prepared, histories});
      pairs += plan.runs[0].instruments.callers == 2 ? 1 : 0;
    }
    if (pairs == (two ? 2 : 0)) return rows;
  }
}

TEST_CASE("the record says in how many runs there were two callers, and a failure that there were") {
  const auto id = [](bool two) {
    return fmt::format("transpose.f32(rows={},cols=17,fill=index,seed=1)", rows_with(two));
  };
  for (const bool race : {false, true}) {
    CHECK(judge_on_simt(id(true), "gpu/03_padded", race).two_callers == 1);
    CHECK(judge_on_simt(id(false), "gpu/03_padded", race).two_callers == 0);
  }
  for (const bool two : {false, true}) {
    const Record r = judge_on_simt(id(two), "mutant/tile_read_without_barrier", true);
    CHECK(r.verdict == Verdict::race);
    REQUIRE(!r.detail.empty());
    CHECK((r.detail.back().find("two callers at once") != std::string::npos) == two);
  }
}

TEST_CASE("a kernel that is none of this project has two callers in each case of many rows") {
  for (int seed = 1; seed <= 4; ++seed) {
    const std::string id = fmt::format("transpose.f32(rows=3,cols=2049,fill=index,seed={})", seed);
    CHECK(judge_on_simt(id, "mutant/tile_read_without_barrier", false).two_callers == 1);
  }
}

TEST_CASE("an output that comes with contents may be read, one that does not may not") {
  const std::string with_beta = "gemm.f32(m=7,n=5,k=3,alpha=1,beta=2,fill=exact,seed=1)";
  const std::string without = "gemm.f32(m=7,n=5,k=3,fill=exact,seed=1)";
  CHECK(judge_on_simt(with_beta, "gpu/02_shared_tile", true).verdict == Verdict::pass);
  CHECK(judge_on_simt(with_beta, "mutant/beta_zero_reads_c_on_device", true).verdict == Verdict::pass);
  const Record r = judge_on_simt(without, "mutant/beta_zero_reads_c_on_device", true);
  CHECK(r.verdict == Verdict::error);
  CHECK(contains(r.reason, "uninitialised read"));
}

TEST_CASE("operands that are one array may differ in length where an extent is one less") {
  const Record r = judge_on_simt("sddmm.f32(rows=67,cols=67,k=35,density=0.2,same=1,fill=real,seed=1)",
                                 "gpu/01_thread_per_entry", true);
  CHECK_MESSAGE(r.verdict == Verdict::pass, r.reason);
}

TEST_CASE("a missing barrier is a race, reported with both lines") {
  const Record r = judge_on_simt("transpose.f32(rows=33,cols=17,fill=index,seed=1)",
                                 "mutant/tile_read_without_barrier", true);
  CHECK(r.verdict == Verdict::race);
  REQUIRE(!r.detail.empty());
  const std::string& text = r.detail.front();
  const std::size_t first = text.find("mutants/device/transpose.cu:");
  REQUIRE(first != std::string::npos);
  CHECK(text.find("mutants/device/transpose.cu:", first + 1) != std::string::npos);
}

TEST_CASE("findings of several schedules are joined, and each replays by its schedule") {
  const std::string id = "transpose.f32(rows=33,cols=17,fill=index,seed=1)";
  const std::string variant = "mutant/tile_read_without_barrier";
  RunOptions many;
  many.seeds = many.repeat = 5;
  many.schedule = 40;
  const Record all = judge_on_simt(id, variant, true, many);
  CHECK(all.verdict == Verdict::race);
  CHECK(all.runs >= 5);
  // in some schedules the tile is read before it was written, in others not: a second finding
  const auto race = std::find_if(all.detail.begin(), all.detail.end(),
                                 [](const std::string& text) { return text.rfind("race", 0) == 0; });
  REQUIRE(race != all.detail.end());
  CHECK(contains(*race, "first in --schedule 40"));
  CHECK(std::all_of(all.detail.begin(), all.detail.end(),
                    [](const std::string& text) { return contains(text, "first in --schedule 4"); }));
  CHECK(contains(all.repro, " --schedule 40"));
  CHECK_FALSE(contains(all.repro, "--seeds"));

  RunOptions one;
  one.schedule = 40;
  const Record replayed = judge_on_simt(id, variant, true, one);
  CHECK(replayed.verdict == Verdict::race);
  CHECK(replayed.reason == all.reason);

  const Record right = judge_on_simt(id, "gpu/03_padded", true, many);
  CHECK(right.verdict == Verdict::pass);
  CHECK(contains(right.repro, "--schedule 40 --seeds 5"));
}

TEST_CASE("findings between the same two lines are one, whichever came first, and races name the verdict") {
  ScheduleFindings found;
  CHECK(found.empty());
  found.add({"deadlock in k: nobody goes on\n  at a.cu:9, block (0,0,0) thread (0,0,0)"}, 3);
  found.add({"race in k: 'x' is written here and read there\n  at a.cu:1, block (0,0,0) thread (1,0,0)\n"
             "  and a.cu:2, block (0,0,0) thread (2,0,0)"},
            4);
  found.add({"race in k: 'x' is read here and written there\n  at a.cu:2, block (1,0,0) thread (7,0,0)\n"
             "  and a.cu:1, block (0,0,0) thread (5,0,0)",
             "race in k: 'x' is read here and written there\n  at a.cu:2, block (1,0,0) thread (7,0,0)\n"
             "  and a.cu:3, block (0,0,0) thread (5,0,0)"},
            5);
  CHECK(found.schedule() == 4);
  const Finding all = found.all();
  CHECK(all.verdict == Verdict::race);
  CHECK(all.reason == "race in k: 'x' is written here and read there");
  REQUIRE(all.detail.size() == 3);
  CHECK(contains(all.detail[1], "found in 2 schedules, first in --schedule 4"));
  CHECK(contains(all.detail[2], "found in 1 schedule, first in --schedule 5"));
}

TEST_CASE("a barrier that some threads never reach is an error of the plain executor") {
  const Record r =
      judge_on_simt("gemm.f32(m=7,n=5,k=3,fill=exact,seed=1)", "mutant/early_return_before_barrier", false);
  CHECK(r.verdict == Verdict::error);
  CHECK(contains(r.reason, "divergent barrier"));
}

TEST_CASE("a problem beyond the executor's limits is skipped with the number, not judged") {
  const Record words =
      judge_on_simt("transpose.f32(rows=2000,cols=2000,fill=index,seed=1)", "gpu/01_naive", false);
  CHECK(words.verdict == Verdict::skip);
  CHECK(contains(words.reason, "operations and words"));
  const Record threads =
      judge_on_simt("transpose.f32(rows=1200,cols=1200,fill=index,seed=1)", "gpu/01_naive", false);
  CHECK(threads.verdict == Verdict::skip);
  CHECK(contains(threads.reason, "simulated threads"));
}

}  // namespace
}  // namespace plumb
